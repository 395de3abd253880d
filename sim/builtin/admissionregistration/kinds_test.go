package admissionregistration

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
)

const hooksJSON = `{"metadata":{"name":"h"},"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],
	"clientConfig":{"url":"https://x.y/p"},"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]}]}`

// hook returns a patch with one webhook: that of hooksJSON with a change.
func hook(t *testing.T, patch string) string {
	t.Helper()
	obj := kindtest.Parse(t, hooksJSON)
	kindtest.Merge(obj.Objects("webhooks")[0], kindtest.Parse(t, patch))
	return string(object.JSON(obj))
}

func TestWebhookRules(t *testing.T) {
	rt := kindtest.Rules{Kinds: served, Storage: "validatingwebhookconfigurations.admissionregistration.k8s.io", Base: hooksJSON}
	rule := func(r string) string { return hook(t, `{"rules":[`+r+`]}`) }
	rt.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "many", Patch: `{"webhooks":[{"name":"short","clientConfig":{"url":"http://x"},"timeoutSeconds":99}]}`,
			Want: `webhooks[0].name: Invalid value: "short": should be a domain with at least three segments separated by dots` + "\n" +
				"webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun\n" +
				"webhooks[0].timeoutSeconds: Invalid value: 99: the timeout value must be between 1 and 30 seconds\n" +
				`webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]` + "\n" +
				"webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1"},
		{Name: "enums", Patch: hook(t, `{"failurePolicy":"X","matchPolicy":"Y","sideEffects":"Some"}`),
			Want: `webhooks[0].failurePolicy: Unsupported value: "X": supported values: "Fail", "Ignore"` + "\n" +
				`webhooks[0].matchPolicy: Unsupported value: "Y": supported values: "Equivalent", "Exact"` + "\n" +
				`webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`},
		{Name: "versions", Patch: hook(t, `{"admissionReviewVersions":["v3","v3"]}`),
			Want: `webhooks[0].admissionReviewVersions[1]: Invalid value: "v3": duplicate version` + "\n" +
				`webhooks[0].admissionReviewVersions: Invalid value: ["v3","v3"]: must include at least one of v1, v1beta1`},
		{Name: "no client", Patch: hook(t, `{"clientConfig":{"url":null}}`), Want: "webhooks[0].clientConfig: Required value: exactly one of url or service is required"},
		{Name: "url", Patch: hook(t, `{"clientConfig":{"url":"https://u@/p?q#f"}}`),
			Want: `webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]` + "\n" +
				`webhooks[0].clientConfig.url: Invalid value: "u": user information is not permitted in the URL` + "\n" +
				`webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL` + "\n" +
				`webhooks[0].clientConfig.url: Invalid value: "q": query parameters are not permitted in the URL`},
		{Name: "service", Patch: hook(t, `{"clientConfig":{"url":null,"service":{"name":"s","port":70000,"path":"x//y"}}}`),
			Want: "webhooks[0].clientConfig.service.name: Required value\n" +
				"webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive\n" +
				`webhooks[0].clientConfig.service.path: Invalid value: "x//y": must start with a '/'` + "\n" +
				`webhooks[0].clientConfig.service.path: Invalid value: "x//y": segment[0] may not be empty` + "\n" +
				`webhooks[0].clientConfig.service.path: Invalid value: "x//y": segment[1] may not be empty`},
		{Name: "empty rule", Patch: rule(`{}`), Want: "webhooks[0].rules[0].operations: Required value\nwebhooks[0].rules[0].apiGroups: Required value\n" +
			"webhooks[0].rules[0].apiVersions: Required value\nwebhooks[0].rules[0].resources: Required value"},
		{Name: "wildcards", Patch: rule(`{"operations":["*","READ"],"apiGroups":["*","a"],"apiVersions":[""],"resources":["pods/*","pods/status","*/*"],"scope":"X"}`),
			Want: `webhooks[0].rules[0].operations: Invalid value: ["*","READ"]: if '*' is present, must not specify other operations` + "\n" +
				`webhooks[0].rules[0].operations[1]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"` + "\n" +
				`webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other API groups` + "\n" +
				"webhooks[0].rules[0].apiVersions[0]: Required value\n" +
				`webhooks[0].rules[0].resources[1]: Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status` + "\n" +
				`webhooks[0].rules[0].resources: Invalid value: ["pods/*","pods/status","*/*"]: if '*/*' is present, must not specify other resources` + "\n" +
				`webhooks[0].rules[0].scope: Unsupported value: "X": supported values: "*", "Cluster", "Namespaced"`},
		{Name: "conditions", Patch: hook(t, `{"matchConditions":[{"name":"a","expression":" "},{"name":"a","expression":"true"},{"expression":"true"}]}`),
			Want: "webhooks[0].matchConditions[0].expression: Required value\n" +
				`webhooks[0].matchConditions[1].name: Duplicate value: "a"` + "\nwebhooks[0].matchConditions[2].name: Required value"},
		{Name: "broken before", Old: hook(t, `{"sideEffects":"Some","admissionReviewVersions":["v3"]}`), Patch: hook(t, `{"sideEffects":"Some","admissionReviewVersions":["v3"]}`)},
	})
	is := is.New(t)
	is.Equal(rt.Cells(t, `{}`), `["h",1,"60s"]`) // same output as the real server
	rt.Storage = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
	is.Equal(rt.Make(t, "").Objects("webhooks")[0].String("reinvocationPolicy"), "Never") // mutating ones only
	rt.Warns(t, []kindtest.Case{{Name: "static", Patch: `{"metadata":{"name":"a.static.k8s.io"}}`,
		Want: `metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API`}})
}

