package coordination

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

func TestLeaseRules(t *testing.T) {
	rt := kindtest.Rules{Kinds: served, Storage: "leases.coordination.k8s.io", Base: `{"metadata":{"name":"l","namespace":"n"},"spec":{"holderIdentity":"me"}}`}
	rt.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "numbers", Patch: `{"spec":{"leaseDurationSeconds":0,"leaseTransitions":-1}}`,
			Want: "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0\nspec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"},
	})
	is := is.New(t)
	obj, _, _ := rt.Result(t, kindtest.Case{Patch: `{"spec":{"strategy":"X","preferredHolder":"you"}}`})
	is.Equal(len(obj.Map("spec")), 1)               // fields behind a gate are dropped
	is.Equal(rt.Cells(t, `{}`), `["l","me","60s"]`) // same output as the real server
}

// TestShapesOfCoordination runs every rule on objects with missing values.
func TestShapesOfCoordination(t *testing.T) {
	for _, rt := range []kindtest.Rules{
		{Kinds: served, Storage: "leases.coordination.k8s.io", Base: `{"metadata":{"name":"l"},"spec":{"leaseTransitions":1}}`},
	} {
		t.Run(rt.Storage, func(t *testing.T) { rt.DoNotPanic(t) })
	}
}
