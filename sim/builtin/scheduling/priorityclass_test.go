package scheduling

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

func TestPriorityClassRules(t *testing.T) {
	rt := kindtest.Rules{Kinds: served, Storage: "priorityclasses.scheduling.k8s.io", Base: `{"metadata":{"name":"p"},"value":10}`}
	rt.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "too high", Patch: `{"value":1000000001}`, Want: "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"},
		{Name: "policy", Patch: `{"preemptionPolicy":"X"}`, Want: `preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"`},
		{Name: "system", Patch: `{"metadata":{"name":"system-x"}}`,
			Want: "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-x is not a known system priority class"},
		{Name: "system value", Patch: `{"metadata":{"name":"system-node-critical"}}`,
			Want: "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: value of system-node-critical PriorityClass must be 2000001000"},
		{Name: "known", Patch: `{"metadata":{"name":"system-cluster-critical"},"value":2000000000}`},
		{Name: "update", Old: `{}`, Patch: `{"value":11,"preemptionPolicy":"Never"}`,
			Want: "value: Forbidden: may not be changed in an update.\n" + `preemptionPolicy: Invalid value: "Never": field is immutable`},
	})
	is := is.New(t)
	is.Equal(rt.Cells(t, `{}`), `["p",10,false,"60s","PreemptLowerPriority"]`) // same output as the real server
}

// TestShapesOfScheduling runs every rule on objects with missing values.
func TestShapesOfScheduling(t *testing.T) {
	for _, rt := range []kindtest.Rules{
		{Kinds: served, Storage: "priorityclasses.scheduling.k8s.io", Base: `{"metadata":{"name":"system-x"},"value":1}`},
	} {
		t.Run(rt.Storage, func(t *testing.T) { rt.DoNotPanic(t) })
	}
}
