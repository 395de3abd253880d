package flowcontrol

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func TestFlowSchemaRules(t *testing.T) {
	rt := kindtest.Rules{Kinds: served, Storage: "flowschemas.flowcontrol.apiserver.k8s.io", Base: `{"metadata":{"name":"f"},"spec":{"priorityLevelConfiguration":{"name":"l"},
		"rules":[{"subjects":[{"kind":"User","user":{"name":"u"}}],"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"namespaces":["*"]}]}]}}`}
	rule := func(r string) string { return `{"spec":{"rules":[` + r + `]}}` }
	const subject = `"subjects":[{"kind":"Group","group":{"name":"g"}}]`
	rt.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "precedence", Patch: `{"spec":{"matchingPrecedence":-1}}`, Want: "spec.matchingPrecedence: Invalid value: -1: must be a positive value"},
		{Name: "too late", Patch: `{"spec":{"matchingPrecedence":10001}}`, Want: "spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"},
		{Name: "first", Patch: `{"spec":{"matchingPrecedence":1}}`, Want: "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"},
		{Name: "method", Patch: `{"spec":{"distinguisherMethod":{"type":"X"},"priorityLevelConfiguration":{"name":""}}}`,
			Want: `spec.distinguisherMethod.type: Unsupported value: {"Type":"X"}: supported values: "ByNamespace", "ByUser"` + "\n" +
				"spec.priorityLevelConfiguration.name: Required value: must reference a priority level"},
		{Name: "empty rule", Patch: rule(`{}`), Want: "spec.rules[0].subjects: Required value: subjects must contain at least one value\n" +
			"spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty"},
		{Name: "subjects", Patch: rule(`{"subjects":[{"kind":"X"},{"kind":"User","group":{"name":"g"}},{"kind":"ServiceAccount","serviceAccount":{"name":"*"},"user":{"name":"u"}}],"nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/"]}]}`),
			Want: `spec.rules[0].subjects[0].kind: Unsupported value: "X": supported values: "Group", "ServiceAccount", "User"` + "\n" +
				"spec.rules[0].subjects[1].user: Required value: user is required when subject kind is 'User'\n" +
				"spec.rules[0].subjects[1].group: Forbidden: group is forbidden when subject kind is not 'Group'\n" +
				"spec.rules[0].subjects[2].serviceAccount.namespace: Required value: must specify namespace for service account\n" +
				"spec.rules[0].subjects[2].user: Forbidden: user is forbidden when subject kind is not 'User'"},
		{Name: "resources", Patch: rule(`{` + subject + `,"resourceRules":[{"verbs":["*","get"],"apiGroups":["*","x"],"resources":[],"namespaces":["A"]}]}`),
			Want: `spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs` + "\n" +
				`spec.rules[0].resourceRules[0].apiGroups: Invalid value: ["*","x"]: if '*' is present, must not specify other api groups` + "\n" +
				"spec.rules[0].resourceRules[0].resources: Required value: resource rules must supply at least one resource\n" +
				`spec.rules[0].resourceRules[0].namespaces[0]: Invalid value: "A": each member of this list must be '*' or a DNS-1123 label; a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`},
		{Name: "urls", Patch: rule(`{` + subject + `,"nonResourceRules":[{"verbs":["jump"],"nonResourceURLs":["x","/a//b","/a/*/b"]}]}`),
			Want: `spec.rules[0].nonResourceRules[0].verbs: Unsupported value: ["jump"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"` + "\n" +
				`spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "x": must start with slash` + "\n" +
				`spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "/a//b": must not contain double slash` + "\n" +
				`spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: "/a/*/b": wildcard can only do suffix matching`},
		{Name: "mandatory", Patch: `{"metadata":{"name":"catch-all"},"spec":{"rules":null}}`,
			Want: `spec: Invalid value: {"PriorityLevelConfiguration":{"Name":"l"},"MatchingPrecedence":1000,"DistinguisherMethod":null,"Rules":null}: spec of 'catch-all' must equal the fixed value`},
		{Name: "status", Sub: "status", Old: `{}`, Patch: `{"status":{"conditions":[{"type":"A"},{"type":"A"},{}]}}`,
			Want: `status.conditions[1].type: Duplicate value: "A"` + "\nstatus.conditions[2].type: Required value"},
	})
	is := is.New(t)
	is.Equal(rt.Cells(t, `{"spec":{"distinguisherMethod":{"type":"ByUser"}},"status":{"conditions":[{"type":"Dangling","status":"False"}]}}`),
		`["f","l",1000,"ByUser","60s","False"]`) // same output as the real server
	for name, spec := range MandatorySchemas { // order does not matter
		obj := object.Object{"metadata": map[string]any{"name": name}, "spec": map[string]any(spec)}
		is.Equal(len(rt.Kinds()[rt.Storage].Strategy.Validate(&resource.Context{}, obj)), 0) // the mandatory spec is valid
	}
}