const policyJSON = `{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]}}}`

func TestValidatingPolicyRules(t *testing.T) {
	rt := kindtest.Rules{Kinds: served, Storage: "validatingadmissionpolicies.admissionregistration.k8s.io", Base: policyJSON}
	const one = `"validations":[{"expression":"true"}]`
	rt.Run(t, []kindtest.Case{
		{Name: "minimal", Patch: `{"spec":{` + one + `}}`},
		{Name: "nothing", Patch: `{"spec":{"matchConstraints":null,"failurePolicy":"X"}}`,
			Want: `spec.failurePolicy: Unsupported value: "X": supported values: "Fail", "Ignore"` + "\nspec.matchConstraints: Required value\n" +
				"spec.validations: Required value: validations or auditAnnotations must contain at least one item\n" +
				"spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item"},
		{Name: "no rules", Patch: `{"spec":{` + one + `,"matchConstraints":{"resourceRules":null}}}`, Want: "spec.matchConstraints.resourceRules: Required value"},
		{Name: "param kind", Patch: `{"spec":{` + one + `,"paramKind":{"apiVersion":"a/b/c","kind":"K_"}}}`,
			Want: `spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c` + "\n" +
				`spec.paramKind.kind: Invalid value: "K_": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`},
		{Name: "validation", Patch: `{"spec":{"validations":[{"expression":"","message":"a\nb","messageExpression":" ","reason":"Unauthorized"}]}}`,
			Want: "spec.validations[0].expression: Required value: expression is not specified\n" +
				`spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified` + "\n" +
				`spec.validations[0].message: Invalid value: "a\nb": must not contain line breaks` + "\n" +
				`spec.validations[0].reason: Unsupported value: "Unauthorized": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`},
		{Name: "variables", Patch: `{"spec":{` + one + `,"variables":[{"name":"in","expression":"1"},{"name":"","expression":""}]}}`,
			Want: `spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier` + "\n" +
				"spec.variables[1].name: Required value: name is not specified\nspec.variables[1].expression: Required value: expression is not specified"},
		{Name: "audit", Patch: `{"spec":{"auditAnnotations":[{"key":"k","valueExpression":"'x'"},{"key":"k"}]}}`,
			Want: "spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified\n" + `spec.auditAnnotations[1].key: Duplicate value: "k"`},
		{Name: "names", Patch: `{"spec":{` + one + `,"matchConstraints":{"excludeResourceRules":[{"resourceNames":["a","a"],"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]}}}`,
			Want: `spec.matchConstraints.excludeResourceRules[0].resourceNames[1]: Duplicate value: "a"`},
		{Name: "status", Sub: "status", Old: `{}`, Patch: `{"status":{"typeChecking":{"expressionWarnings":[{"fieldRef":"spec"},{"warning":"w"}]}}}`,
			Want: "status.typeChecking.expressionWarnings[0].warning: Required value\nstatus.typeChecking.expressionWarnings[1].fieldRef: Required value"},
	})
	is := is.New(t)
	is.Equal(rt.Cells(t, `{"spec":{`+one+`,"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}}}`), `["p",1,"v1/ConfigMap","60s"]`) // same output as the real server
	is.Equal(rt.Make(t, "").String("spec", "matchConstraints", "matchPolicy"), "Equivalent")                                       // default
}

