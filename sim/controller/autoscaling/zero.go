package autoscaling

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
)

const (
	scaleToZeroGate = "HPAScaleToZero" // enabled by default since 1.37 (KEP-2021)

	// scaledToZero is the condition that distinguishes a target that the controller has scaled to zero from one that a user has.
	scaledToZero = "ScaledToZero"

	belowMinimum = "Current number of replicas below Spec.MinReplicas"
)

func (h *autoscaler) enabled(gate string) bool { return h.api.Profile().Gates[gate] }

// wakes reports whether a target without replicas is scaled again: the controller has scaled it to zero, and either one of its
// metrics does not need pods, or the minimum has been raised since. A target that a user has scaled to zero stays there
// (shouldComputeMetricsForZeroReplicas).
func (h *autoscaler) wakes(least int64) bool {
	if !h.enabled(scaleToZeroGate) || h.Condition(scaledToZero).String("status") != "True" {
		return false
	}
	return least != 0 || h.measuresOthers()
}

// measuresOthers reports whether there is a metric of another object or an external one, which exists without pods.
func (h *autoscaler) measuresOthers() bool {
	return slices.ContainsFunc(h.Objects("spec", "metrics"), func(m object.Object) bool {
		return m.String("type") == "Object" || m.String("type") == "External"
	})
}

// noteZero records after a change of the number of replicas whether the controller has scaled the target to zero.
func (h *autoscaler) noteZero(l limits, to int64) {
	switch {
	case !h.enabled(scaleToZeroGate):
		h.unset(scaledToZero)
	case h.current > 0 && to == 0 && l.min == 0 && h.measuresOthers():
		h.set(scaledToZero, "True", "ScaledToZero", "the HPA controller scaled the workload to zero")
	default:
		h.set(scaledToZero, "False", "NotScaledToZero", "the HPA controller did not scale the workload to zero")
	}
}

// unset removes a condition.
func (h *autoscaler) unset(kind string) {
	list, ok := h.status["conditions"].([]any)
	if !ok {
		return
	}
	h.status["conditions"] = slices.DeleteFunc(slices.Clone(list), func(c any) bool { return object.Object(c.(map[string]any)).String("type") == kind })
}