func TestPriorityLevelRules(t *testing.T) {
	rt := kindtest.Rules{Kinds: served, Storage: "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
		Base: `{"metadata":{"name":"l"},"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Queue","queuing":{}}}}}`}
	rt.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "no type", Patch: `{"spec":{"type":""}}`, Want: "spec.type: Required value"},
		{Name: "exempt", Patch: `{"spec":{"type":"Exempt"}}`, Want: "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'\n" +
			"spec.limited: Forbidden: must be nil if the type is not Limited"},
		{Name: "no limits", Patch: `{"spec":{"limited":null,"exempt":{}}}`, Want: "spec.exempt: Forbidden: must be nil if the type is Limited\n" +
			"spec.limited: Required value: must not be empty when type is Limited"},
		{Name: "no queues", Patch: `{"spec":{"limited":{"limitResponse":{"queuing":null}}}}`,
			Want: "spec.limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited"},
		{Name: "reject", Patch: `{"spec":{"limited":{"limitResponse":{"type":"Reject"}}}}`,
			Want: "spec.limited.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited"},
		{Name: "numbers", Patch: `{"spec":{"limited":{"nominalConcurrencyShares":-1,"lendablePercent":101,"borrowingLimitPercent":-1,"limitResponse":{"queuing":{"queues":4,"handSize":5}}}}}`,
			Want: "spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer\n" +
				"spec.limited.limitResponse.queuing.handSize: Invalid value: 5: should not be greater than queues (4)\n" +
				"spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive\n" +
				"spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer"},
		{Name: "entropy", Patch: `{"spec":{"limited":{"limitResponse":{"queuing":{"queues":1024,"handSize":7}}}}}`,
			Want: "spec.limited.limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize 1024 and handSize 7 should not be greater than 60"},
		{Name: "mandatory", Patch: `{"metadata":{"name":"catch-all"},"spec":{"limited":{"limitResponse":{"type":"Reject","queuing":null}}}}`,
			Want: `spec: Invalid value: {"Type":"Limited","Limited":{"NominalConcurrencyShares":30,"LimitResponse":{"Type":"Reject","Queuing":null},"LendablePercent":0,"BorrowingLimitPercent":null},"Exempt":null}: spec of 'catch-all' must equal the fixed value`},
		{Name: "exempt may lend", Patch: `{"metadata":{"name":"exempt"},"spec":{"type":"Exempt","limited":null,"exempt":{"lendablePercent":50}}}`},
	})
	is := is.New(t)
	is.Equal(rt.Cells(t, `{}`), `["l","Limited",30,64,8,50,"60s"]`)                                                                              // with queues
	is.Equal(rt.Cells(t, `{"spec":{"limited":null}}`), `["l","Limited","<none>","<none>","<none>","<none>","60s"]`)                              // without queues
	is.True(len(rt.Kinds()[rt.Storage].Strategy.Validate(&resource.Context{}, object.Object{"metadata": map[string]any{"name": "exempt"}})) > 0) // no spec at all
}

// TestShapesOfFlowcontrol runs every rule on objects with missing values.
func TestShapesOfFlowcontrol(t *testing.T) {
	for _, rt := range []kindtest.Rules{
		{Kinds: served, Storage: "flowschemas.flowcontrol.apiserver.k8s.io", Base: `{"metadata":{"name":"exempt"},"spec":{"rules":[{"subjects":[{"kind":"User","user":{"name":"u"}}],"resourceRules":[{"verbs":["*"]}],"nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/"]}]}]}}`},
		{Kinds: served, Storage: "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", Base: `{"metadata":{"name":"exempt"},"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Queue","queuing":{"queues":1}}}}}`},
	} {
		t.Run(rt.Storage, func(t *testing.T) { rt.DoNotPanic(t) })
	}
}
