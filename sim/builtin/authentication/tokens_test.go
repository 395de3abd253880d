package authentication

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
)

// claimsOf returns the claims of a token.
func claimsOf(t *testing.T, text string) string {
	t.Helper()
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		t.Fatalf("%s is no JSON Web Token", text)
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	return string(claims)
}

func TestTokenClaims(t *testing.T) {
	t.Parallel()
	objects := map[string]string{
		"serviceaccounts/sa": `{"metadata":{"name":"sa","namespace":"ns","uid":"u"}}`,
		"pods/p":             `{"metadata":{"name":"p","uid":"pu"},"spec":{"serviceAccountName":"sa","nodeName":"n"}}`,
		"pods/lost":          `{"metadata":{"name":"lost","uid":"lu"},"spec":{"serviceAccountName":"sa","nodeName":"gone"}}`,
		"secrets/s":          `{"metadata":{"name":"s","uid":"su"}}`,
		"nodes/n":            `{"metadata":{"name":"n","uid":"nu"}}`,
	}
	const (
		head = `"iat":1767323045,"iss":"https://kubernetes.default.svc","jti":"uid-1","kubernetes.io":{"namespace":"ns",`
		sa   = `"serviceaccount":{"name":"sa","uid":"u"}`
		tail = `},"nbf":1767323045,"sub":"system:serviceaccount:ns:sa"}`
	)
	own := `{"aud":["https://kubernetes.default.svc"],"exp":`
	for _, tc := range []struct{ name, spec, want string }{
		{"default", `{"expirationSeconds":3600}`, own + `1767326645,` + head + sa + tail},
		{"audience", `{"audiences":["a","b"],"expirationSeconds":600}`, `{"aud":["a","b"],"exp":1767323645,` + head + sa + tail},
		{"pod", `{"expirationSeconds":600,"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":"p"}}`,
			own + `1767323645,` + head + `"node":{"name":"n","uid":"nu"},"pod":{"name":"p","uid":"pu"},` + sa + tail},
		{"pod of the kubelet", `{"expirationSeconds":3607,"boundObjectRef":{"kind":"Pod","name":"lost","uid":"lu"}}`,
			own + `1798859045,` + head + `"node":{"name":"gone"},"pod":{"name":"lost","uid":"lu"},` + sa + `,"warnafter":1767326652` + tail},
		{"secret", `{"expirationSeconds":600,"boundObjectRef":{"kind":"Secret","name":"s"}}`,
			own + `1767323645,` + head + `"secret":{"name":"s","uid":"su"},` + sa + tail},
		{"node", `{"expirationSeconds":600,"boundObjectRef":{"kind":"Node","name":"n"}}`,
			own + `1767323645,` + head + `"node":{"name":"n","uid":"nu"},` + sa + tail},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			body := `{"kind":"TokenRequest","spec":` + tc.spec + `}`
			answer, s := kindtest.NewStore(t, objects).Connect(IssueToken, "sa", body)
			is.Equal(s, nil)
			is.Equal(answer.Name()+" "+answer.Namespace()+" "+answer.UID(), "sa ns u")
			token := answer.String("status", "token")
			is.Equal(claimsOf(t, token), tc.want)

			again, _ := kindtest.NewStore(t, objects).Connect(IssueToken, "sa", body)
			is.Equal(again.String("status", "token"), token) // the same seed and request, the same bytes
		})
	}
}

