package fake_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// nodeRequest is a line of testdata/node/requests.jsonl: a request, and the response of a real kube-apiserver v1.36.3 with
// --authorization-mode=Node,RBAC and --enable-admission-plugins=NodeRestriction.
type nodeRequest struct {
	Token, Method, Path, ContentType, Message string
	Body                                      json.RawMessage
	Code                                      int
}

// TestNodeRestriction sends the requests of two kubelets, and compares which of them are refused, and why. The uids of some objects are
// placeholders in the recording.
func TestNodeRestriction(t *testing.T) {
	t.Parallel()
	node := func(name string) auth.Token {
		return auth.Token{Token: name, User: resource.User{Name: "system:node:" + strings.TrimPrefix(name, "nobody"), UID: name + "-uid", Groups: []string{"system:nodes"}}}
	}
	srv := fake.RunT(t, fake.Options{Authorizers: []string{"Node", "RBAC"}, Plugins: []string{"NodeRestriction"},
		Tokens: append(auth.DefaultTokens(), node("n1"), node("n2"), node("nobody"))})
	uids := map[string]string{}
	for line := range strings.Lines(readText(t, "testdata/node/requests.jsonl")) {
		var q nodeRequest
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			t.Fatal(err)
		}
		code, answer := q.send(t, srv, uids)
		switch q.Method + " " + answer.Kind + " " + answer.Metadata.Name {
		case "POST Node n1":
			uids["UID"] = answer.Metadata.UID
		case "POST Pod p1":
			uids["PODUID"] = answer.Metadata.UID
		case "POST Pod p2":
			uids["P2UID"] = answer.Metadata.UID
		}
		if q.Code == 0 || strings.HasSuffix(q.Path, "reviews") {
			continue // it prepares the others, or its response is no Status
		}
		for name, uid := range uids { // order does not matter: the uids are distinct
			answer.Message = strings.ReplaceAll(answer.Message, uid, name)
		}
		if code != q.Code || answer.Message != q.Message {
			t.Errorf("%s %s %s\nhave %d %s\nwant %d %s", q.Token, q.Method, q.Path, code, answer.Message, q.Code, q.Message)
		}
	}
}

// nodeAnswer is the part of a response that TestNodeRestriction reads.
type nodeAnswer struct {
	Kind, Message string
	Metadata      struct{ Name, UID string }
}

// send sends the request with the uids in place of their placeholders.
func (q *nodeRequest) send(t *testing.T, srv *fake.Server, uids map[string]string) (code int, answer nodeAnswer) {
	t.Helper()
	body := []byte(q.Body)
	for name, uid := range uids { // order does not matter: the quotes delimit the placeholders
		body = bytes.ReplaceAll(body, []byte(`"`+name+`"`), []byte(`"`+uid+`"`))
	}
	r, err := http.NewRequest(q.Method, srv.URL()+q.Path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+q.Token)
	if q.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.ContentType != "" {
		r.Header.Set("Content-Type", q.ContentType)
	}
	res, err := srv.Transport().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if strings.Contains(q.Path, "watch=") && res.StatusCode == http.StatusOK {
		return res.StatusCode, answer
	}
	text, _ := io.ReadAll(res.Body)
	_ = json.Unmarshal(text, &answer) // other responses than objects have neither a kind nor a message
	return res.StatusCode, answer
}

// TestSignersOfNodes checks that a kubelet of 1.37 may request a certificate only from a signer that its pod names. Older servers go on to
// the validation of the request, which has no key.
func TestSignersOfNodes(t *testing.T) {
	for version, want := range map[string]int{"1.36": http.StatusUnprocessableEntity, "1.37": http.StatusForbidden} {
		served := map[string]string{"1.36": "v1beta1", "1.37": "v1"}[version]
		srv := fake.RunT(t, fake.Options{Authorizers: []string{"Node", "RBAC"}, Plugins: []string{"NodeRestriction"}, Replicas: []fake.ReplicaOptions{{Version: version,
			Serve: map[string]bool{"certificates.k8s.io/" + served: true}, FeatureGates: map[string]bool{"PodCertificateRequest": true}}}})
		post := func(by *fake.Identity, path, body string) (int, object.Object) {
			r, err := http.NewRequest(http.MethodPost, srv.URL()+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			res, err := by.Transport().RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			return res.StatusCode, client{t, srv}.parse(read(t, res.Body))
		}
		admin := srv.As("admin", "system:masters")
		_, account := post(admin, inCore+"serviceaccounts", `{"metadata":{"name":"a"}}`)
		_, node := post(admin, "/api/v1/nodes", `{"metadata":{"name":"n1"}}`)
		_, pod := post(admin, inPods, `{"metadata":{"name":"p"},"spec":{"nodeName":"n1","serviceAccountName":"a",`+oneContainer+`}}`)
		code, answer := post(srv.As("system:node:n1", "system:nodes"), "/apis/certificates.k8s.io/"+served+"/namespaces/default/podcertificaterequests",
			`{"metadata":{"name":"r"},"spec":{"signerName":"example.com/s","podName":"p","podUID":"`+pod.UID()+`","serviceAccountName":"a",
			"serviceAccountUID":"`+account.UID()+`","nodeName":"n1","nodeUID":"`+node.UID()+`"}}`)
		text := answer.String("message")
		if code != want || (want == http.StatusForbidden) != strings.Contains(text, "does not mount a podCertificate projected volume") {
			t.Errorf("%s: %d %s", version, code, text)
		}
	}
}
