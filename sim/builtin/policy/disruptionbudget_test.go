package policy

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

func TestBudgetRules(t *testing.T) {
	rt := kindtest.Rules{Kinds: served, Storage: "poddisruptionbudgets.policy", Base: `{"metadata":{"name":"p","namespace":"n"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}}`}
	rt.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "both", Patch: `{"spec":{"maxUnavailable":"10%","unhealthyPodEvictionPolicy":"X"}}`,
			Want: `spec: Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{"a":"b"}},"MaxUnavailable":"10%","UnhealthyPodEvictionPolicy":"X"}: minAvailable and maxUnavailable cannot be both set` + "\n" +
				`spec.unhealthyPodEvictionPolicy: Unsupported value: "X": supported values: "AlwaysAllow", "IfHealthyBudget"`},
		{Name: "percent", Patch: `{"spec":{"minAvailable":"x"}}`, Want: `spec.minAvailable: Invalid value: "x": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`},
		{Name: "over", Patch: `{"spec":{"minAvailable":"101%"}}`, Want: `spec.minAvailable: Invalid value: "101%": must not be greater than 100%`},
		{Name: "negative", Patch: `{"spec":{"minAvailable":-1}}`, Want: "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"},
		{Name: "status", Sub: "status", Old: `{}`, Patch: `{"status":{"disruptionsAllowed":-1,"conditions":[{"type":"A","status":"Yes","reason":"-"},{"type":"A","status":"True","reason":"R","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`,
			Want: `status.conditions[0].status: Unsupported value: "Yes": supported values: "False", "True", "Unknown"` + "\n" +
				"status.conditions[0].lastTransitionTime: Required value\n" +
				`status.conditions[0].reason: Invalid value: "-": a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')` + "\n" +
				`status.conditions[1].type: Duplicate value: "A"` + "\n" +
				"status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0"},
	})
	is := is.New(t)
	is.Equal(rt.Cells(t, `{"status":{"disruptionsAllowed":2}}`), `["p","1","N/A",2,"60s"]`) // same output as the real server
}

// TestShapesOfPolicy runs every rule on objects with missing values.
func TestShapesOfPolicy(t *testing.T) {
	for _, rt := range []kindtest.Rules{
		{Kinds: served, Storage: "poddisruptionbudgets.policy", Base: `{"metadata":{"name":"p"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}},"status":{"conditions":[{"type":"A"}]}}`},
	} {
		t.Run(rt.Storage, func(t *testing.T) { rt.DoNotPanic(t) })
	}
}
