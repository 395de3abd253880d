package podspec

import (
	"maps"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Amounts returns what a pod needs altogether of one side of its resources, requests or limits: pod-level resources count
// instead of those of the containers (KEP-2837).
func Amounts(pod object.Object, side string) resource.Amounts {
	sum := containerAmounts(pod.At("spec"), side)
	for name, q := range resource.AmountsAt(pod, "spec", "resources", side) {
		if isPodResource(name) {
			sum[name] = q
		}
	}
	return sum
}

// containerAmounts returns what the containers of a pod need together: the regular ones and the sidecars at once, or one
// init container beside the sidecars started before it, whichever is more (KEP-753).
func containerAmounts(spec object.Object, side string) resource.Amounts {
	sum, sidecars, start := resource.Amounts{}, resource.Amounts{}, resource.Amounts{}
	for _, c := range spec.Objects("containers") {
		sum.Add(resource.AmountsAt(c, "resources", side))
	}
	for _, c := range spec.Objects("initContainers") {
		own := resource.AmountsAt(c, "resources", side)
		if IsSidecar(c) {
			sum.Add(own)
			sidecars.Add(own)
			own = maps.Clone(sidecars)
		} else {
			own.Add(sidecars)
		}
		start.Raise(own)
	}
	sum.Raise(start)
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
