package builtin

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

func policyKinds() []kind {
	return []kind{{
		storage: "poddisruptionbudgets.policy",
		changed: semantically.of("spec"),
		strategy: resource.Strategy{
			Checks: resource.Checks{
				Create:       []resource.Check{resource.CheckKind},
				Update:       []resource.Check{resource.CheckKind},
				Subresources: map[string][]resource.Check{"status": {resource.CheckKind}},
			},
			HasStatus: true, NeedsResourceVersion: true,
			Validate:       func(_ *resource.Context, obj object.Object) field.ErrorList { return validateBudget(obj, nil) },
			ValidateUpdate: validateBudgetUpdate,
		},
		columns: []column{
			colName(), colText("Min Available", "The minimum number of pods that must be available."),
			colText("Max Unavailable", "The maximum number of pods that may be unavailable."),
			colText("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time.").of("integer"), colAge(),
		},
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), cellAmount(obj, "minAvailable"), cellAmount(obj, "maxUnavailable"),
				obj.Int64("status", "disruptionsAllowed"), cellAge(now, obj))
		},
	}}
}

// cellAmount prints a number or percentage of the spec.
func cellAmount(obj object.Object, name string) string {
	v, ok := obj.Get("spec", name)
	if !ok || v == nil {
		return "N/A"
	}
	return fmt.Sprint(v)
}

func validateBudget(obj, old object.Object) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	var errs field.ErrorList
	if spec.Has("minAvailable") && spec.Has("maxUnavailable") {
		errs = append(errs, field.Invalid(p, goValue("PodDisruptionBudgetSpec", spec), "minAvailable and maxUnavailable cannot be both set"))
	}
	for _, name := range []string{"minAvailable", "maxUnavailable"} {
		if spec.Has(name) {
			errs = append(errs, validateAmountOrPercent(p.Child(name), spec[name])...)
			errs = append(errs, validateAtMost100Percent(p.Child(name), spec[name])...)
		}
	}
	was := selector.ValidateLabelSelector(field.Path{}, old.Map("spec", "selector"), selector.ValidateOptions{})
	errs = append(errs, selector.ValidateLabelSelector(p.Child("selector"), spec.Map("selector"),
		selector.ValidateOptions{AllowInvalidValues: len(was) > 0})...)
	if spec.Has("unhealthyPodEvictionPolicy") {
		errs = append(errs, field.MustBeOneOf(p.Child("unhealthyPodEvictionPolicy"), spec.String("unhealthyPodEvictionPolicy"),
			"AlwaysAllow", "IfHealthyBudget")...)
	}
	return errs
}

func validateBudgetUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource != "status" {
		return validateBudget(obj, old)
	}
	status, p := obj.At("status"), field.Root("status")
	errs := validateMetaConditions(p.Child("conditions"), status.Objects("conditions"))
	return append(errs, nonNegatives(p, status, "disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")...)
}

// Limits of a metav1.Condition.
const (
	maxConditionReason  = 1 << 10
	maxConditionMessage = 32 << 10
)

// validateMetaConditions checks a list of metav1.Condition.
func validateMetaConditions(p field.Path, conditions []object.Object) field.ErrorList {
	var errs field.ErrorList
	var seen []string
	for i, c := range conditions {
		at, name := p.Index(i), c.String("type")
		if slices.Contains(seen, name) {
			errs = append(errs, field.Duplicate(at.Child("type"), name))
		}
		seen = append(seen, name)
		errs = append(errs, validateMetaCondition(at, c)...)
	}
	return errs
}

func validateMetaCondition(p field.Path, c object.Object) field.ErrorList {
	errs := field.Check(p.Child("type"), c.String("type"), field.QualifiedName)
	errs = append(errs, field.MustBeOneOf(p.Child("status"), c.String("status"), "False", "True", "Unknown")...)
	if n := c.Int64("observedGeneration"); n < 0 {
		errs = append(errs, field.Invalid(p.Child("observedGeneration"), n, "must be greater than or equal to zero"))
	}
	errs = append(errs, field.MustBeSet(p.Child("lastTransitionTime"), c.String("lastTransitionTime"))...)
	if reason, at := c.String("reason"), p.Child("reason"); reason == "" {
		errs = append(errs, field.Required(at, ""))
	} else {
		errs = append(errs, field.Check(at, reason, field.ConditionReason)...)
		if len(reason) > maxConditionReason {
			errs = append(errs, field.TooLong(at, maxConditionReason))
		}
	}
	if len(c.String("message")) > maxConditionMessage {
		errs = append(errs, field.TooLong(p.Child("message"), maxConditionMessage))
	}
	return errs
}
