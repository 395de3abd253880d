package authorization_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/object"
)

// hook is an authorizing webhook with TLS.
type hook struct {
	*httptest.Server
	kubeconfig string

	mu     sync.Mutex
	asked  []object.Object                                   // specs of the reviews
	answer func(w http.ResponseWriter, review object.Object) // if nil, it has no opinion
	header http.Header                                       // of the last request
	url    string
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	h.Server = httptest.NewTLSServer(h)
	t.Cleanup(h.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	text := fmt.Sprintf("clusters: [{name: c, cluster: {server: %s/authz, certificate-authority: %s}}]\nusers: [{name: u, user: {token: secret}}]\n"+
		"contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n", h.URL, ca)
	for name, data := range map[string][]byte{ca: certificate, h.kubeconfig: []byte(text)} { // order does not matter
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	review := object.Object{}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	h.asked = append(h.asked, review.At("spec"))
	h.header, h.url = r.Header, r.URL.String()
	answer := h.answer
	h.mu.Unlock()
	if answer == nil {
		answer = status(`{"allowed":false}`)
	}
	answer(w, review)
}

// status returns an answer with a status.
func status(text string) func(http.ResponseWriter, object.Object) {
	return func(w http.ResponseWriter, review object.Object) {
		review["status"] = json.RawMessage(text)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}
}

// set sets the answer of the webhook and forgets the reviews so far.
func (h *hook) set(answer func(http.ResponseWriter, object.Object)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer, h.asked = answer, nil
}

// specs returns the specs of the reviews since the last call of set.
func (h *hook) specs() []object.Object {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked
}

// configured returns a server with the webhook before RBAC. more are further fields of the webhook.
func configured(t *testing.T, h *hook, o fake.Options, more string) *fake.Server {
	t.Helper()
	if !strings.Contains(more, "failurePolicy") {
		more += ", failurePolicy: Deny"
	}
	o.AuthorizationConfig = filepath.Join(t.TempDir(), "authorization.yaml")
	write(t, o.AuthorizationConfig, fmt.Sprintf("authorizers:\n- type: Webhook\n  name: one\n  webhook: {timeout: 1s, "+
		"subjectAccessReviewVersion: v1, connectionInfo: {type: KubeConfigFile, kubeConfigFile: %s}, %s}\n- {type: RBAC, name: rbac}\n", h.kubeconfig, more))
	return fake.RunT(t, o)
}

const uncached = "cacheAuthorizedRequests: false, cacheUnauthorizedRequests: false"

// TestWebhookAnswers checks the responses of requests for each response of the webhook. The texts are those of kube-apiserver 1.36.3.
func TestWebhookAnswers(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	srv := configured(t, h, fake.Options{Clock: clock.System{}, Metrics: true}, uncached)
	text := func(code int, body string) func(http.ResponseWriter, object.Object) {
		return func(w http.ResponseWriter, _ object.Object) {
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}
	}
	const forbidden = `pods is forbidden: User \"alice\" cannot list resource \"pods\" in API group \"\" at the cluster scope`
	const failed = `Internal Server Error: "/api/v1/pods": `
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter, object.Object)
		code   int
		want   string
		calls  int
	}{
		{"no opinion", status(`{"allowed":false}`), 403, forbidden + `"`, 1},
		{"a reason", status(`{"allowed":false,"reason":"hm"}`), 403, forbidden + `: hm"`, 1},
		{"allowed", status(`{"allowed":true}`), 200, `"kind":"PodList"`, 1},
		{"denied", status(`{"allowed":false,"denied":true,"reason":"never"}`), 403, forbidden + `: never"`, 1},
		{"both", status(`{"allowed":true,"denied":true}`), 500, failed + "webhook subject access review returned both allow and deny response", 1},
		{"a text", text(200, "error response"), 500, failed + "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value " +
			`of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`, 1},
		{"code 403", text(403, "broken"), 500, failed + "broken", 1},
		{"another kind", func(w http.ResponseWriter, o object.Object) { o["kind"] = "TokenReview"; status(`{}`)(w, o) }, 500,
			failed + `no kind "TokenReview" is registered for version "authorization.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"`, 1},
		{"another version", func(w http.ResponseWriter, o object.Object) {
			o["apiVersion"] = "authorization.k8s.io/v1beta1"
			status(`{}`)(w, o)
		}, 500, failed + "converting (v1beta1.SubjectAccessReview) to (v1.SubjectAccessReview): unknown conversion", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			h.set(c.answer)
			code, body := send(t, srv, "alicetoken", "GET", "/api/v1/pods", "")
			is.Equal(code, c.code)
			is.True(strings.Contains(body, c.want))
			is.Equal(len(h.specs()), c.calls)
		})
	}
	is := is.New(t)
	is.Equal(h.url, "/authz?timeout=1s")
	is.Equal(h.header.Get("Authorization"), "Bearer secret")
	_, metrics := send(t, srv, "admintoken", "GET", "/metrics", "")
	is.True(strings.Contains(metrics, `apiserver_authorization_webhook_evaluations_total{name="one",result="success"} 5`+"\n"))
	is.True(strings.Contains(metrics, `apiserver_authorization_webhook_evaluations_total{name="one",result="error"} 4`+"\n"))
	is.True(strings.Contains(metrics, `apiserver_authorization_decisions_total{decision="denied",name="one",type="Webhook"} 6`+"\n"))
}

