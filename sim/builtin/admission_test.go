package builtin

import (
	"testing"

	"github.com/matryer/is"
)

const hooksJSON = `{"metadata":{"name":"h"},"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],
	"clientConfig":{"url":"https://x.y/p"},"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]}]}`

// hook returns a patch with one webhook: the one of hooksJSON with a change.
func hook(t *testing.T, patch string) string {
	t.Helper()
	obj := parsed(t, hooksJSON)
	mergeInto(obj.Objects("webhooks")[0], parsed(t, patch))
	return string(appendOrdered(nil, map[string]any(obj)))
}

func TestWebhookRules(t *testing.T) {
	rt := ruleTest{storage: "validatingwebhookconfigurations.admissionregistration.k8s.io", base: hooksJSON}
	rule := func(r string) string { return hook(t, `{"rules":[`+r+`]}`) }
	rt.run(t, []ruleCase{
		{name: "minimal"},
		{name: "many", patch: `{"webhooks":[{"name":"short","clientConfig":{"url":"http://x"},"timeoutSeconds":99}]}`,
			want: `webhooks[0].name: Invalid value: "short": should be a domain with at least three segments separated by dots` + "\n" +
				"webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun\n" +
				"webhooks[0].timeoutSeconds: Invalid value: 99: the timeout value must be between 1 and 30 seconds\n" +
				`webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]` + "\n" +
				"webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1"},
		{name: "enums", patch: hook(t, `{"failurePolicy":"X","matchPolicy":"Y","sideEffects":"Some"}`),
			want: `webhooks[0].failurePolicy: Unsupported value: "X": supported values: "Fail", "Ignore"` + "\n" +
				`webhooks[0].matchPolicy: Unsupported value: "Y": supported values: "Equivalent", "Exact"` + "\n" +
				`webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`},
		{name: "versions", patch: hook(t, `{"admissionReviewVersions":["v3","v3"]}`),
			want: `webhooks[0].admissionReviewVersions[1]: Invalid value: "v3": duplicate version` + "\n" +
				`webhooks[0].admissionReviewVersions: Invalid value: ["v3","v3"]: must include at least one of v1, v1beta1`},
		{name: "no client", patch: hook(t, `{"clientConfig":{"url":null}}`), want: "webhooks[0].clientConfig: Required value: exactly one of url or service is required"},
		{name: "url", patch: hook(t, `{"clientConfig":{"url":"https://u@/p?q#f"}}`),
			want: `webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]` + "\n" +
				`webhooks[0].clientConfig.url: Invalid value: "u": user information is not permitted in the URL` + "\n" +
				`webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL` + "\n" +
				`webhooks[0].clientConfig.url: Invalid value: "q": query parameters are not permitted in the URL`},
		{name: "service", patch: hook(t, `{"clientConfig":{"url":null,"service":{"name":"s","port":70000,"path":"x//y"}}}`),
			want: "webhooks[0].clientConfig.service.name: Required value\n" +
				"webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive\n" +
				`webhooks[0].clientConfig.service.path: Invalid value: "x//y": must start with a '/'` + "\n" +
				`webhooks[0].clientConfig.service.path: Invalid value: "x//y": segment[0] may not be empty` + "\n" +
				`webhooks[0].clientConfig.service.path: Invalid value: "x//y": segment[1] may not be empty`},
		{name: "empty rule", patch: rule(`{}`), want: "webhooks[0].rules[0].operations: Required value\nwebhooks[0].rules[0].apiGroups: Required value\n" +
			"webhooks[0].rules[0].apiVersions: Required value\nwebhooks[0].rules[0].resources: Required value"},
		{name: "wildcards", patch: rule(`{"operations":["*","READ"],"apiGroups":["*","a"],"apiVersions":[""],"resources":["pods/*","pods/status","*/*"],"scope":"X"}`),
			want: `webhooks[0].rules[0].operations: Invalid value: ["*","READ"]: if '*' is present, must not specify other operations` + "\n" +
				`webhooks[0].rules[0].operations[1]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"` + "\n" +
				`webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other API groups` + "\n" +
				"webhooks[0].rules[0].apiVersions[0]: Required value\n" +
				`webhooks[0].rules[0].resources[1]: Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status` + "\n" +
				`webhooks[0].rules[0].resources: Invalid value: ["pods/*","pods/status","*/*"]: if '*/*' is present, must not specify other resources` + "\n" +
				`webhooks[0].rules[0].scope: Unsupported value: "X": supported values: "*", "Cluster", "Namespaced"`},
		{name: "conditions", patch: hook(t, `{"matchConditions":[{"name":"a","expression":" "},{"name":"a","expression":"true"},{"expression":"true"}]}`),
			want: "webhooks[0].matchConditions[0].expression: Required value\n" +
				`webhooks[0].matchConditions[1].name: Duplicate value: "a"` + "\nwebhooks[0].matchConditions[2].name: Required value"},
		{name: "broken before", old: hook(t, `{"sideEffects":"Some","admissionReviewVersions":["v3"]}`), patch: hook(t, `{"sideEffects":"Some","admissionReviewVersions":["v3"]}`)},
	})
	is := is.New(t)
	is.Equal(rt.cells(t, `{}`), `["h",1,"60s"]`) // as the real server prints it
	rt.storage = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
	is.Equal(rt.make(t, "").Objects("webhooks")[0].String("reinvocationPolicy"), "Never") // mutating ones only
	rt.warns(t, []ruleCase{{name: "static", patch: `{"metadata":{"name":"a.static.k8s.io"}}`,
		want: `metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API`}})
}

