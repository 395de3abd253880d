package fake_test

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
)

// TestNamespaceIsFurnished checks that each namespace has a service account and the CA certificate, including
// namespaces that existed before the controllers started.
func TestNamespaceIsFurnished(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
		for _, ns := range []string{"default", "kube-system", "n"} {
			is.Equal(c.names("/api/v1/namespaces/"+ns+"/serviceaccounts"), []string{"default"})
			c.must("GET", "/api/v1/namespaces/"+ns+"/configmaps/kube-root-ca.crt", "")
		}
		c.must("DELETE", "/api/v1/namespaces/n/serviceaccounts/default", "")
		c.must("DELETE", "/api/v1/namespaces/n/configmaps/kube-root-ca.crt", "")
		is.Equal(c.names("/api/v1/namespaces/n/serviceaccounts"), []string{"default"})
		c.mergePatch("/api/v1/namespaces/n/configmaps/kube-root-ca.crt", `{"data":{"ca.crt":"another"}}`)
		is.Equal(c.must("GET", "/api/v1/namespaces/n/configmaps/kube-root-ca.crt", "").String("data", "ca.crt"), "")
	})
}

// TestRootCA checks that a server with TLS publishes its certificate.
func TestRootCA(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Controllers: controller.All})
	l, err := srv.Listen(fake.ListenOptions{TLS: true})
	is.NoErr(err)
	c := client{t, srv}
	is.Equal(c.must("GET", "/api/v1/namespaces/default/configmaps/kube-root-ca.crt", "").String("data", "ca.crt"), string(l.CA()))
}

// TestTokenSecret checks that a Secret for a service account gets a token that the API server accepts, and is deleted
// with the account.
func TestTokenSecret(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inCore+"serviceaccounts", `{"metadata":{"name":"bot"},"secrets":[{"name":"t"}]}`)
		const secret = `{"metadata":{"name":"t","annotations":{"kubernetes.io/service-account.name":"bot"}},"type":"kubernetes.io/service-account-token"}`
		c.must("POST", inCore+"secrets", secret)
		s := c.must("GET", inCore+"secrets/t", "")
		is.Equal(s.String("data", "namespace"), base64.StdEncoding.EncodeToString([]byte("default")))
		token, err := base64.StdEncoding.DecodeString(s.String("data", "token"))
		is.NoErr(err)
		review := c.must("POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"`+string(token)+`"}}`)
		is.Equal(review.String("status", "user", "username"), "system:serviceaccount:default:bot")
		c.must("DELETE", inCore+"secrets/t", "")
		is.Equal(len(c.must("GET", inCore+"serviceaccounts/bot", "").List("secrets")), 0) // the account no longer refers to it
		c.must("POST", inCore+"secrets", secret)
		c.must("DELETE", inCore+"serviceaccounts/bot", "")
		is.Equal(len(c.names(inCore+"secrets")), 0)
		c.must("POST", inCore+"secrets", secret)
		is.Equal(len(c.names(inCore+"secrets")), 0) // the account does not exist
	})
}

// TestLegacyTokens checks that legacy tokens that were generated for a service account are marked after a year without
// use. They are deleted a year later unless a pod mounts them.
func TestLegacyTokens(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{Controllers: controller.All})}
	const day = 24 * time.Hour
	c.must("POST", inCore+"serviceaccounts", `{"metadata":{"name":"bot"},"secrets":[{"name":"old"},{"name":"mounted"}]}`)
	for _, name := range []string{"old", "mounted", "manual"} { // the account does not list the secret that was created manually
		c.must("POST", inCore+"secrets", `{"metadata":{"name":"`+name+`","annotations":{"kubernetes.io/service-account.name":"bot"}},"type":"kubernetes.io/service-account-token"}`)
	}
	c.must("POST", inPods, `{"metadata":{"name":"p"},"spec":{"volumes":[{"name":"v","secret":{"secretName":"mounted"}}],`+oneContainer+`}}`)
	since := func() string {
		return c.must("GET", inCore+"secrets/old", "").Labels()["kubernetes.io/legacy-token-invalid-since"]
	}
	c.srv.Clock.Advance(365 * day)
	is.Equal(since(), "")
	c.srv.Clock.Advance(2 * day)
	is.Equal(since(), "2027-01-02")
	c.srv.Clock.Advance(364 * day)
	is.Equal(c.names(inCore+"secrets"), []string{"manual", "mounted", "old"})
	c.srv.Clock.Advance(2 * day)
	is.Equal(c.names(inCore+"secrets"), []string{"manual", "mounted"})
}
