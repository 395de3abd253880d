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
	at := field.CursorAt(obj, old, "spec")
	if at.Has("minAvailable") && at.Has("maxUnavailable") {
		at.Invalid(gotext.Value("PodDisruptionBudgetSpec", at.Object()), "minAvailable and maxUnavailable cannot be both set")
	}
	for _, name := range []string{"minAvailable", "maxUnavailable"} {
		if amount := at.Child(name); amount.Has() {
			at.Report(kind.ValidateAmountOrPercent(amount.Path(), amount.Value()))
			at.Report(kind.ValidateAtMost100Percent(amount.Path(), amount.Value()))
		}
	}
	was := selector.ValidateLabelSelector(field.Path{}, at.Child("selector").Old(), selector.ValidateOptions{})
	at.Report(selector.ValidateLabelSelector(at.Path("selector"), at.Child("selector").Object(),
		selector.ValidateOptions{AllowInvalidValues: len(was) > 0}))
	at.Child("unhealthyPodEvictionPolicy").OneOf("AlwaysAllow", "IfHealthyBudget")
	return at.Errors()
}

func validateBudgetUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource != "status" {
		return validateBudget(obj, old)
	}
	at := field.CursorAt(obj, old, "status")
	at.Report(kind.ValidateConditions(at.Path("conditions"), obj.Objects("status", "conditions")))
	for _, name := range []string{"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"} {
		at.Child(name).NonNegative()
	}
	return at.Errors()
}
