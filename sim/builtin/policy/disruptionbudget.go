// Package policy defines the PodDisruptionBudget.
package policy

import (
	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
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
			HasStatus: true, DenyUnconditionalUpdate: true,
		},
		Validate:       func(_ *resource.Context, at field.Cursor) { validateBudget(at.Child("spec")) },
		ValidateStatus: func(ctx *resource.Context, at field.Cursor) { validateBudgetStatus(ctx, at.Child("status")) },
		Columns: []table.Column{
			table.Name(), table.Text("Min Available", "The minimum number of pods that must be available.").Given("N/A", "spec", "minAvailable"),
			table.Text("Max Unavailable", "The maximum number of pods that may be unavailable.").Given("N/A", "spec", "maxUnavailable"),
			table.Text("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time.").Int("status", "disruptionsAllowed"),
			table.Age(),
		},
	}}
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
