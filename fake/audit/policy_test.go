package audit

import (
	"encoding/json"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/wire"
)

// TestPolicyErrors compares the errors of wrong policies with those of kube-apiserver v1.36.3.
func TestPolicyErrors(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"
	for _, c := range []struct{ policy, want string }{
		{"", `unknown group version field audit.k8s.io/__internal, Kind=Policy in policy`},
		{"a: b: c", `failed decoding: yaml: mapping values are not allowed in this context`},
		{"- a\n", `failed decoding: couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ` +
			`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`},
		{"kind: Policy\nrules:\n- level: None\n", `unknown group version field audit.k8s.io/__internal, Kind=Policy in policy`},
		{"apiVersion: a/b/c\nkind: Policy\n", `failed decoding: unexpected GroupVersion string: a/b/c`},
		{"apiVersion: audit.k8s.io/v1beta1\nkind: Policy\n",
			`failed decoding: no kind "Policy" is registered for version "audit.k8s.io/v1beta1" in scheme "pkg/runtime/scheme.go:111"`},
		{"apiVersion: v1\nkind: Pod\n", `failed decoding: no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`},
		{"apiVersion: audit.k8s.io/v1\nkind: Event\nlevel: None\n", `failed decoding: converting (v1.Event) to (audit.Policy): unknown conversion`},
		{head, `loaded illegal policy with 0 rules`},
		{head + "rules: x\n", `failed decoding: json: cannot unmarshal string into Go struct field Policy.rules of type []v1.PolicyRule`},
		{head + "rules:\n- level: 1\n", `failed decoding: json: cannot unmarshal number into Go struct field PolicyRule.rules.level of type v1.Level`},
		{head + "rules:\n- users: [a]\n", `rules[0].level: Required value`},
		{head + "rules:\n- level: metadata\n",
			`rules[0].level: Unsupported value: "metadata": supported values: "None", "Metadata", "Request", "RequestResponse"`},
		{head + "rules:\n- level: None\n  nonResourceURLs: [/x]\n  namespaces: [a]\n",
			`rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs`},
		{head + "rules:\n- level: None\n  nonResourceURLs: [x, /a*b, '*']\n",
			`[rules[0].nonResourceURLs[0]: Invalid value: "x": non-resource URL rules must begin with a '/' character, ` +
				`rules[0].nonResourceURLs[1]: Invalid value: "/a*b": non-resource URL wildcards '*' must be the final character of the rule]`},
		{head + "omitStages: [foo]\nrules:\n- level: None\n  omitStages: [ResponseStart]\n",
			`[omitStages[0]: Invalid value: "foo": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic, ` +
				`rules[0].omitStages[0]: Invalid value: "ResponseStart": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic]`},
		{head + "rules:\n- level: None\n  resources: [{group: a/v1, resources: [x]}, {resourceNames: [a]}]\n",
			`[rules[0].resources.group: Invalid value: "a/v1": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, ` +
				`'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is ` +
				`'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), ` +
				`rules[0].resources.resourceNames: Invalid value: ["a"]: using resourceNames requires at least one resource]`},
	} {
		_, err := parsePolicy([]byte(c.policy))
		if err == nil || err.Error() != c.want {
			t.Errorf("policy %q:\nhave %v\nwant %s", c.policy, err, c.want)
		}
	}
}

// TestMatches checks which requests a rule matches.
func TestMatches(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	at := auth.Attributes{User: resource.User{Name: "jane", Groups: []string{"dev"}}, Verb: "get", IsResource: true, Group: "apps",
		Resource: "deployments", Subresource: "scale", Namespace: "ns", Name: "d"}
	resources := func(group string, names ...string) PolicyRule {
		return PolicyRule{Resources: []GroupResources{{Group: group, Resources: names}}}
	}
	for _, r := range []PolicyRule{{}, {Users: []string{"jane"}}, {UserGroups: []string{"dev"}}, {Verbs: []string{"get"}}, {Namespaces: []string{"ns"}},
		resources("apps"), resources("*", "*"), resources("apps", "deployments/scale"), resources("apps", "*/scale"), resources("apps", "deployments/*"),
		{Resources: []GroupResources{{Group: "apps", Resources: []string{"*"}, ResourceNames: []string{"d"}}}}} {
		is.True(r.matches(&at)) // a rule that matches
	}
	for _, r := range []PolicyRule{{Users: []string{"joe"}}, {UserGroups: []string{"ops"}}, {Verbs: []string{"list"}}, {Namespaces: []string{""}},
		resources(""), resources("apps", "deployments"), resources("apps", "*/status"), {NonResourceURLs: []string{"*"}},
		{Resources: []GroupResources{{Group: "apps", Resources: []string{"*"}, ResourceNames: []string{"e"}}}}} {
		is.True(!r.matches(&at)) // a rule that does not match
	}
	path := auth.Attributes{Path: "/healthz/ping", Verb: "get"}
	for url, want := range map[string]bool{"*": true, "/healthz*": true, "/healthz/ping": true, "/healthz": false} {
		r := PolicyRule{NonResourceURLs: []string{url}}
		is.Equal(r.matches(&path), want) // a rule for a path
	}
	is.True(!(&PolicyRule{Users: []string{""}}).matches(&path)) // a request without a user
}

// TestSourceIPs checks the addresses of an event (k8s.io/apimachinery/pkg/util/net, SourceIPs).
func TestSourceIPs(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	of := func(from, forwarded, real string) []string {
		return sourceIPs(&apiserver.Exchange{Request: &apiserver.Request{From: from,
			Header: wire.Header{"X-Forwarded-For": {forwarded}, "X-Real-Ip": {real}}}})
	}
	is.Equal(of("127.0.0.1:90", "10.1.2.3, 10.9.9.9, 127.0.0.1", "10.7.7.7"), []string{"10.1.2.3", "10.9.9.9", "127.0.0.1", "10.7.7.7", "127.0.0.1"})
	is.Equal(of("10.9.9.9:90", "10.1.2.3,x", "10.1.2.3"), []string{"10.1.2.3", "10.9.9.9"})
	is.Equal(of("", "", ""), nil)
}

// FuzzPolicy checks that no policy and no body makes a log panic, and that a body without managedFields is still valid JSON.
func FuzzPolicy(f *testing.F) {
	f.Add("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Request\n", `{"metadata":{"managedFields":[]},"items":[{"metadata":{"managedFields":1}}]}`)
	f.Add("rules: [{level: None}]", `{"rows":[{"object":{"metadata":{"managedFields":{}}}}]}`)
	f.Fuzz(func(t *testing.T, policy, body string) {
		if p, err := parsePolicy([]byte(policy)); err == nil {
			p.decide(&auth.Attributes{IsResource: true, Resource: "pods"})
		}
		if json.Valid([]byte(body)) && !json.Valid(withoutManagedFields([]byte(body))) {
			t.Errorf("not valid: %s", withoutManagedFields([]byte(body)))
		}
	})
}