func TestMutatingPolicyRules(t *testing.T) {
	kindtest.Rules{Kinds: served, Storage: "mutatingadmissionpolicies.admissionregistration.k8s.io", Base: policyJSON}.Run(t, []kindtest.Case{
		{Name: "minimal", Patch: `{"spec":{"reinvocationPolicy":"Never","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{}]"}}]}}`},
		{Name: "nothing", Want: "spec.mutations: Required value: mutations must contain at least one item\nspec.reinvocationPolicy: Required value"},
		{Name: "mutations", Patch: `{"spec":{"reinvocationPolicy":"X","mutations":[{},{"patchType":"X"},{"patchType":"JSONPatch","applyConfiguration":{"expression":"x"}},{"patchType":"ApplyConfiguration","applyConfiguration":{}}]}}`,
			Want: "spec.mutations[0].patchType: Required value\n" +
				`spec.mutations[1].patchType: Unsupported value: "X": supported values: "ApplyConfiguration", "JSONPatch"` + "\n" +
				"spec.mutations[2].jsonPatch: Required value: must be specified when patchType is JSONPatch\n" +
				`spec.mutations[2].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch` + "\n" +
				"spec.mutations[3].applyConfiguration.expression: Required value\n" +
				`spec.reinvocationPolicy: Unsupported value: "X": supported values: "IfNeeded", "Never"`},
		{Name: "delete", Patch: `{"spec":{"reinvocationPolicy":"Never","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{}]"}}],"matchConstraints":{"resourceRules":[{"operations":["DELETE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]}}}`,
			Want: `spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"`},
	})
}

func TestPolicyBindingRules(t *testing.T) {
	rt := kindtest.Rules{Kinds: served, Storage: "validatingadmissionpolicybindings.admissionregistration.k8s.io", Base: `{"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Deny"]}}`}
	rt.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "nothing", Patch: `{"spec":{"policyName":"","validationActions":null}}`,
			Want: "spec.policyName: Required value\nspec.validationActions: Required value: at least one validation action is required"},
		{Name: "actions", Patch: `{"spec":{"validationActions":["Deny","Warn","Warn","Stop"]}}`,
			Want: `spec.validationActions[2]: Duplicate value: "Warn"` + "\n" + `spec.validationActions[3]: Unsupported value: "Stop": supported values: "Audit", "Deny", "Warn"` + "\n" +
				`spec.validationActions: Invalid value: ["Deny","Warn","Warn","Stop"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)`},
		{Name: "params", Patch: `{"spec":{"paramRef":{"name":"a/b","selector":{}}}}`,
			Want: `spec.paramRef.name: Invalid value: "a/b": may not contain '/'` + "\nspec.paramRef.name: Forbidden: name and selector are mutually exclusive\n" +
				"spec.paramRef.selector: Forbidden: name and selector are mutually exclusive\nspec.paramRef.parameterNotFoundAction: Required value"},
		{Name: "no params", Patch: `{"spec":{"paramRef":{"parameterNotFoundAction":"X"}}}`,
			Want: "spec.paramRef: Required value: one of name or selector must be specified\n" +
				`spec.paramRef.parameterNotFoundAction: Unsupported value: "X": supported values: "Deny", "Allow"`},
	})
	is := is.New(t)
	is.Equal(rt.Cells(t, `{"spec":{"paramRef":{"name":"x"}}}`), `["b","p","*/x","60s"]`)                 // no namespace
	is.Equal(rt.Cells(t, `{"spec":{"paramRef":{"name":"x","namespace":"n"}}}`), `["b","p","n/x","60s"]`) // with a name
	is.Equal(rt.Cells(t, `{"spec":{"paramRef":{"selector":{"matchLabels":{"a":"b"}}}}}`),
		`["b","p","\u0026LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}","60s"]`) // the Go string form
	rt.Storage = "mutatingadmissionpolicybindings.admissionregistration.k8s.io"
	rt.Run(t, []kindtest.Case{{Name: "mutating needs no action", Patch: `{"spec":{"validationActions":null}}`}})
}

// TestShapesOfAdmissionregistration runs every rule on objects with missing values.
func TestShapesOfAdmissionregistration(t *testing.T) {
	for _, rt := range []kindtest.Rules{
		{Kinds: served, Storage: "validatingwebhookconfigurations.admissionregistration.k8s.io", Base: hooksJSON},
		{Kinds: served, Storage: "mutatingwebhookconfigurations.admissionregistration.k8s.io", Base: hooksJSON},
		{Kinds: served, Storage: "validatingadmissionpolicies.admissionregistration.k8s.io", Base: policyJSON},
		{Kinds: served, Storage: "mutatingadmissionpolicies.admissionregistration.k8s.io", Base: policyJSON},
		{Kinds: served, Storage: "validatingadmissionpolicybindings.admissionregistration.k8s.io", Base: `{"metadata":{"name":"b"},"spec":{"paramRef":{"selector":{"matchExpressions":[{"key":"a"}]}},"matchResources":{"resourceRules":[{}]}}}`},
		{Kinds: served, Storage: "mutatingadmissionpolicybindings.admissionregistration.k8s.io", Base: `{"metadata":{"name":"b"},"spec":{"paramRef":{"name":"x"}}}`},
	} {
		t.Run(rt.Storage, func(t *testing.T) { rt.DoNotPanic(t) })
	}
}
