package outbound_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// manifestServer is a server with a directory of static manifests.
type manifestServer struct {
	t   *testing.T
	srv *fake.Server
	dir string
}

// startManifests starts a server of 1.37 with the files of a plugin.
func startManifests(t *testing.T, plugin, kind string, files map[string]string) (*manifestServer, error) {
	t.Helper()
	m := &manifestServer{t: t, dir: t.TempDir()}
	for name, text := range files { // order does not matter
		m.write(name, text)
	}
	config := filepath.Join(t.TempDir(), "admission.yaml")
	text := fmt.Sprintf("apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: %s\n  configuration: "+
		"{apiVersion: apiserver.config.k8s.io/v1, kind: %s, staticManifestsDir: %q}\n", plugin, kind, m.dir)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	m.srv, err = fake.New(fake.Options{AdmissionConfig: config, Metrics: true, Replicas: []fake.ReplicaOptions{{Version: "1.37"}}})
	if err == nil {
		t.Cleanup(m.srv.Close)
	}
	return m, err
}

func (m *manifestServer) write(name, text string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// send sends a request and returns the code and the body of the response.
func (m *manifestServer) send(method, path, body string) (code int, text string) {
	m.t.Helper()
	q, err := http.NewRequest(method, m.srv.URL()+path, strings.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Transport: m.srv.Transport()}).Do(q)
	if err != nil {
		m.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

// create creates an object and returns the message of the response, or "" if it was created.
func (m *manifestServer) create(path, body string) string {
	m.t.Helper()
	code, text := m.send(http.MethodPost, path, body)
	if code == http.StatusCreated {
		return ""
	}
	var s struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		m.t.Fatal(err)
	}
	return s.Message
}

const (
	configMaps = "/api/v1/namespaces/default/configmaps"
	group      = "/apis/admissionregistration.k8s.io/v1/"

	policyHead = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: %s}\n"
	policy     = policyHead + "spec:\n  matchConstraints: {resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: [CREATE], " +
		"resources: [configmaps, validatingadmissionpolicies]}]}\n  validations: [{expression: \"object.metadata.name != 'bad'\", message: %s}]\n"
	binding = "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: %s}\n" +
		"spec: {policyName: %s, validationActions: [Deny]}\n"
)

func configMap(name string) string { return `{"metadata":{"name":"` + name + `"}}` }

// TestStaticPolicies checks that policies in files apply, also to policies of the API, and that their files are read again.
func TestStaticPolicies(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const name = "a.static.k8s.io"
	m, err := startManifests(t, "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyConfiguration",
		map[string]string{"a.yaml": fmt.Sprintf(policy+binding, name, "first", name, name)})
	is.NoErr(err)
	denied := func(text string) string {
		return `configmaps "bad" is forbidden: ValidatingAdmissionPolicy 'a.static.k8s.io' with binding 'a.static.k8s.io' denied request: ` + text
	}
	is.Equal(m.create(configMaps, configMap("good")), "")
	is.Equal(m.create(configMaps, configMap("bad")), denied("first"))
	const rest = `"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["pods"]}]},"validations":[{"expression":"true"}]}}`
	is.True(strings.Contains(m.create(group+"validatingadmissionpolicies", `{"metadata":{"name":"bad"},`+rest), "denied request: first")) // policies are protected, too
	code, _ := m.send(http.MethodGet, group+"validatingadmissionpolicies/"+name, "")
	is.Equal(code, http.StatusNotFound) // it is not an object of the API
	is.True(strings.Contains(m.create(group+"validatingadmissionpolicies", `{"metadata":{"name":"b.static.k8s.io"},`+rest),
		`metadata.name: Invalid value: "b.static.k8s.io": names ending with ".static.k8s.io" are reserved for static manifest-based configurations`))

	m.write("a.yaml", fmt.Sprintf(policy+binding, name, "'second text'", name, name))
	is.Equal(m.create(configMaps, configMap("bad")), denied("second text"))
	m.write("a.yaml", fmt.Sprintf(policy, "wrong", "x"))
	is.Equal(m.create(configMaps, configMap("bad")), denied("second text")) // invalid contents are ignored
	_, metrics := m.send(http.MethodGet, "/metrics", "")
	is.True(strings.Contains(metrics, `plugin="ValidatingAdmissionPolicy",status="failure"} 1`+"\n"))
	is.True(strings.Contains(metrics, `plugin="ValidatingAdmissionPolicy",status="success"} 2`+"\n"))
	is.NoErr(os.Remove(filepath.Join(m.dir, "a.yaml")))
	is.Equal(m.create(configMaps, configMap("bad")), "")
}

