package builtin

import (
	"testing"

	"github.com/matryer/is"
)

func TestBudgetRules(t *testing.T) {
	rt := Rules{Kinds: served, Storage: "poddisruptionbudgets.policy", Base: `{"metadata":{"name":"p","namespace":"n"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}}`}
	rt.Run(t, []Case{
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
	is.Equal(rt.Cells(t, `{"status":{"disruptionsAllowed":2}}`), `["p","1","N/A",2,"60s"]`) // as the real server prints it
}

func TestLeaseRules(t *testing.T) {
	rt := Rules{Kinds: served, Storage: "leases.coordination.k8s.io", Base: `{"metadata":{"name":"l","namespace":"n"},"spec":{"holderIdentity":"me"}}`}
	rt.Run(t, []Case{
		{Name: "minimal"},
		{Name: "numbers", Patch: `{"spec":{"leaseDurationSeconds":0,"leaseTransitions":-1}}`,
			Want: "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0\nspec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"},
	})
	is := is.New(t)
	obj, _, _ := rt.Result(t, Case{Patch: `{"spec":{"strategy":"X","preferredHolder":"you"}}`})
	is.Equal(len(obj.Map("spec")), 1)               // fields behind a gate are dropped
	is.Equal(rt.Cells(t, `{}`), `["l","me","60s"]`) // as the real server prints it
}

func TestPriorityClassRules(t *testing.T) {
	rt := Rules{Kinds: served, Storage: "priorityclasses.scheduling.k8s.io", Base: `{"metadata":{"name":"p"},"value":10}`}
	rt.Run(t, []Case{
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
	is.Equal(rt.Cells(t, `{}`), `["p",10,false,"60s","PreemptLowerPriority"]`) // as the real server prints it
}

// TestShapesOfPolicy runs every rule on objects with something missing.
func TestShapesOfPolicy(t *testing.T) {
	for _, rt := range []Rules{
		{Kinds: served, Storage: "poddisruptionbudgets.policy", Base: `{"metadata":{"name":"p"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}},"status":{"conditions":[{"type":"A"}]}}`},
	} {
		t.Run(rt.Storage, func(t *testing.T) { rt.DoNotPanic(t) })
	}
}

// TestShapesOfCoordination runs every rule on objects with something missing.
func TestShapesOfCoordination(t *testing.T) {
	for _, rt := range []Rules{
		{Kinds: served, Storage: "leases.coordination.k8s.io", Base: `{"metadata":{"name":"l"},"spec":{"leaseTransitions":1}}`},
	} {
		t.Run(rt.Storage, func(t *testing.T) { rt.DoNotPanic(t) })
	}
}

// TestShapesOfScheduling runs every rule on objects with something missing.
func TestShapesOfScheduling(t *testing.T) {
	for _, rt := range []Rules{
		{Kinds: served, Storage: "priorityclasses.scheduling.k8s.io", Base: `{"metadata":{"name":"system-x"},"value":1}`},
	} {
		t.Run(rt.Storage, func(t *testing.T) { rt.DoNotPanic(t) })
	}
}
