package fake_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller/account"
)

const inSystemSecrets = "/api/v1/namespaces/kube-system/secrets"

// bootstrapToken creates the Secret of a bootstrap token that can be used for everything. Fields replace its data.
func (c client) bootstrapToken(id string, fields ...string) {
	c.t.Helper()
	data := map[string]string{"token-id": id, "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true"}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		data[name] = value
	}
	var b strings.Builder
	for name, value := range data { // order does not matter: it is an object
		fmt.Fprintf(&b, `%q:%q,`, name, base64.StdEncoding.EncodeToString([]byte(value)))
	}
	c.must("POST", inSystemSecrets, `{"metadata":{"name":"bootstrap-token-`+id+`"},"type":"bootstrap.kubernetes.io/token","data":{`+strings.TrimSuffix(b.String(), ",")+`}}`)
}

// TestBootstrapTokens checks which bootstrap tokens identify a user.
func TestBootstrapTokens(t *testing.T) {
	is := is.New(t)
	for _, on := range []bool{true, false} {
		srv := fake.RunT(t, fake.Options{Clock: clock.NewManual(clock.Epoch()), BootstrapTokens: on})
		admin := client{t, srv}
		admin.bootstrapToken("aaaaaa")
		admin.bootstrapToken("bbbbbb", "auth-extra-groups=system:bootstrappers:b,system:bootstrappers:a,system:bootstrappers:b")
		admin.bootstrapToken("cccccc", "auth-extra-groups=other")
		admin.bootstrapToken("dddddd", "usage-bootstrap-authentication=yes")
		admin.bootstrapToken("eeeeee", "expiration="+clock.Epoch().Add(time.Minute).Format(time.RFC3339))
		admin.bootstrapToken("ffffff", "expiration=tomorrow")
		admin.bootstrapToken("gggggg", "token-id=hhhhhh")
		review := func(text string) string {
			s := admin.must("POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"`+text+`"}}`).At("status")
			if !s.True("authenticated") {
				return s.String("error")
			}
			return fmt.Sprint(s.String("user", "username"), " ", s.Strings("user", "groups"))
		}
		for text, want := range map[string]string{ // order does not matter
			"aaaaaa.0123456789abcdef": "system:bootstrap:aaaaaa [system:bootstrappers system:authenticated]",
			"bbbbbb.0123456789abcdef": "system:bootstrap:bbbbbb [system:bootstrappers system:bootstrappers:a system:bootstrappers:b system:authenticated]",
			"eeeeee.0123456789abcdef": "system:bootstrap:eeeeee [system:bootstrappers system:authenticated]",
			"aaaaaa.0123456789abcdee": "", "cccccc.0123456789abcdef": "", "dddddd.0123456789abcdef": "", "ffffff.0123456789abcdef": "",
			"gggggg.0123456789abcdef": "", "zzzzzz.0123456789abcdef": "", "aaaaaa.0123456789abcdeF": "",
		} {
			if want == "" || !on {
				want = "invalid bearer token"
			}
			is.Equal(review(text), want)
		}
		srv.Clock.Advance(time.Minute)
		is.Equal(review("eeeeee.0123456789abcdef"), "invalid bearer token") // it has expired
	}
}

// TestBootstrapControllers checks the signatures of cluster-info, and that expired tokens are deleted.
func TestBootstrapControllers(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{Clock: clock.NewManual(clock.Epoch()), Controllers: []string{account.BootstrapSigner, account.TokenCleaner}})}
	const info = "/api/v1/namespaces/kube-public/configmaps"
	signed := func() string {
		is.NoErr(c.srv.Settle(t.Context()))
		data := c.must("GET", info+"/cluster-info", "").Map("data")
		return fmt.Sprint(len(data)-1, " ", data["jws-kubeconfig-aaaaaa"])
	}
	c.bootstrapToken("aaaaaa", "expiration="+clock.Epoch().Add(time.Hour).Format(time.RFC3339))
	c.bootstrapToken("bbbbbb", "usage-bootstrap-signing=false")
	c.must("POST", info, `{"metadata":{"name":"cluster-info"},"data":{"kubeconfig":"a: b\n","jws-kubeconfig-zzzzzz":"old"}}`)
	is.Equal(signed(), "1 eyJhbGciOiJIUzI1NiIsImtpZCI6ImFhYWFhYSJ9..M6yrlsP81Wa67NRCenCVV3ITsB4X8ukkGZIL0WbydiE")
	c.mergePatch(inSystemSecrets+"/bootstrap-token-bbbbbb", `{"data":{"usage-bootstrap-signing":"dHJ1ZQ=="}}`)
	is.True(strings.HasPrefix(signed(), "2 "))
	c.must("GET", inSystemSecrets+"/bootstrap-token-aaaaaa", "")
	c.srv.Clock.Advance(time.Hour)
	is.Equal(signed(), "1 <nil>")
	code, _ := c.do("GET", inSystemSecrets+"/bootstrap-token-aaaaaa", "")
	is.Equal(code, 404)
}
