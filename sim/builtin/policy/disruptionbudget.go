// Package policy has the PodDisruptionBudget.
package policy

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
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
		},
		Validate:       func(_ *resource.Context, at field.Cursor) { validateBudget(at.Child("spec")) },
		ValidateStatus: func(ctx *resource.Context, at field.Cursor) { validateBudgetStatus(ctx, at.Child("status")) },
		Columns: []table.Column{
			table.Name(), amountColumn("minAvailable", "Min Available", "The minimum number of pods that must be available."),
			amountColumn("maxUnavailable", "Max Unavailable", "The maximum number of pods that may be unavailable."),
			table.Text("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time.").Int("status", "disruptionsAllowed"),
			table.Age(),
		},
	}}
}

// amountColumn is the column of a number or percentage in the spec.
func amountColumn(field, name, text string) table.Column {
	return table.Text(name, text).Cell(func(obj object.Object) any {
		if v, _ := obj.Get("spec", field); v != nil {
			return fmt.Sprint(v)
		}
		return "N/A"
	})
}

func validateBudget(at field.Cursor) {
	kind.InvalidStructIf(at, at.Has("minAvailable") && at.Has("maxUnavailable"), gotext.PodDisruptionBudgetSpec,
		"minAvailable and maxUnavailable cannot be both set")
	for _, name := range []string{"minAvailable", "maxUnavailable"} {
		kind.CheckAmountOrPercent(at.Child(name))
		kind.CheckAtMost100Percent(at.Child(name))
	}
	kind.CheckSelector(at.Child("selector"), kind.AsStored(at.Child("selector")))
	at.Child("unhealthyPodEvictionPolicy").OneOf("AlwaysAllow", "IfHealthyBudget")
}

func validateBudgetStatus(ctx *resource.Context, at field.Cursor) {
	kind.CheckConditions(ctx, at.Child("conditions"))
	kind.NonNegative(at, "disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
}
