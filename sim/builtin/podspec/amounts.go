package podspec

import (
	"maps"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Amounts returns what a pod needs altogether of one side of its resources, requests or limits: pod-level resources count
// instead of those of the containers (KEP-2837).
func Amounts(pod object.Object, side string) resource.Amounts {
	return AmountsOf(pod, side, stated(side))
}

// AmountsOf is Amounts where own says what one container needs.
func AmountsOf(pod object.Object, side string, own func(container object.Object) resource.Amounts) resource.Amounts {
	sum := ContainerAmounts(pod, own)
	for name, q := range resource.AmountsAt(pod, "spec", "resources", side) {
		if isPodResource(name) {
			sum[name] = q
		}
	}
	return sum
}

// ContainerAmounts is AmountsOf without pod-level resources.
func ContainerAmounts(pod object.Object, own func(container object.Object) resource.Amounts) resource.Amounts {
	return sumOfContainers(pod.At("spec"), own)
}

// stated returns what containers state on one side of their resources.
func stated(side string) func(container object.Object) resource.Amounts {
	return func(c object.Object) resource.Amounts { return resource.AmountsAt(c, "resources", side) }
}

// containerAmounts returns what the containers of a pod state that they need together.
func containerAmounts(spec object.Object, side string) resource.Amounts {
	return sumOfContainers(spec, stated(side))
}

// sumOfContainers returns what the containers of a pod need together: the regular ones and the sidecars at once, or one init
// container beside the sidecars started before it, whichever is more (KEP-753).
func sumOfContainers(spec object.Object, own func(container object.Object) resource.Amounts) resource.Amounts {
	sum, sidecars, start := resource.Amounts{}, resource.Amounts{}, resource.Amounts{}
	for _, c := range spec.Objects("containers") {
		sum.Add(own(c))
	}
	for _, c := range spec.Objects("initContainers") {
		needs := own(c)
		if IsSidecar(c) {
			sum.Add(needs)
			sidecars.Add(needs)
			needs = maps.Clone(sidecars)
		} else {
			needs.Add(sidecars)
		}
		start.Raise(needs)
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
