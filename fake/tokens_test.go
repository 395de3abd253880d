package fake_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/matryer/is"
)

// A token of a service account is good for requests and reviews until it expires or its account is gone.
func TestServiceAccountTokens(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Auth: auth.RBAC})
	c := client{t, srv}
	as := func(token, method, path, body string) (int, object.Object) {
		t.Helper()
		r, err := http.NewRequestWithContext(context.Background(), method, srv.URL()+path, strings.NewReader(body))
		is.NoErr(err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		res, err := srv.Transport().RoundTrip(r)
		is.NoErr(err)
		defer res.Body.Close()
		return res.StatusCode, c.parse(read(t, res.Body))
	}
	code, _ := as(adminToken, "POST", "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"robot"}}`)
	is.Equal(code, http.StatusCreated)
	code, answer := as(adminToken, "POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", `{"spec":{"expirationSeconds":600}}`)
	is.Equal(code, http.StatusCreated)
	token := answer.String("status", "token")

	code, answer = as(token, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`)
	is.Equal(code, http.StatusCreated)
	is.Equal(answer.String("status", "userInfo", "username"), "system:serviceaccount:default:robot") // who the token says it is
	code, _ = as(token, "GET", "/api/v1/namespaces/default/pods", "")
	is.Equal(code, http.StatusForbidden) // known, but without rights
	_, answer = as(adminToken, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"`+token+`"}}`)
	good, _ := answer.Bool("status", "authenticated")
	is.True(good) // a review agrees
	code, _ = as(token[:len(token)-4]+"AAAA", "GET", "/api/v1/namespaces/default/pods", "")
	is.Equal(code, http.StatusUnauthorized) // a changed signature is nobody's

	review := func() string {
		_, answer := as(adminToken, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"`+token+`"}}`)
		return answer.String("status", "error")
	}
	srv.Clock.Advance(11 * time.Minute)
	code, _ = as(token, "GET", "/api/v1/namespaces/default/pods", "")
	is.Equal(code, http.StatusForbidden) // ten minutes, and one in which clocks may differ
	srv.Clock.Advance(time.Second)
	code, _ = as(token, "GET", "/api/v1/namespaces/default/pods", "")
	is.Equal(code, http.StatusUnauthorized) // now it has expired
	is.Equal(review(), "[invalid bearer token, service account token has expired]")
}

// A kubeconfig names a listener of the server and a token it accepts.
func TestKubeConfig(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Auth: auth.RBAC})
	config, err := srv.KubeConfig()
	is.NoErr(err)
	for _, want := range []string{"server: https://127.0.0.1:", "token: admintoken", "certificate-authority-data: "} {
		is.True(strings.Contains(string(config), want)) // what kubectl needs
	}
	again, err := srv.KubeConfig()
	is.NoErr(err)
	is.Equal(string(again), string(config)) // the listener stays
}

// A token that is kept in a Secret is good while Secret and account are there; its use is noted on the Secret, and whoever
// uses one that a controller made is warned.
func TestSecretTokens(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Auth: auth.RBAC})
	c := &caller{t: t, url: srv.URL(), client: &http.Client{Transport: srv.Transport()}, header: http.Header{}}
	as := func(token string) { c.header.Set("Authorization", "Bearer "+token) }
	write := func(method, path, body string) object.Object {
		t.Helper()
		as(adminToken)
		code, text := c.do(method, "/api/v1/namespaces/default/"+path, body)
		is.True(code < 300)
		obj, err := object.Parse([]byte(text))
		is.NoErr(err)
		return obj
	}
	account := write("POST", "serviceaccounts", `{"metadata":{"name":"robot"},"secrets":[{"name":"robot-token"}]}`)
	controller, err := token.New(token.Options{Issuers: []string{"kubernetes/serviceaccount"}}) // it signs with the key that servers know
	is.NoErr(err)
	const claim = "kubernetes.io/serviceaccount/"
	text := controller.Sign(map[string]any{"sub": "system:serviceaccount:default:robot", claim + "namespace": "default",
		claim + "secret.name": "robot-token", claim + "service-account.name": "robot", claim + "service-account.uid": account.UID()})
	as(text)
	code, _ := c.who()
	is.Equal(code, http.StatusUnauthorized) // there is no such Secret

	write("POST", "secrets", `{"metadata":{"name":"robot-token","annotations":{"kubernetes.io/service-account.name":"robot"}},`+
		`"type":"kubernetes.io/service-account-token","data":{"token":"`+base64.StdEncoding.EncodeToString([]byte(text))+`"}}`)
	as(text)
	_, who := c.who()
	is.Equal(who, "system:serviceaccount:default:robot system:serviceaccounts,system:serviceaccounts:default,system:authenticated")
	r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL()+"/version", nil)
	is.NoErr(err)
	r.Header = c.header
	res, err := srv.Transport().RoundTrip(r)
	is.NoErr(err)
	res.Body.Close()
	is.Equal(res.Header["Warning"], []string{`299 - "Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens."`})
	used := func() string {
		return write("GET", "secrets/robot-token", "").Labels()["kubernetes.io/legacy-token-last-used"]
	}
	is.Equal(used(), "2026-01-01") // the server's date
	srv.Clock.Advance(25 * time.Hour)
	as(adminToken)
	code, answer := c.do("POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"`+text+`"}}`)
	is.Equal(code, http.StatusCreated)
	is.True(strings.HasSuffix(answer, `"spec":{"token":"`+text+`"},"status":{"authenticated":true,"user":{"username":"system:serviceaccount:default:robot","uid":"`+
		account.UID()+`","groups":["system:serviceaccounts","system:serviceaccounts:default","system:authenticated"]},"audiences":["https://kubernetes.default.svc"]}}`+"\n"))
	is.Equal(used(), "2026-01-02") // a review is a use

	write("DELETE", "secrets/robot-token", "")
	as(text)
	code, _ = c.who()
	is.Equal(code, http.StatusUnauthorized)
}