// TestWebhookReview checks the review that describes a request, in both versions.
func TestWebhookReview(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	const path = "/api/v1/namespaces/default/pods?labelSelector=a%3Db,c%20in%20(d,e),!z&fieldSelector=metadata.name%3Dx"
	const groups = `["dev","system:authenticated"]`
	const resource = `"resourceAttributes":{"fieldSelector":{"requirements":[{"key":"metadata.name","operator":"In","values":["x"]}]},"labelSelector":` +
		`{"requirements":[{"key":"a","operator":"In","values":["b"]},{"key":"c","operator":"In","values":["d","e"]},{"key":"z","operator":` +
		`"DoesNotExist"}]},"name":"x","namespace":"default","resource":"pods","verb":"list","version":"v1"},"uid":"alice-uid","user":"alice"}`
	for version, want := range map[string]string{"v1": `{"groups":` + groups + "," + resource, "v1beta1": `{"group":` + groups + "," + resource} {
		is := is.New(t)
		h.set(nil)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Authorizers: []string{"Webhook"},
			Authorization: config.Authorization{WebhookConfigFile: h.kubeconfig, WebhookVersion: version}})
		code, _ := send(t, srv, "alicetoken", "GET", path, "")
		is.Equal(code, http.StatusForbidden)
		is.Equal(len(h.specs()), 1)
		is.Equal(string(object.JSON(map[string]any(h.specs()[0]))), want)
	}
}

// TestWebhookCache checks that decisions are cached on the server's clock, and that each replica has its own cache.
func TestWebhookCache(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := newHook(t)
	srv := configured(t, h, fake.Options{Replicas: make([]fake.ReplicaOptions, 2)}, "authorizedTTL: 1m, unauthorizedTTL: 10s")
	list := func(replica int) {
		t.Helper()
		q, err := http.NewRequest("GET", srv.Replica(replica).URL()+"/api/v1/pods", nil)
		is.NoErr(err)
		q.Header.Set("Authorization", "Bearer alicetoken")
		res, err := (&http.Client{Transport: srv.Transport()}).Do(q)
		is.NoErr(err)
		is.NoErr(res.Body.Close())
	}
	for _, c := range []struct {
		answer  string
		replica int
		wait    time.Duration
		calls   int
	}{
		{`{"allowed":true}`, 1, 0, 1}, {"", 1, 59 * time.Second, 1}, {"", 2, 0, 2}, {"", 1, time.Second, 3},
		{`{"allowed":false}`, 1, time.Minute, 1}, {"", 1, 9 * time.Second, 1}, {"", 1, time.Second, 2},
	} {
		if c.answer != "" {
			h.set(status(c.answer))
		}
		srv.Clock.Advance(c.wait)
		list(c.replica)
		is.Equal(len(h.specs()), c.calls)
	}
}

// TestWebhookTimeout checks that the timeout is on the server's clock, that other requests are served meanwhile, and that
// failurePolicy decides.
func TestWebhookTimeout(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"Deny", "NoOpinion"} { // RBAC has no opinion, so that the error remains in both cases
		is := is.New(t)
		h := newHook(t)
		arrived, release := make(chan struct{}), make(chan struct{})
		h.set(func(http.ResponseWriter, object.Object) {
			close(arrived)
			<-release
		})
		srv := configured(t, h, fake.Options{Metrics: true}, "failurePolicy: "+policy)
		answers := make(chan string, 1)
		go func() { answers <- body(request(srv, "alicetoken", "GET", "/api/v1/pods", "")) }()
		<-arrived
		code, _ := send(t, srv, "admintoken", "GET", "/api/v1/pods", "") // is not blocked by the webhook
		is.Equal(code, http.StatusOK)
		srv.Clock.Advance(time.Second)
		is.Equal(<-answers, fmt.Sprintf("Internal Server Error: %q: Post %q: context deadline exceeded\n", "/api/v1/pods", h.URL+"/authz?timeout=1s"))
		close(release)
		_, metrics := send(t, srv, "admintoken", "GET", "/metrics", "")
		is.True(strings.Contains(metrics, `apiserver_authorization_webhook_evaluations_total{name="one",result="timeout"} 1`))
		is.Equal(strings.Contains(metrics, `apiserver_authorization_webhook_evaluations_fail_open_total{name="one",result="timeout"} 1`), policy == "NoOpinion")
	}
}

