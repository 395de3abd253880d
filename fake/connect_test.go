package fake_test

import (
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
)

// connectHook registers a webhook of a kind for CONNECT on subresources of pods.
func connectHook(c client, kind, name string) {
	c.must("POST", "/apis/admissionregistration.k8s.io/v1/"+strings.ToLower(kind)+"s", `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"`+kind+`",
		"metadata":{"name":"`+name+`"},"webhooks":[{"name":"`+name+`","clientConfig":{"url":"https://127.0.0.1"},"sideEffects":"None","admissionReviewVersions":["v1"],
		"rules":[{"operations":["CONNECT"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods/*"]}]}]}`)
}

// output runs a command in a pod and returns its output, or the response if the request is rejected.
func output(t *testing.T, dial func() net.Conn, path, token string) (string, *http.Response) {
	t.Helper()
	conn, res := upgrade(t, dial, path, http.Header{"Authorization": {"Bearer " + token}}, "v5.channel.k8s.io")
	text := ""
	for conn != nil {
		kind, data, err := conn.ReadMessage()
		if err != nil {
			break
		}
		if kind == websocket.BinaryMessage && data[0] == 1 {
			text += string(data[1:])
		}
	}
	return text, res
}

// TestConnectIsAdmitted checks that webhooks see the options of a stream and may change or reject them.
func TestConnectIsAdmitted(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.NewManual(clock.Epoch()), Nodes: 1})
	c := client{t, srv}
	c.bound("web", `"containers":[{"name":"c","image":"nginx"}]`)
	srv.Clock.Advance(time.Second)
	connectHook(c, "MutatingWebhookConfiguration", "change.example.com")
	connectHook(c, "ValidatingWebhookConfiguration", "check.example.com")
	var reviews []string
	see := func(review fake.AdmissionReview) map[string]any {
		request := review["request"].(map[string]any)
		delete(request, "uid")
		text, err := json.Marshal(request)
		is.NewRelaxed(t).NoErr(err)
		reviews = append(reviews, string(text))
		return request["object"].(map[string]any)
	}
	srv.Admit("change.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
		see(review)
		patch := base64.StdEncoding.EncodeToString([]byte(`[{"op":"replace","path":"/command/1","value":"changed"}]`))
		review["response"] = map[string]any{"allowed": true, "patchType": "JSONPatch", "patch": patch}
		return review
	})
	allowed := true
	srv.Admit("check.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
		is.NewRelaxed(t).Equal(see(review)["kind"], "PodExecOptions")
		review["response"] = map[string]any{"allowed": allowed, "status": map[string]any{"message": "not today"}}
		return review
	})
	for _, dial := range carriers(t, srv) {
		reviews, allowed = nil, true
		text, _ := output(t, dial, inPods+"/web/exec?command=echo&command=hi&stdout=1&tty=false", "admintoken")
		is.Equal(text, "changed\n")
		is.Equal(len(reviews), 2)
		// The review equals a real server's review, except for the user.
		is.True(strings.HasPrefix(reviews[0], `{"dryRun":false,"kind":{"group":"","kind":"PodExecOptions","version":"v1"},"name":"web","namespace":"default",`+
			`"object":{"apiVersion":"v1","command":["echo","hi"],"kind":"PodExecOptions","stdout":true},"oldObject":null,"operation":"CONNECT","options":null,`+
			`"requestKind":{"group":"","kind":"PodExecOptions","version":"v1"},"requestResource":{"group":"","resource":"pods","version":"v1"},`+
			`"requestSubResource":"exec","resource":{"group":"","resource":"pods","version":"v1"},"subResource":"exec","userInfo":`))
		is.True(strings.Contains(reviews[1], `"command":["echo","changed"]`))

		allowed = false
		_, res := output(t, dial, inPods+"/web/exec?command=echo&command=hi&stdout=1", "admintoken")
		is.Equal(res.StatusCode, http.StatusBadRequest)
	}
}

// TestStreamsNeedCreate checks that a user with permission only to get pods/exec cannot run a command over a WebSocket.
func TestStreamsNeedCreate(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.NewManual(clock.Epoch()), Nodes: 1, Auth: auth.RBAC})
	l, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	c := target{t, l.URL(), "admintoken"}
	c.must("POST", inPods, `{"metadata":{"name":"web"},"spec":{"nodeName":"node-1","containers":[{"name":"c","image":"nginx"}]}}`)
	srv.Clock.Advance(time.Second)
	const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/"
	c.must("POST", rbac+"rolebindings", `{"metadata":{"name":"r"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},
		"subjects":[{"kind":"User","name":"alice","apiGroup":"rbac.authorization.k8s.io"}]}`)
	for _, verbs := range []string{`["get"]`, `["get","create"]`} {
		c.do("DELETE", rbac+"roles/r", "")
		c.must("POST", rbac+"roles", `{"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["pods/exec"],"verbs":`+verbs+`}]}`)
		for _, dial := range carriers(t, srv) {
			text, res := output(t, dial, inPods+"/web/exec?command=echo&command=hi&stdout=1", "alicetoken")
			if strings.Contains(verbs, "create") {
				is.Equal(text, "hi\n")
			} else {
				is.Equal(res.StatusCode, http.StatusForbidden)
			}
		}
	}
}