// TestStaticWebhook checks that a webhook in a file is called, also for webhook configurations of the API.
func TestStaticWebhook(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct{ UID, Name string }
		}
		_ = json.NewDecoder(r.Body).Decode(&review)
		fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":%t,"status":{"message":"no %s"}}}`,
			review.Request.UID, review.Request.Name != "bad", review.Request.Name)
	}))
	t.Cleanup(hook.Close)
	list := fmt.Sprintf(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",
		"metadata":{"name":"w.static.k8s.io"},"webhooks":[{"name":"w.example.com","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":%q},
		"rules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["CREATE"],"resources":["configmaps","mutatingwebhookconfigurations"]}]}]}]}`, hook.URL)
	m, err := startManifests(t, "ValidatingAdmissionWebhook", "WebhookAdmissionConfiguration", map[string]string{"w.json": list})
	is.NoErr(err)
	m.srv.AdmitThrough(hook.Client().Transport)
	is.Equal(m.create(configMaps, configMap("good")), "")
	is.Equal(m.create(configMaps, configMap("bad")), `admission webhook "w.example.com" denied the request: no bad`)
	is.Equal(m.create(group+"mutatingwebhookconfigurations", `{"metadata":{"name":"bad"}}`), `admission webhook "w.example.com" denied the request: no bad`)
	f := m.srv.Fork()
	t.Cleanup(f.Close)
	f.AdmitThrough(hook.Client().Transport)
	m.srv = f
	is.Equal(m.create(configMaps, configMap("bad")), `admission webhook "w.example.com" denied the request: no bad`) // a fork has the files
}

// TestStaticErrors checks the errors of files with which a server does not start.
func TestStaticErrors(t *testing.T) {
	t.Parallel()
	const name = "a.static.k8s.io"
	valid := fmt.Sprintf(policy, name, "x")
	for _, c := range []struct{ text, want string }{
		{fmt.Sprintf(policy, "a", "x"), `"a" in file "FILE" must have a name ending with ".static.k8s.io"`},
		{valid + "---\n" + valid, `duplicate name "a.static.k8s.io" found in file "FILE" (previously seen in "FILE")`},
		{valid + "---\napiVersion: v1\nkind: Pod\n", `unsupported resource type v1, Kind=Pod`},
		{valid + fmt.Sprintf(binding, "b.static.k8s.io", "c.static.k8s.io"), `binding "b.static.k8s.io" references policy "c.static.k8s.io" which does not exist in the manifest directory`},
		{valid + fmt.Sprintf(binding, "b.static.k8s.io", "c"), `binding "b.static.k8s.io": spec.policyName "c" must end with ".static.k8s.io"`},
		{strings.Replace(valid, "spec:\n", "spec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n", 1), `ValidatingAdmissionPolicy "a.static.k8s.io": spec.paramKind is not supported for static manifests`},
		{strings.Replace(valid, "object.metadata.name != 'bad'", "1", 1), "ValidatingAdmissionPolicy \"a.static.k8s.io\": spec.validations[0].expression: Invalid value: \"1\": must evaluate to bool but got int"},
		{strings.Replace(valid, "spec:", "spce:", 1), `strict decoding error: unknown field "spce"`},
	} {
		t.Run(c.want, func(t *testing.T) {
			is := is.New(t)
			m, err := startManifests(t, "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyConfiguration", map[string]string{"a.yaml": c.text})
			is.True(err != nil)
			is.Equal(strings.TrimPrefix(strings.ReplaceAll(err.Error(), filepath.Join(m.dir, "a.yaml"), "FILE"), fmt.Sprintf("failed to load static manifests from %q: ", m.dir)),
				map[bool]string{true: "error loading FILE: "}[!strings.Contains(c.want, "references policy")]+c.want)
		})
	}
	is := is.New(t)
	_, err := startManifests(t, "ValidatingAdmissionPolicy", "MutatingAdmissionPolicyConfiguration", nil)
	is.True(err != nil && strings.Contains(err.Error(), "not ValidatingAdmissionPolicyConfiguration"))
}
