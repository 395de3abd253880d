package builtin

import (
	"testing"

	"github.com/matryer/is"
)

func TestBudgetRules(t *testing.T) {
	rt := ruleTest{storage: "poddisruptionbudgets.policy", base: `{"metadata":{"name":"p","namespace":"n"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}}`}
	rt.run(t, []ruleCase{
		{name: "minimal"},
		{name: "both", patch: `{"spec":{"maxUnavailable":"10%","unhealthyPodEvictionPolicy":"X"}}`,
			want: `spec: Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{"a":"b"}},"MaxUnavailable":"10%","UnhealthyPodEvictionPolicy":"X"}: minAvailable and maxUnavailable cannot be both set` + "\n" +
				`spec.unhealthyPodEvictionPolicy: Unsupported value: "X": supported values: "AlwaysAllow", "IfHealthyBudget"`},
		{name: "percent", patch: `{"spec":{"minAvailable":"x"}}`, want: `spec.minAvailable: Invalid value: "x": ` + percentText},
		{name: "over", patch: `{"spec":{"minAvailable":"101%"}}`, want: `spec.minAvailable: Invalid value: "101%": must not be greater than 100%`},
		{name: "negative", patch: `{"spec":{"minAvailable":-1}}`, want: "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"},
		{name: "status", sub: "status", old: `{}`, patch: `{"status":{"disruptionsAllowed":-1,"conditions":[{"type":"A","status":"Yes","reason":"-"},{"type":"A","status":"True","reason":"R","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`,
			want: `status.conditions[0].status: Unsupported value: "Yes": supported values: "False", "True", "Unknown"` + "\n" +
				"status.conditions[0].lastTransitionTime: Required value\n" +
				`status.conditions[0].reason: Invalid value: "-": a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')` + "\n" +
				`status.conditions[1].type: Duplicate value: "A"` + "\n" +
				"status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0"},
	})
	is := is.New(t)
	is.Equal(rt.cells(t, `{"status":{"disruptionsAllowed":2}}`), `["p","1","N/A",2,"60s"]`) // as the real server prints it
}

func TestLeaseRules(t *testing.T) {
	rt := ruleTest{storage: "leases.coordination.k8s.io", base: `{"metadata":{"name":"l","namespace":"n"},"spec":{"holderIdentity":"me"}}`}
	rt.run(t, []ruleCase{
		{name: "minimal"},
		{name: "numbers", patch: `{"spec":{"leaseDurationSeconds":0,"leaseTransitions":-1}}`,
			want: "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0\nspec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"},
	})
	is := is.New(t)
	obj, _, _ := rt.result(t, ruleCase{patch: `{"spec":{"strategy":"X","preferredHolder":"you"}}`})
	is.Equal(len(obj.Map("spec")), 1)               // fields behind a gate are dropped
	is.Equal(rt.cells(t, `{}`), `["l","me","60s"]`) // as the real server prints it
}

func TestPriorityClassRules(t *testing.T) {
	rt := ruleTest{storage: "priorityclasses.scheduling.k8s.io", base: `{"metadata":{"name":"p"},"value":10}`}
	rt.run(t, []ruleCase{
		{name: "minimal"},
		{name: "too high", patch: `{"value":1000000001}`, want: "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"},
		{name: "policy", patch: `{"preemptionPolicy":"X"}`, want: `preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"`},
		{name: "system", patch: `{"metadata":{"name":"system-x"}}`,
			want: "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-x is not a known system priority class"},
		{name: "system value", patch: `{"metadata":{"name":"system-node-critical"}}`,
			want: "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: value of system-node-critical PriorityClass must be 2000001000"},
		{name: "known", patch: `{"metadata":{"name":"system-cluster-critical"},"value":2000000000}`},
		{name: "update", old: `{}`, patch: `{"value":11,"preemptionPolicy":"Never"}`,
			want: "value: Forbidden: may not be changed in an update.\n" + `preemptionPolicy: Invalid value: "Never": field is immutable`},
	})
	is := is.New(t)
	is.Equal(rt.cells(t, `{}`), `["p",10,false,"60s","PreemptLowerPriority"]`) // as the real server prints it
}
