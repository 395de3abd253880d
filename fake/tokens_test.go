package fake_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
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
