package authorization_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/config"
)

const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n"

// write writes a file of --authorization-config.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(head+text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// request sends a request as the user of a token.
func request(srv *fake.Server, token, method, path, body string) (*http.Response, error) {
	q, err := http.NewRequest(method, srv.URL()+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Authorization", "Bearer "+token)
	q.Header.Set("Content-Type", "application/json")
	return (&http.Client{Transport: srv.Transport()}).Do(q)
}

// body returns the body of a response, or the text of an error.
func body(res *http.Response, err error) string {
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// send is like request, and returns the code and the body of the response.
func send(t *testing.T, srv *fake.Server, token, method, path, text string) (code int, answer string) {
	t.Helper()
	res, err := request(srv, token, method, path, text)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, body(res, nil)
}

// logger collects the lines that a server logs.
type logger struct {
	*testing.T
	lines []string
}

func (l *logger) Logf(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// TestReload checks that the authorizers of a changed file apply if it is valid and has the types of the first file. Otherwise the
// previous ones stay, the error is logged, and the metrics count it.
func TestReload(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "authorization.yaml")
	const both = "authorizers: [{type: RBAC, name: rbac}, {type: AlwaysDeny, name: alwaysdeny}]"
	write(t, file, both)
	log := &logger{T: t}
	srv := fake.RunT(log, fake.Options{AuthorizationConfig: file, Metrics: true})
	get := func() (int, string) { return send(t, srv, "alicetoken", "GET", "/api/v1/pods", "") }
	_, text := get()
	is.True(strings.Contains(text, "Everything is forbidden."))
	for _, c := range []struct{ text, err string }{
		{"authorizers: [{type: RBAC, name: rbac}]", "missing required types: [AlwaysDeny]"},
		{"authorizers: []", "authorizers: Required value: at least one authorization mode must be defined"},
		{both[:len(both)-1] + ", {type: Node, name: node}]", "authorizer type Node is not allowed if it was not enabled at initial server startup"},
	} {
		log.lines = nil
		write(t, file, c.text)
		_, text = get()
		is.True(strings.Contains(text, "Everything is forbidden."))
		is.Equal(log.lines, []string{fmt.Sprintf("%q err=%q", "reloading authorization config", c.err)})
	}
	write(t, file, "authorizers: [{type: AlwaysAllow, name: alwaysallow}, {type: RBAC, name: rbac}, {type: AlwaysDeny, name: alwaysdeny}]")
	code, _ := get()
	is.Equal(code, http.StatusOK)
	_, metrics := send(t, srv, "admintoken", "GET", "/metrics", "")
	for _, sample := range []string{`status="failure"} 3`, `status="success"} 1`} {
		is.True(strings.Contains(metrics, `apiserver_authorization_config_controller_automatic_reloads_total{apiserver_id_hash="sha256:`))
		is.True(strings.Contains(metrics, sample+"\n"))
	}
	is.True(strings.Contains(metrics, `apiserver_authorization_decisions_total{decision="allowed",name="alwaysallow",type="AlwaysAllow"} 1`+"\n"))
}

// TestErrors checks the errors of files with which a server does not start. They are those of kube-apiserver 1.36.3.
func TestErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const load = "failed to load AuthorizationConfiguration from file: "
	hook := func(more string) string {
		return "authorizers: [{type: Webhook, name: a, webhook: {timeout: 4s, subjectAccessReviewVersion: v1, failurePolicy: Deny, " + more + "}}]"
	}
	for text, want := range map[string]string{
		"authorizers: []":                                                   "authorizers: Required value: at least one authorization mode must be defined",
		"authorizers: [{type: X, name: x}]":                                 `authorizers[0].type: Unsupported value: "X": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"`,
		"authorizers: [{name: x}]":                                          "authorizers[0].type: Required value",
		"authorizers: [{type: RBAC}]":                                       "authorizers[0].name: Required value",
		"authorizers: [{type: RBAC, name: a_b}]":                            `authorizers[0].name: Invalid value: "a_b": authorizer name is invalid: a lowercase RFC 1123 subdomain`,
		"authorizers: [{type: RBAC, name: a}]":                              "expected name rbac for authorizer RBAC instead of a",
		"authorizers: [{type: RBAC, name: rbac}, {type: RBAC, name: b}]":    `authorizers[1].type: Duplicate value: "RBAC"`,
		"authorizers: [{type: RBAC, name: rbac}, {type: Node, name: rbac}]": `authorizers[1].name: Duplicate value: "rbac"`,
		"authorizers: [{type: RBAC, name: rbac, webhook: {timeout: 3s}}]":   `authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook`,
		"authorisers: []":                                                   load + `strict decoding error: unknown field "authorisers"`,
		"authorizers: [{type: ABAC, name: abac}]":                           "invalid authorization config: open : no such file or directory",
		"authorizers: [{type: Webhook, name: a}]":                           "authorizers[0].webhook: Required value: required when type=Webhook",
		"authorizers: [{type: Webhook, name: a, webhook: {}}]": "[authorizers[0].timeout: Required value, authorizers[0].subjectAccessReviewVersion: Required value, " +
			"authorizers[0].failurePolicy: Required value, authorizers[0].connectionInfo.type: Required value]",
		"authorizers: [{type: Webhook, name: a, webhook: {timeout: 40s, authorizedTTL: -1s, unauthorizedTTL: -2s, subjectAccessReviewVersion: v2, " +
			"matchConditionSubjectAccessReviewVersion: v1beta1, failurePolicy: Ignore, connectionInfo: {type: Nope}}}]": `[authorizers[0].timeout: ` +
			`Invalid value: "40s": must be > 0s and <= 30s, authorizers[0].authorizedTTL: Invalid value: "-1s": must be > 0s, ` +
			`authorizers[0].unauthorizedTTL: Invalid value: "-2s": must be > 0s, authorizers[0].subjectAccessReviewVersion: Unsupported value: "v2": ` +
			`supported values: "v1", "v1beta1", authorizers[0].matchConditionSubjectAccessReviewVersion: Unsupported value: "v1beta1": supported ` +
			`values: "v1", authorizers[0].failurePolicy: Unsupported value: "Ignore": supported values: "NoOpinion", "Deny", ` +
			`authorizers[0].connectionInfo.type: Unsupported value: {"Type":"Nope","KubeConfigFile":null}: supported values: "InClusterConfig", "KubeConfigFile"]`,
		hook("connectionInfo: {type: KubeConfigFile, kubeConfigFile: x}"):             `authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "x": must be an absolute path`,
		hook("connectionInfo: {type: KubeConfigFile, kubeConfigFile: /x}"):            `authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "/x": error loading file: stat /x: no such file or directory`,
		hook("connectionInfo: {type: KubeConfigFile, kubeConfigFile: /}"):             `authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "/": must be a regular file`,
		hook("connectionInfo: {type: KubeConfigFile, kubeConfigFile: " + empty + "}"): "invalid authorization config: invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable",
		hook("connectionInfo: {type: InClusterConfig}"):                               "invalid authorization config: authorizer a: kubesim does not run in a cluster: use the connection type KubeConfigFile",
		hook("connectionInfo: {type: InClusterConfig}, matchConditions: [{expression: ''}, {expression: '1'}, {expression: 'true'}, {expression: 'true'}]"): "[authorizers[0].matchConditionSubjectAccessReviewVersion: " +
			"Required value: required if match conditions are specified, authorizers[0].matchConditions[0].expression: Required value, " +
			`authorizers[0].matchConditions[1].expression: Invalid value: "1": must evaluate to bool but got int, authorizers[0].matchConditions[3].expression: Duplicate value: "true"]`,
	} {
		t.Run(text, func(t *testing.T) {
			is := is.New(t)
			file := filepath.Join(t.TempDir(), "authorization.yaml")
			write(t, file, text)
			_, err := fake.New(fake.Options{AuthorizationConfig: file})
			is.True(err != nil)
			if !strings.HasPrefix(err.Error(), want) {
				is.Equal(err.Error(), want)
			}
		})
	}
}

// TestFlagErrors checks the errors of flags that do not fit together. They are those of kube-apiserver 1.36.3.
func TestFlagErrors(t *testing.T) {
	t.Parallel()
	policy := filepath.Join(t.TempDir(), "policy")
	if err := os.WriteFile(policy, []byte("# c\n{\"user\":\"a\"}\n{nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		modes string
		flags config.Authorization
		want  string
	}{
		{"Webhook", config.Authorization{}, "authorization-mode Webhook's authorization config file not passed"},
		{"RBAC", config.Authorization{PolicyFile: "x", WebhookConfigFile: "y"},
			"[cannot specify --authorization-policy-file without mode ABAC, cannot specify --authorization-webhook-config-file without mode Webhook]"},
		{"ABAC", config.Authorization{PolicyFile: "/x"}, "invalid authorization config: open /x: no such file or directory"},
		{"ABAC", config.Authorization{PolicyFile: policy}, "invalid authorization config: error reading policy file " + policy +
			", line 3: {nonsense: couldn't get version/kind; json parse error: invalid character 'n' looking for beginning of object key string"},
		{"Webhook,Webhook", config.Authorization{WebhookConfigFile: policy}, `authorization-mode ["Webhook" "Webhook"] has mode specified more than once`},
	} {
		_, err := fake.New(fake.Options{Authorizers: strings.Split(c.modes, ","), Authorization: c.flags})
		is.New(t).Equal(fmt.Sprint(err), c.want)
	}
}

// TestPolicies checks the lines of a policy file, with and without a version.
func TestPolicies(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "policy")
	const versioned = `{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":%s}` + "\n"
	text := "# comment\n\n" + `{"namespace":"one","readonly":true}` + "\n" +
		fmt.Sprintf(versioned, `{"group":"dev","apiGroup":"apps","resource":"deployments","namespace":"*"}`) +
		fmt.Sprintf(versioned, `{"user":"*","nonResourcePath":"/healthz*"}`)
	is.NoErr(os.WriteFile(file, []byte(text), 0o600))
	srv := fake.RunT(t, fake.Options{Authorizers: []string{"ABAC"}, Authorization: config.Authorization{PolicyFile: file}})
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/api/v1/namespaces/one/pods", http.StatusOK},
		{"POST", "/api/v1/namespaces/one/pods", http.StatusForbidden},
		{"GET", "/api/v1/namespaces/two/pods", http.StatusForbidden},
		{"DELETE", "/apis/apps/v1/namespaces/two/deployments/x", http.StatusNotFound},
		{"GET", "/healthz/ping", http.StatusOK},
		{"GET", "/version", http.StatusForbidden},
	} {
		code, text := send(t, srv, "alicetoken", c.method, c.path, "")
		is.Equal(code, c.want)
		is.Equal(code == http.StatusForbidden, strings.Contains(text, ": No policy matched."))
	}
	code, rules := send(t, srv, "admintoken", "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
		`{"kind":"SelfSubjectRulesReview","apiVersion":"authorization.k8s.io/v1","spec":{"namespace":"one"}}`)
	is.Equal(code, http.StatusCreated)
	is.True(strings.Contains(rules, `"resourceRules":[{"verbs":["get","list","watch"],"apiGroups":["*"],"resources":["*"]}]`))
}
