package scheduler

import (
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

// defaultCPU and defaultMemory are the requests that scoring assumes for a container without requests (util.DefaultMilliCPURequest,
// DefaultMemoryRequest).
var (
	defaultCPU    = quantity.MustParse("100m")
	defaultMemory = quantity.New(200<<20, quantity.BinarySI)
)

// weight returns the cpu and memory that scoring counts for a pod on a node. Missing container requests get defaults, unless
// the pod has pod-level resources (framework.PodInfo.CalculateResource).
func weight(pod object.Object, asked workload.Amounts) workload.Amounts {
	level := len(resource.AmountsAt(pod, "spec", "resources", "requests")) > 0
	own := orDefault(workload.Effective(pod), !level || asked.CPU == 0, !level || asked.Memory == 0)
	return cpuAndMemory(pod, podspec.AmountsOf(pod, "requests", own))
}

// newWeight returns the cpu and memory that scoring counts for the pod to place. It ignores pod-level resources
// (noderesources.leastResourceScorer).
func newWeight(pod object.Object) workload.Amounts {
	plain := func(c object.Object) resource.Amounts { return resource.AmountsAt(c, "resources", "requests") }
	return cpuAndMemory(pod, podspec.ContainerAmounts(pod, orDefault(plain, true, true)))
}

func cpuAndMemory(pod object.Object, all resource.Amounts) workload.Amounts {
	all = podspec.WithOverhead(pod, all, "requests")
	return workload.Amounts{CPU: all["cpu"].MilliValue(), Memory: all["memory"].Value()}
}

// orDefault returns a function that returns own's result for a container and, if cpu or memory is set, the default of that resource
// if it is missing.
func orDefault(own func(object.Object) resource.Amounts, cpu, memory bool) func(object.Object) resource.Amounts {
	return func(c object.Object) resource.Amounts {
		needs := own(c)
		if _, ok := needs["cpu"]; !ok && cpu {
			needs["cpu"] = defaultCPU
		}
		if _, ok := needs["memory"]; !ok && memory {
			needs["memory"] = defaultMemory
		}
		return needs
	}
}