const policyJSON = `{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]}}}`

func TestValidatingPolicyRules(t *testing.T) {
	rt := ruleTest{storage: "validatingadmissionpolicies.admissionregistration.k8s.io", base: policyJSON}
	const one = `"validations":[{"expression":"true"}]`
	rt.run(t, []ruleCase{
		{name: "minimal", patch: `{"spec":{` + one + `}}`},
		{name: "nothing", patch: `{"spec":{"matchConstraints":null,"failurePolicy":"X"}}`,
			want: `spec.failurePolicy: Unsupported value: "X": supported values: "Fail", "Ignore"` + "\nspec.matchConstraints: Required value\n" +
				"spec.validations: Required value: validations or auditAnnotations must contain at least one item\n" +
				"spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item"},
		{name: "no rules", patch: `{"spec":{` + one + `,"matchConstraints":{"resourceRules":null}}}`, want: "spec.matchConstraints.resourceRules: Required value"},
		{name: "param kind", patch: `{"spec":{` + one + `,"paramKind":{"apiVersion":"a/b/c","kind":"K_"}}}`,
			want: `spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c` + "\n" +
				`spec.paramKind.kind: Invalid value: "K_": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`},
		{name: "validation", patch: `{"spec":{"validations":[{"expression":"","message":"a\nb","messageExpression":" ","reason":"Unauthorized"}]}}`,
			want: "spec.validations[0].expression: Required value: expression is not specified\n" +
				`spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified` + "\n" +
				`spec.validations[0].message: Invalid value: "a\nb": must not contain line breaks` + "\n" +
				`spec.validations[0].reason: Unsupported value: "Unauthorized": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`},
		{name: "variables", patch: `{"spec":{` + one + `,"variables":[{"name":"in","expression":"1"},{"name":"","expression":""}]}}`,
			want: `spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier` + "\n" +
				"spec.variables[1].name: Required value: name is not specified\nspec.variables[1].expression: Required value: expression is not specified"},
		{name: "audit", patch: `{"spec":{"auditAnnotations":[{"key":"k","valueExpression":"'x'"},{"key":"k"}]}}`,
			want: "spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified\n" + `spec.auditAnnotations[1].key: Duplicate value: "k"`},
		{name: "names", patch: `{"spec":{` + one + `,"matchConstraints":{"excludeResourceRules":[{"resourceNames":["a","a"],"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]}}}`,
			want: `spec.matchConstraints.excludeResourceRules[0].resourceNames[1]: Duplicate value: "a"`},
		{name: "status", sub: "status", old: `{}`, patch: `{"status":{"typeChecking":{"expressionWarnings":[{"fieldRef":"spec"},{"warning":"w"}]}}}`,
			want: "status.typeChecking.expressionWarnings[0].warning: Required value\nstatus.typeChecking.expressionWarnings[1].fieldRef: Required value"},
	})
	is := is.New(t)
	is.Equal(rt.cells(t, `{"spec":{`+one+`,"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}}}`), `["p",1,"v1/ConfigMap","60s"]`) // as the real server prints it
	is.Equal(rt.make(t, "").String("spec", "matchConstraints", "matchPolicy"), "Equivalent")                                       // default
}

