package conformance_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/sim/conformance"
)

// stories generates random requests for which webhooks are called. The same seed gives the same story.
type stories struct {
	bodies []sample
	known  map[string][]string // sorted keys of answers, by their first word, and all keys under ""
	define bool                // every story has a definition
}

// sample is a body from which a server has once created an object.
type sample struct {
	path string // of the collection, with {{ns}}
	body map[string]any
}

func newStories(t *testing.T) *stories {
	all, err := conformance.Cases()
	if err != nil {
		t.Fatal(err)
	}
	s := &stories{known: map[string][]string{}, define: os.Getenv("KUBESIM_AREA") == "conversion"}
	for _, c := range all {
		if c.NoNamespace || c.Minor() != "" {
			continue
		}
		for _, step := range c.Steps {
			if one, ok := sampled(c, step); ok {
				s.bodies = append(s.bodies, one)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		head, _, _ := strings.Cut(name, "-")
		s.known[head] = append(s.known[head], name)
		s.known[""] = append(s.known[""], name)
	}
	return s
}

// leftOut matches requests that stories do not use: webhooks never see them, they would disturb other stories, their
// results are random (ports and addresses of services), or they need definitions that the story does not have (custom
// resources).
var leftOut = []string{"admissionregistration.k8s.io", "customresourcedefinitions", "limitranges", "ipaddresses", "apiservices", "/nodes", "flowcontrol", "/namespaces"}

// sampled returns the body of a step that created a built-in object. ok is false for any other step, and if the body
// depends on other steps.
func sampled(c conformance.Case, s conformance.Step) (sample, bool) {
	recorded, ok := c.Recorded(s.Name).(*conformance.Object)
	if !ok || s.Method != "POST" || s.Base64 || strings.Contains(s.Target, "?") || recorded.Get("status") != conformance.Int("201") ||
		strings.Contains(strings.ReplaceAll(s.Target+s.Body, "{{ns}}", ""), "{{") {
		return sample{}, false
	}
	rest := strings.TrimPrefix(s.Target, "/api/v1/")
	if rest == s.Target {
		parts := strings.SplitN(strings.TrimPrefix(s.Target, "/apis/"), "/", 3)
		if len(parts) < 3 || strings.Contains(parts[0], ".") && !strings.HasSuffix(parts[0], ".k8s.io") {
			return sample{}, false
		}
		rest = parts[2]
	}
	rest = strings.TrimPrefix(rest, "namespaces/{{ns}}/")
	var body map[string]any
	if strings.Contains(rest, "/") || rest == "services" && !strings.Contains(s.Body, `"None"`) || json.Unmarshal([]byte(s.Body), &body) != nil || len(s.Body) > 6000 ||
		strings.Contains(s.Body, "generateName") && strings.Contains(s.Body, "long") {
		return sample{}, false
	}
	meta, _ := body["metadata"].(map[string]any)
	path := strings.Replace(s.Target, "/namespaces/{{ns}}", "", 1)
	if meta == nil || slices.ContainsFunc(leftOut, func(x string) bool { return strings.Contains(path, x) }) {
		return sample{}, false
	}
	return sample{s.Target, body}, true
}

// more are requests for objects that no recorded case creates independently of other steps.
var more = []string{
	`/apis/authorization.k8s.io/v1/subjectaccessreviews {"spec":{"user":"u","resourceAttributes":{"verb":"get","resource":"pods"}}}`,
	`/apis/authorization.k8s.io/v1/selfsubjectaccessreviews {"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`,
	`/apis/authorization.k8s.io/v1/namespaces/{{ns}}/localsubjectaccessreviews {"spec":{"user":"u","resourceAttributes":{"namespace":"{{ns}}","verb":"get","resource":"pods"}}}`,
	`/apis/authentication.k8s.io/v1/tokenreviews {"spec":{"token":"nonsense"}}`,
	`/apis/authentication.k8s.io/v1/selfsubjectreviews {}`,
	`/api/v1/namespaces {"metadata":{"name":"{{ns}}-more"}}`,
	`/api/v1/nodes {"metadata":{"name":"{{ns}}-node"}}`,
}

// teller generates one story.
type teller struct {
	*rand.Rand
	s        *stories
	steps    []conformance.Step
	kinds    []sample
	configs  []string // paths
	said     []string
	numbered int

	validates bool // there is a validating webhook
}

func (s *stories) story(seed int) conformance.Case {
	t := &teller{Rand: rand.New(rand.NewPCG(uint64(seed), 33)), s: s}
	if t.s.define || t.IntN(3) == 0 {
		t.define()
	} else {
		t.choose()
	}
	for range 1 + t.IntN(2) {
		t.configure()
	}
	t.step("GET", reviewsPath+"?settle", "", "")
	if slices.Contains(t.said, "patch-name") { // the webhook sets the name of an object
		t.step("POST", t.kinds[0].path, asJSON, t.named(t.kinds[0], "renamed"))
		t.step("GET", reviewsPath, "", "")
	}
	for range 3 + t.IntN(6) {
		t.write(t.kinds[t.IntN(len(t.kinds))])
		t.step("GET", reviewsPath, "", "")
	}
	for _, path := range t.configs {
		t.step("DELETE", path, "", "")
	}
	t.step("GET", reviewsPath+"?settle", "", "")
	return conformance.Case{Area: "webhooks", Name: fmt.Sprint("story-", seed), Title: strings.Join(t.said, "; "), Steps: t.steps}
}

func (t *teller) one(choices ...string) string { return choices[t.IntN(len(choices))] }

func (t *teller) step(method, target, contentType, body string) *conformance.Step {
	t.numbered++
	s := conformance.Step{Name: fmt.Sprint("s", t.numbered), Method: method, Target: target, Body: body}
	if contentType != "" {
		s.Headers = []conformance.Header{{Name: "Content-Type", Value: contentType}}
	}
	s.Raw = strings.HasPrefix(target, reviewsPath)
	t.steps = append(t.steps, s)
	return &t.steps[len(t.steps)-1]
}

const asJSON = "application/json"

// choose selects one or two kinds at random.
func (t *teller) choose() {
	for range 1 + t.IntN(2) {
		var one sample
		if t.IntN(12) == 0 {
			path, text, _ := strings.Cut(more[t.IntN(len(more))], " ")
			one.path = path
			_ = json.Unmarshal([]byte(text), &one.body) // it is well-formed
		} else {
			one = t.s.bodies[t.IntN(len(t.s.bodies))]
		}
		t.kinds = append(t.kinds, one)
	}
}

// define creates a definition of two versions with or without a conversion webhook.
func (t *teller) define() {
	conversion := `{"strategy":"None"}`
	if t.IntN(2) == 0 {
		as := "convert-right"
		if t.IntN(3) == 0 {
			as = t.one(t.s.known["convert"]...)
		}
		conversion = fmt.Sprintf(`{"strategy":"Webhook","webhook":{"conversionReviewVersions":[%s],"clientConfig":{"url":"https://%s/{{ns}}/c/conversion/%s","caBundle":%q}}}`,
			t.one(`"v1"`, `"v1","v1beta1"`, `"v1beta1"`), hooksMark, as, bundleMark)
		t.said = append(t.said, as)
	}
	schema := `{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer","default":1},"color":{"type":"string"}}},` +
		`"status":{"type":"object","properties":{"phase":{"type":"string"}}}}}}`
	if t.IntN(3) == 0 {
		schema = `{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}`
	}
	sub := t.one(`{}`, `{"status":{}}`, `{"status":{},"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size"}}`)
	t.step("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", asJSON, fmt.Sprintf(`{"metadata":{"name":"things.{{ns}}.example.com"},
		"spec":{"group":"{{ns}}.example.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing","singular":"thing","listKind":"ThingList"},"conversion":%s,"versions":[
		{"name":"v1","served":true,"storage":true,"schema":%s,"subresources":%s},{"name":"v2","served":true,"storage":false,"schema":%[2]s,"subresources":%[3]s}]}}`, conversion, schema, sub))
	for _, version := range []string{"v1", "v2"} {
		s := t.step("GET", "/apis/{{ns}}.example.com/"+version+"/namespaces/none/things?limit=1", "", "")
		s.Until = &conformance.Until{Status: "200", Within: untilServed}
		s.Ignore = []string{"metadata"}
		spec := map[string]any{"size": 2, "color": "red"}
		if t.IntN(3) == 0 {
			spec["extra"] = map[string]any{"a": []any{}}
		}
		t.kinds = append(t.kinds, sample{"/apis/{{ns}}.example.com/" + version + "/namespaces/{{ns}}/things", map[string]any{
			"apiVersion": "{{ns}}.example.com/" + version, "kind": "Thing", "metadata": map[string]any{"name": "thing"}, "spec": spec}})
	}
}

// configure creates a configuration with one or two webhooks.
func (t *teller) configure() {
	kind, resource, most := "m", "mutatingwebhookconfigurations", 2
	if t.IntN(3) == 0 && !t.validates { // if two webhooks deny a request, the real server uses the first response
		kind, resource, most, t.validates = "v", "validatingwebhookconfigurations", 1, true
	}
	name := fmt.Sprintf("{{ns}}-%s%d", kind, len(t.configs))
	var hooks []string
	for i := range 1 + t.IntN(most) {
		hooks = append(hooks, t.webhook(kind, fmt.Sprintf("%s%d%d", kind, len(t.configs), i)))
	}
	path := "/apis/admissionregistration.k8s.io/v1/" + resource
	s := t.step("POST", path, asJSON, fmt.Sprintf(`{"metadata":{"name":%q},"webhooks":[%s]}`, name, strings.Join(hooks, ",")))
	s.Ignore = []string{"webhooks"}
	t.configs = append(t.configs, path+"/"+name)
}

// answer selects a webhook's response at random. About half of the responses of a mutating webhook are patches that may
// succeed.
func (t *teller) answer(kind string) string {
	switch n := t.IntN(10); {
	case n < 2:
		return t.one("allow", "warn", "deny", "deny-details", "allow")
	case n < 7 && kind == "m":
		return t.one(t.s.known["patch"]...)
	}
	for {
		if as := t.one(t.s.known[""]...); !strings.HasPrefix(as, "convert") {
			return as
		}
	}
}

func (t *teller) webhook(kind, name string) string {
	at := t.kinds[t.IntN(len(t.kinds))]
	group, version, resource, namespaced := at.resource()
	as := t.answer(kind)
	t.said = append(t.said, as)
	selector := `"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"{{ns}}"}}`
	if !namespaced || t.IntN(6) == 0 {
		selector = `"objectSelector":{"matchLabels":{"story":"{{ns}}"}}`
	}
	extra := ""
	if kind == "m" {
		extra = t.one(``, `"reinvocationPolicy":"IfNeeded",`, `"reinvocationPolicy":"Never",`)
	}
	if t.IntN(5) == 0 {
		extra += fmt.Sprintf(`"matchConditions":[{"name":"c","expression":%q}],`, t.one(`request.operation != "DELETE"`,
			`object == null || has(object.metadata)`, `has(request.options.fieldManager) || request.dryRun`, `oldObject == null`,
			`object.metadata.name != ""`, `request.userInfo.username == "admin"`))
	}
	operations := t.one(`"*"`, `"*"`, `"CREATE","UPDATE","DELETE"`, `"CREATE"`, `"UPDATE","DELETE"`, `"DELETE"`)
	return fmt.Sprintf(`{"name":"%s.example.com","clientConfig":{"url":"https://%s/{{ns}}/%s/%s/%s","caBundle":%q},"sideEffects":"%s",
		"admissionReviewVersions":[%s],"timeoutSeconds":10,"failurePolicy":%q,"matchPolicy":%q,%s%s,
		"rules":[{"apiGroups":[%q],"apiVersions":[%q],"operations":[%s],"resources":[%q,%q],"scope":%q}]}`,
		name, hooksMark, kind, name, as, bundleMark, t.one("None", "NoneOnDryRun"),
		t.one(`"v1"`, `"v1"`, `"v1","v1beta1"`, `"v1beta1"`, `"v1beta1","v1"`, `"v9","v1"`), t.one("Fail", "Fail", "Fail", "Ignore"),
		t.one("Equivalent", "Equivalent", "Exact"), extra, selector, group, t.one(version, "*"), operations, resource, resource+"/*", t.one("*", "*", "*", "Namespaced"))
}

// resource returns the group, version and resource of the sample's path, for the rule of a webhook.
func (x sample) resource() (group, version, resource string, namespaced bool) {
	parts := strings.Split(strings.Trim(x.path, "/"), "/")
	if parts[0] == "api" {
		version, parts = parts[1], parts[2:]
	} else {
		group, version, parts = parts[1], parts[2], parts[3:]
	}
	return group, version, parts[len(parts)-1], len(parts) == 3
}
