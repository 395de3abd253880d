package podspec

import (
	"maps"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Amounts returns what a pod needs altogether of one side of its resources, requests or limits: containers run side
// by side, init containers one after the other beside the sidecars before them, and pod-level resources count instead of
// those of the containers (KEP-753, KEP-2837).
func Amounts(pod object.Object, side string) resource.Amounts {
	sum, sidecars, start := resource.Amounts{}, resource.Amounts{}, resource.Amounts{}
	for _, c := range pod.Objects("spec", "containers") {
		sum.Add(resource.AmountsAt(c, "resources", side))
	}
	for _, c := range pod.Objects("spec", "initContainers") {
		own := resource.AmountsAt(c, "resources", side)
		if c.String("restartPolicy") == "Always" {
			sum.Add(own)
			sidecars.Add(own)
			own = maps.Clone(sidecars)
		} else {
			own.Add(sidecars)
		}
		start.Raise(own)
	}
	sum.Raise(start)
	for name, q := range resource.AmountsAt(pod, "spec", "resources", side) {
		if name == "cpu" || name == "memory" || strings.HasPrefix(name, "hugepages-") {
			sum[name] = q
		}
	}
	return sum
}

// WithOverhead adds the overhead of the pod's RuntimeClass: to limits only where there is one.
func WithOverhead(pod object.Object, sum resource.Amounts, side string) resource.Amounts {
	for name, q := range resource.AmountsAt(pod, "spec", "overhead") {
		if have, ok := sum[name]; ok && !have.IsZero() || side == "requests" {
			sum[name] = have.Add(q)
		}
	}
	return sum
}