func TestMutatingPolicyRules(t *testing.T) {
	ruleTest{storage: "mutatingadmissionpolicies.admissionregistration.k8s.io", base: policyJSON}.run(t, []ruleCase{
		{name: "minimal", patch: `{"spec":{"reinvocationPolicy":"Never","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{}]"}}]}}`},
		{name: "nothing", want: "spec.mutations: Required value: mutations must contain at least one item\nspec.reinvocationPolicy: Required value"},
		{name: "mutations", patch: `{"spec":{"reinvocationPolicy":"X","mutations":[{},{"patchType":"X"},{"patchType":"JSONPatch","applyConfiguration":{"expression":"x"}},{"patchType":"ApplyConfiguration","applyConfiguration":{}}]}}`,
			want: "spec.mutations[0].patchType: Required value\n" +
				`spec.mutations[1].patchType: Unsupported value: "X": supported values: "ApplyConfiguration", "JSONPatch"` + "\n" +
				"spec.mutations[2].jsonPatch: Required value: must be specified when patchType is JSONPatch\n" +
				`spec.mutations[2].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch` + "\n" +
				"spec.mutations[3].applyConfiguration.expression: Required value\n" +
				`spec.reinvocationPolicy: Unsupported value: "X": supported values: "IfNeeded", "Never"`},
		{name: "delete", patch: `{"spec":{"reinvocationPolicy":"Never","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{}]"}}],"matchConstraints":{"resourceRules":[{"operations":["DELETE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]}}}`,
			want: `spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"`},
	})
}

func TestPolicyBindingRules(t *testing.T) {
	rt := ruleTest{storage: "validatingadmissionpolicybindings.admissionregistration.k8s.io", base: `{"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Deny"]}}`}
	rt.run(t, []ruleCase{
		{name: "minimal"},
		{name: "nothing", patch: `{"spec":{"policyName":"","validationActions":null}}`,
			want: "spec.policyName: Required value\nspec.validationActions: Required value: at least one validation action is required"},
		{name: "actions", patch: `{"spec":{"validationActions":["Deny","Warn","Warn","Stop"]}}`,
			want: `spec.validationActions[2]: Duplicate value: "Warn"` + "\n" + `spec.validationActions[3]: Unsupported value: "Stop": supported values: "Audit", "Deny", "Warn"` + "\n" +
				`spec.validationActions: Invalid value: ["Deny","Warn","Warn","Stop"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)`},
		{name: "params", patch: `{"spec":{"paramRef":{"name":"a/b","selector":{}}}}`,
			want: `spec.paramRef.name: Invalid value: "a/b": may not contain '/'` + "\nspec.paramRef.name: Forbidden: name and selector are mutually exclusive\n" +
				"spec.paramRef.selector: Forbidden: name and selector are mutually exclusive\nspec.paramRef.parameterNotFoundAction: Required value"},
		{name: "no params", patch: `{"spec":{"paramRef":{"parameterNotFoundAction":"X"}}}`,
			want: "spec.paramRef: Required value: one of name or selector must be specified\n" +
				`spec.paramRef.parameterNotFoundAction: Unsupported value: "X": supported values: "Deny", "Allow"`},
	})
	is := is.New(t)
	is.Equal(rt.cells(t, `{"spec":{"paramRef":{"name":"x"}}}`), `["b","p","*/x","60s"]`)                 // no namespace
	is.Equal(rt.cells(t, `{"spec":{"paramRef":{"name":"x","namespace":"n"}}}`), `["b","p","n/x","60s"]`) // with one
	is.Equal(rt.cells(t, `{"spec":{"paramRef":{"selector":{"matchLabels":{"a":"b"}}}}}`),
		`["b","p","\u0026LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}","60s"]`) // the Go text
	rt.storage = "mutatingadmissionpolicybindings.admissionregistration.k8s.io"
	rt.run(t, []ruleCase{{name: "mutating needs no action", patch: `{"spec":{"validationActions":null}}`}})
}
