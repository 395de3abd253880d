package scheduler

import (
	"maps"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

// amounts are what a pod asks of a node, or what a node has (framework.Resource).
type amounts struct {
	cpu               int64 // in thousandths of a core
	memory, ephemeral int64 // in bytes
	others            map[string]int64
}

// What a container without requests counts as when nodes are compared (util.DefaultMilliCPURequest, DefaultMemoryRequest).
var (
	defaultCPU    = quantity.MustParse("100m")
	defaultMemory = quantity.New(200<<20, quantity.BinarySI)
)

// amountsOf rounds quantities up to whole units.
func amountsOf(list resource.Amounts) (a amounts) {
	for name, q := range list { // order does not matter
		switch name {
		case "cpu":
			a.cpu = q.MilliValue()
		case "memory":
			a.memory = q.Value()
		case "ephemeral-storage":
			a.ephemeral = q.Value()
		case "pods":
		default:
			if scalar(name) {
				if a.others == nil {
					a.others = map[string]int64{}
				}
				a.others[name] = q.Value()
			}
		}
	}
	return a
}

// scalar reports whether the scheduler counts a resource beside cpu, memory and storage (util.IsScalarResourceName).
func scalar(name string) bool {
	return strings.HasPrefix(name, "hugepages-") || strings.HasPrefix(name, "attachable-volumes-") || strings.Contains(name, "/")
}

// add adds b as often as times says, which may be negative.
func (a *amounts) add(b amounts, times int64) {
	a.cpu += times * b.cpu
	a.memory += times * b.memory
	a.ephemeral += times * b.ephemeral
	for name, n := range b.others { // order does not matter
		if a.others == nil {
			a.others = map[string]int64{}
		}
		a.others[name] += times * n
	}
}

func (a amounts) clone() amounts {
	a.others = maps.Clone(a.others)
	return a
}

// requests returns what a pod asks for. Of one that runs counts what it was given, too (KEP-1287).
func requests(pod object.Object) amounts {
	return amountsOf(podspec.WithOverhead(pod, podspec.AmountsOf(pod, "requests", effective(pod)), "requests"))
}

// weight returns the cpu and memory that a pod on a node counts as when nodes are compared: no container counts as nothing,
// unless there are pod-level resources (framework.PodInfo.CalculateResource).
func weight(pod object.Object, asked amounts) amounts {
	level := len(resource.AmountsAt(pod, "spec", "resources", "requests")) > 0
	all := podspec.AmountsOf(pod, "requests", orDefault(effective(pod), !level || asked.cpu == 0, !level || asked.memory == 0))
	return cpuAndMemory(pod, all)
}

// newWeight is the weight of a pod that is to be placed: pod-level resources are not seen (noderesources.leastResourceScorer).
func newWeight(pod object.Object) amounts {
	plain := func(c object.Object) resource.Amounts { return resource.AmountsAt(c, "resources", "requests") }
	return cpuAndMemory(pod, podspec.ContainerAmounts(pod, orDefault(plain, true, true)))
}

func cpuAndMemory(pod object.Object, all resource.Amounts) amounts {
	all = podspec.WithOverhead(pod, all, "requests")
	return amounts{cpu: all["cpu"].MilliValue(), memory: all["memory"].Value()}
}

// orDefault returns what one container needs, or what it counts as.
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

// effective returns what one container needs: the most of what it asks for, was allocated and uses.
func effective(pod object.Object) func(container object.Object) resource.Amounts {
	statuses := map[string]object.Object{}
	for _, list := range []string{"containerStatuses", "initContainerStatuses"} {
		for _, s := range pod.Objects("status", list) {
			if s.Has("resources") {
				statuses[s.String("name")] = s
			}
		}
	}
	infeasible := controller.Condition(pod, "PodResizePending").String("reason") == "Infeasible"
	return func(c object.Object) resource.Amounts {
		asked := resource.AmountsAt(c, "resources", "requests")
		s := statuses[c.String("name")]
		if s == nil {
			return asked
		}
		if infeasible {
			asked = resource.Amounts{}
		}
		asked.Raise(resource.AmountsAt(s, "resources", "requests"))
		asked.Raise(resource.AmountsAt(s, "allocatedResources"))
		return asked
	}
}

func (a amounts) equal(b amounts) bool {
	return a.cpu == b.cpu && a.memory == b.memory && a.ephemeral == b.ephemeral && maps.Equal(a.others, b.others)
}

// lessThan reports whether there is less of anything than in b.
func (a amounts) lessThan(b amounts) bool {
	for name, n := range b.others { // order does not matter
		if a.others[name] < n {
			return true
		}
	}
	return a.cpu < b.cpu || a.memory < b.memory || a.ephemeral < b.ephemeral
}