func TestTokenRefusals(t *testing.T) {
	t.Parallel()
	objects := map[string]string{
		"serviceaccounts/sa": `{"metadata":{"name":"sa","namespace":"ns","uid":"u"}}`,
		"pods/p":             `{"metadata":{"name":"p","uid":"pu"},"spec":{"serviceAccountName":"other"}}`,
		"secrets/s":          `{"metadata":{"name":"s","uid":"su"}}`,
	}
	for _, tc := range []struct {
		name, account, body string
		code                int
		message             string
	}{
		{"too short", "sa", `{"spec":{"expirationSeconds":60}}`, 422,
			`TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes`},
		{"too long", "sa", `{"spec":{"expirationSeconds":4294967297}}`, 422,
			`TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`},
		{"name", "sa", `{"metadata":{"name":"x"}}`, 422,
			`TokenRequest.authentication.k8s.io "sa" is invalid: metadata.name: Invalid value: "x": must match the service account name if specified`},
		{"uid", "sa", `{"metadata":{"uid":"x"}}`, 409, `Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "sa": ` +
			`the UID in the token request (x) does not match the UID of the service account (u)`},
		{"no account", "none", `{}`, 404, `serviceaccounts "none" not found`},
		{"no pod", "sa", `{"spec":{"expirationSeconds":600,"boundObjectRef":{"kind":"Pod","name":"x"}}}`, 404, `pods "x" not found`},
		{"another's pod", "sa", `{"spec":{"expirationSeconds":600,"boundObjectRef":{"kind":"Pod","name":"p"}}}`, 400,
			`cannot bind token for serviceaccount "sa" to pod running with different serviceaccount name.`},
		{"kind", "sa", `{"spec":{"expirationSeconds":600,"boundObjectRef":{"apiVersion":"apps/v1","kind":"Pod","name":"p"}}}`, 400,
			`cannot bind token to object of type apps/v1, Kind=Pod`},
		{"uid of the object", "sa", `{"spec":{"expirationSeconds":600,"boundObjectRef":{"kind":"Secret","name":"s","uid":"x"}}}`, 409,
			`Operation cannot be fulfilled on Secret "s": the UID in the bound object reference (x) does not match the UID in record. ` +
				`The object might have been deleted and then recreated`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			_, s := kindtest.NewStore(t, objects).Connect(IssueToken, tc.account, tc.body)
			is.Equal(s.Code, tc.code)
			is.Equal(s.Message, tc.message)
		})
	}
}

// TestTokenLimits checks the options for tokens: their lifetime, the extended lifetime of kubelets' tokens, and their
// issuers.
func TestTokenLimits(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	objects := map[string]string{
		"serviceaccounts/sa": `{"metadata":{"name":"sa","namespace":"ns","uid":"u"}}`,
		"pods/p":             `{"metadata":{"name":"p","uid":"pu"},"spec":{"serviceAccountName":"sa"}}`,
	}
	c := kindtest.NewStore(t, objects)
	var err error
	c.Tokens, err = token.New(token.Options{Issuers: []string{"https://a", "https://b"}, Audiences: []string{"x", "y"}, MaxExpiration: time.Hour})
	is.NoErr(err)
	answer, s := c.Connect(IssueToken, "sa", `{"spec":{"expirationSeconds":7200}}`)
	is.Equal(s, nil)
	is.Equal(c.Warnings, []string{"requested expiration of 7200 seconds shortened to 3600 seconds"})
	is.Equal(answer.Int64("spec", "expirationSeconds"), int64(3600))
	is.Equal(answer.String("status", "expirationTimestamp"), "2026-01-02T04:04:05Z")
	is.Equal(claimsOf(t, answer.String("status", "token")), `{"aud":["x","y"],"exp":1767326645,"iat":1767323045,"iss":"https://a","jti":"uid-1",`+
		`"kubernetes.io":{"namespace":"ns","serviceaccount":{"name":"sa","uid":"u"}},"nbf":1767323045,"sub":"system:serviceaccount:ns:sa"}`)

	const kubelet = `{"spec":{"expirationSeconds":3607,"audiences":["y"],"boundObjectRef":{"kind":"Pod","name":"p"}}}`
	for _, o := range []token.Options{{Audiences: []string{"x", "y"}}, {Audiences: []string{"x", "y"}, NoExtendExpiration: true}, {}} {
		c := kindtest.NewStore(t, objects)
		c.Tokens, err = token.New(o)
		is.NoErr(err)
		answer, s = c.Connect(IssueToken, "sa", kubelet)
		is.Equal(s, nil)
		extended := strings.Contains(claimsOf(t, answer.String("status", "token")), `"exp":1798859045`)
		is.Equal(extended, o.Audiences != nil && !o.NoExtendExpiration) // only for the API server's audience, and unless disabled
	}
}

func TestTokenDefaults(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	request := object.Object{}
	DefaultTokenRequest(request)
	is.Equal(request.Int64("spec", "expirationSeconds"), int64(3600))
}
