// Package policy has the PodDisruptionBudget.
package policy

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// Kinds returns the kinds of policy.
func Kinds() []kind.Kind {
	return []kind.Kind{{
		Storage: "poddisruptionbudgets.policy",
		Changed: kind.Semantically.Of("spec"),
		Strategy: resource.Strategy{
			Checks: resource.Checks{
				Create:       []resource.Check{resource.CheckKind},
				Update:       []resource.Check{resource.CheckKind},
				Subresources: map[string][]resource.Check{"status": {resource.CheckKind}},
			},
			HasStatus: true, NeedsResourceVersion: true,
			Validate:       func(_ *resource.Context, obj object.Object) field.ErrorList { return validateBudget(obj, nil) },
			ValidateUpdate: validateBudgetUpdate,
		},
		Columns: []table.Column{
			table.Name(), table.Text("Min Available", "The minimum number of pods that must be available."),
			table.Text("Max Unavailable", "The maximum number of pods that may be unavailable."),
			table.Text("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time.").Of("integer"), table.Age(),
		},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), cellAmount(obj, "minAvailable"), cellAmount(obj, "maxUnavailable"),
				obj.Int64("status", "disruptionsAllowed"), table.AgeCell(now, obj))
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
		errs = append(errs, field.Invalid(p, gotext.Value("PodDisruptionBudgetSpec", spec), "minAvailable and maxUnavailable cannot be both set"))
	}
	for _, name := range []string{"minAvailable", "maxUnavailable"} {
		if spec.Has(name) {
			errs = append(errs, kind.ValidateAmountOrPercent(p.Child(name), spec[name])...)
			errs = append(errs, kind.ValidateAtMost100Percent(p.Child(name), spec[name])...)
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
	errs := kind.ValidateConditions(p.Child("conditions"), status.Objects("conditions"))
	return append(errs, kind.NonNegatives(p, status, "disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")...)
}