// TestWebhookRetry checks that a webhook is called again after a temporary error, on the server's clock.
func TestWebhookRetry(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := newHook(t)
	n := 0
	h.set(func(w http.ResponseWriter, review object.Object) {
		if n++; n < 3 {
			http.Error(w, "broken", http.StatusInternalServerError)
			return
		}
		status(`{"allowed":true}`)(w, review)
	})
	srv := configured(t, h, fake.Options{Clock: clock.System{}}, uncached)
	code, _ := send(t, srv, "alicetoken", "GET", "/api/v1/pods", "")
	is.Equal(code, http.StatusOK)
	is.Equal(n, 3)
}

// TestMatchConditions checks that conditions decide which requests a webhook receives, and that an error of a condition denies the
// request unless another condition does not hold.
func TestMatchConditions(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := newHook(t)
	srv := configured(t, h, fake.Options{Metrics: true}, `matchConditionSubjectAccessReviewVersion: v1, matchConditions: [`+
		`{expression: "request.resourceAttributes.resource == 'pods'"}, {expression: "request.resourceAttributes.namespace != 'other'"}]`)
	h.set(status(`{"allowed":true}`))
	for _, c := range []struct {
		path        string
		code, calls int
	}{
		{"/api/v1/namespaces/default/pods", http.StatusOK, 1},
		{"/api/v1/namespaces/default/configmaps", http.StatusForbidden, 1},
		{"/api/v1/namespaces/other/pods", http.StatusForbidden, 1},
		{"/metrics", http.StatusInternalServerError, 1}, // resourceAttributes is missing
	} {
		code, text := send(t, srv, "alicetoken", "GET", c.path, "")
		is.Equal(code, c.code)
		is.Equal(len(h.specs()), c.calls)
		if code == http.StatusInternalServerError {
			is.True(strings.Contains(text, "cel evaluation error: expression 'request.resourceAttributes.resource == 'pods'' resulted in error: no such key: resourceAttributes"))
		}
	}
	_, metrics := send(t, srv, "admintoken", "GET", "/metrics", "")
	is.True(strings.Contains(metrics, `apiserver_authorization_match_condition_exclusions_total{name="one",type="Webhook"} 2`+"\n"))
	is.True(strings.Contains(metrics, `apiserver_authorization_match_condition_evaluation_errors_total{name="one",type="Webhook"} 1`+"\n"))
}

// TestOneChain checks that the webhook decides about all permissions: in a review, for impersonation, against escalation, and
// in an expression of an admission policy, where each query is decided once in a request.
func TestOneChain(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := newHook(t)
	srv := configured(t, h, fake.Options{}, uncached)
	h.set(status(`{"allowed":false,"denied":true,"reason":"never"}`))
	code, text := send(t, srv, "admintoken", "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", `{"kind":"SubjectAccessReview",`+
		`"apiVersion":"authorization.k8s.io/v1","spec":{"user":"bob","resourceAttributes":{"verb":"get","resource":"pods","labelSelector":{"rawSelector":"a in (b"}}}}`)
	is.Equal(code, http.StatusCreated)
	is.True(strings.Contains(text, `"status":{"allowed":false,"denied":true,"reason":"never","evaluationError":"spec.resourceAttributes.labelSelector ignored due to parse error"}`))

	const verb = "authorizer.requestResource.check('approve')"
	for _, c := range []struct{ path, body string }{
		{"validatingadmissionpolicies", `{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],` +
			`"operations":["CREATE"],"resources":["configmaps"]}]},"validations":[{"expression":"` + verb + `.reason() == '1' && ` + verb + `.reason() == '1'"}]}}`},
		{"validatingadmissionpolicybindings", `{"metadata":{"name":"p"},"spec":{"policyName":"p","validationActions":["Deny"]}}`},
	} {
		code, _ = send(t, srv, "admintoken", "POST", "/apis/admissionregistration.k8s.io/v1/"+c.path, c.body)
		is.Equal(code, http.StatusCreated)
	}
	srv.Clock.Advance(time.Second)
	n := 0
	h.set(func(w http.ResponseWriter, review object.Object) {
		answer := `{"allowed":true}`
		switch review.String("spec", "resourceAttributes", "verb") {
		case "approve":
			n++
			answer = fmt.Sprintf(`{"allowed":true,"reason":"%d"}`, n)
		case "escalate", "impersonate-on:user-info:list":
			answer = `{"denied":true,"reason":"never"}`
		}
		status(answer)(w, review)
	})
	code, _ = send(t, srv, "alicetoken", "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	is.Equal(code, http.StatusCreated)
	is.Equal(n, 1)
	code, text = send(t, srv, "alicetoken", "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
		`{"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}]}`)
	is.Equal(code, http.StatusForbidden)
	is.True(strings.Contains(text, "is attempting to grant RBAC permissions not currently held"))
}
