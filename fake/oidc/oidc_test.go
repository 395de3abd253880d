package oidc_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/oidc"
	"github.com/kubesim/kubesim/sim/config"
)

// provider is an OpenID provider on a socket.
type provider struct {
	*httptest.Server
	ca      string // PEM
	key     *ecdsa.PrivateKey
	fetched atomic.Int64 // the number of requests for the keys
	keys    atomic.Pointer[jose.JSONWebKeySet]
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, p.URL, p.URL+"/keys")
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		p.fetched.Add(1)
		_ = json.NewEncoder(w).Encode(p.keys.Load())
	})
	p.Server = httptest.NewTLSServer(mux)
	t.Cleanup(p.Close)
	p.ca = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw}))
	p.rotate(t, "first")
	return p
}

// rotate replaces the key of the provider.
func (p *provider) rotate(t *testing.T, id string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p.key = key
	p.keys.Store(&jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: id, Use: "sig", Algorithm: "ES256"}}})
}

// token returns a token with the claims of the issuer, and others.
func (p *provider) token(t *testing.T, claims map[string]any) string {
	t.Helper()
	all := map[string]any{"iss": p.URL, "aud": "kubernetes", "sub": "jane", "exp": time.Now().Add(time.Hour).Unix()}
	for name, value := range claims {
		all[name] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: p.keys.Load().Keys[0].KeyID}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return compact
}

// file returns an AuthenticationConfiguration with the issuer and more fields of its JWTAuthenticator.
func (p *provider) file(more string) string {
	ca, _ := json.Marshal(p.ca) // a JSON string is YAML
	return fmt.Sprintf("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n- issuer:\n    url: %s\n"+
		"    audiences: [kubernetes]\n    certificateAuthority: %s\n%s", p.URL, ca, more)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start starts a server with the configuration in a file.
func start(t *testing.T, text string) (srv *fake.Server, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "config.yaml")
	write(t, file, text)
	o := fake.Options{Clock: clock.System{}, Authorizers: []string{"RBAC"}, Metrics: true, Authentication: config.Authentication{ConfigFile: file}}
	if err := oidc.Configure(&o, false); err != nil {
		t.Fatal(err)
	}
	return fake.RunT(t, o), file
}

// send sends a request and returns the code and the body of the response.
func send(t *testing.T, srv *fake.Server, method, path, token, body string) (code int, text string) {
	t.Helper()
	q, err := http.NewRequest(method, srv.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := (&http.Client{Transport: srv.Transport()}).Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

// whoami returns the user of a token as JSON, or the code of the error.
func whoami(t *testing.T, srv *fake.Server, token string) string {
	t.Helper()
	code, text := send(t, srv, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", token,
		`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`)
	if code != http.StatusCreated {
		return fmt.Sprint(code)
	}
	var review struct {
		Status struct {
			UserInfo json.RawMessage `json:"userInfo"`
		} `json:"status"`
	}
	if err := json.Unmarshal([]byte(text), &review); err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, review.Status.UserInfo); err != nil {
		t.Fatal(err)
	}
	return compact.String()
}

const bySub = `  claimMappings: {username: {claim: sub, prefix: "p:"}}`

// TestTokens checks which tokens are accepted.
func TestTokens(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	srv, _ := start(t, p.file(bySub))
	const jane = `{"username":"p:jane","groups":["system:authenticated"]}`
	other := newProvider(t)
	for _, c := range []struct{ name, token, want string }{
		{"valid", p.token(t, nil), jane},
		{"several audiences", p.token(t, map[string]any{"aud": []string{"x", "kubernetes"}}), jane},
		{"other audience", p.token(t, map[string]any{"aud": "x"}), "401"},
		{"expired", p.token(t, map[string]any{"exp": time.Now().Add(-time.Minute).Unix()}), "401"},
		{"without expiry", p.token(t, map[string]any{"exp": nil}), "401"},
		{"soon valid", p.token(t, map[string]any{"nbf": time.Now().Add(4 * time.Minute).Unix()}), jane},
		{"not yet valid", p.token(t, map[string]any{"nbf": time.Now().Add(6 * time.Minute).Unix()}), "401"},
		{"other issuer", other.token(t, nil), "401"},
		{"signed by another issuer", other.token(t, map[string]any{"iss": p.URL}), "401"},
		{"without the claim", p.token(t, map[string]any{"sub": 1}), "401"},
		{"token identifier", p.token(t, map[string]any{"jti": "7"}), `{"username":"p:jane","groups":["system:authenticated"],"extra":{"authentication.kubernetes.io/credential-id":["JTI=7"]}}`},
		{"token identifier of another type", p.token(t, map[string]any{"jti": 7}), jane},
	} {
		t.Run(c.name, func(t *testing.T) {
			is.New(t).Equal(whoami(t, srv, c.token), c.want)
		})
	}
}

// TestMappings checks users, groups, uids and extra values by claims and by expressions, and rules.
func TestMappings(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	const groups = `,"groups":["system:authenticated"]}`
	for _, c := range []struct{ name, config, want string }{
		{"claims", `  claimMappings: {username: {claim: email, prefix: ""}, groups: {claim: roles, prefix: "g:"}, uid: {claim: id}}`,
			`{"username":"jane@example.com","uid":"u1","groups":["g:a","g:b","system:authenticated"]}`},
		{"one group", `  claimMappings: {username: {claim: sub, prefix: ""}, groups: {claim: sub, prefix: ""}}`, `{"username":"jane","groups":["jane","system:authenticated"]}`},
		{"expressions", `  claimMappings: {username: {expression: "'k8s-' + claims.sub"}, groups: {expression: "dyn(claims.roles).map(r, 'x:' + r)"}, uid: {expression: "claims.id"}, extra: [{key: example.com/a, valueExpression: "claims.sub"}]}`,
			`{"username":"k8s-jane","uid":"u1","groups":["x:a","x:b","system:authenticated"],"extra":{"example.com/a":["jane"]}}`},
		{"not a string", `  claimMappings: {username: {expression: "claims.roles"}}`, "401"},
		{"required claim", bySub + "\n  claimValidationRules: [{claim: id, requiredValue: u1}]", `{"username":"p:jane"` + groups},
		{"required claim differs", bySub + "\n  claimValidationRules: [{claim: id, requiredValue: u2}]", "401"},
		{"required claim missing", bySub + "\n  claimValidationRules: [{claim: none, requiredValue: u2}]", "401"},
		{"claim rule", bySub + "\n  claimValidationRules: [{expression: \"claims.id == 'u1'\", message: m}]", `{"username":"p:jane"` + groups},
		{"claim rule fails", bySub + "\n  claimValidationRules: [{expression: \"claims.id != 'u1'\", message: m}]", "401"},
		{"user rule", bySub + "\n  userValidationRules: [{expression: \"user.username.startsWith('p:')\"}]", `{"username":"p:jane"` + groups},
		{"user rule fails", bySub + "\n  userValidationRules: [{expression: \"!user.username.startsWith('p:')\"}]", "401"},
		{"distributed groups", `  claimMappings: {username: {claim: sub, prefix: ""}, groups: {claim: elsewhere, prefix: ""}}`, "401"},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv, _ := start(t, p.file(c.config))
			token := p.token(t, map[string]any{"email": "jane@example.com", "email_verified": true, "roles": []string{"a", "b"}, "id": "u1",
				"_claim_names": map[string]any{"elsewhere": "src"}})
			is.New(t).Equal(whoami(t, srv, token), c.want)
		})
	}
}

// TestRotation checks that the keys are requested again for a token with another key, and that a TokenReview uses the known keys.
func TestRotation(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newProvider(t)
	srv, _ := start(t, p.file(bySub))
	token := p.token(t, nil)
	is.True(whoami(t, srv, token) != "401")
	is.True(whoami(t, srv, token) != "401")
	is.Equal(p.fetched.Load(), int64(1)) // the keys are known
	_, review := send(t, srv, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", "admintoken",
		`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"`+token+`"}}`)
	is.True(strings.Contains(review, `"username":"p:jane"`))
	p.rotate(t, "second")
	is.True(whoami(t, srv, p.token(t, nil)) != "401")
	is.Equal(p.fetched.Load(), int64(2))
	is.Equal(whoami(t, srv, token), "401") // the old key is gone
}

// TestUnknownAuthority checks that tokens of an issuer with an untrusted certificate are rejected.
func TestUnknownAuthority(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	srv, _ := start(t, strings.Replace(p.file(bySub), "    certificateAuthority", "#", 1))
	is.New(t).Equal(whoami(t, srv, p.token(t, nil)), "401")
}

// TestReload checks that a changed file applies if it is valid, and the metrics of reloads.
func TestReload(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newProvider(t)
	srv, file := start(t, p.file(bySub))
	token := p.token(t, nil)
	is.Equal(whoami(t, srv, token), `{"username":"p:jane","groups":["system:authenticated"]}`)
	write(t, file, p.file(strings.Replace(bySub, "p:", "panda:", 1)))
	is.Equal(whoami(t, srv, token), `{"username":"panda:jane","groups":["system:authenticated"]}`)
	write(t, file, p.file("  claimMappings: {}"))
	is.Equal(whoami(t, srv, token), `{"username":"panda:jane","groups":["system:authenticated"]}`) // an invalid file is ignored
	write(t, file, p.file(bySub)+"\nanonymous: {enabled: false}")
	is.Equal(whoami(t, srv, token), `{"username":"panda:jane","groups":["system:authenticated"]}`) // anonymous requests do not change
	_, metrics := send(t, srv, "GET", "/metrics", "admintoken", "")
	for _, want := range []string{
		`apiserver_authentication_config_controller_automatic_reloads_total{apiserver_id_hash="sha256:`,
		`,status="failure"} 2` + "\n", `,status="success"} 1` + "\n",
		"apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info{", `,result="success"} `,
	} {
		is.True(strings.Contains(metrics, want)) // want
	}
	write(t, file, "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt: []")
	is.Equal(whoami(t, srv, token), "401")
}

// TestAnonymous checks that the file restricts anonymous requests to paths.
func TestAnonymous(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv, _ := start(t, newProvider(t).file(bySub)+"\nanonymous: {enabled: true, conditions: [{path: /livez}]}")
	code, _ := send(t, srv, "GET", "/livez", "", "")
	is.Equal(code, http.StatusOK)
	code, _ = send(t, srv, "GET", "/healthz", "", "")
	is.Equal(code, http.StatusUnauthorized)
}

// TestFlags checks the flags --oidc-*.
func TestFlags(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newProvider(t)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	write(t, ca, p.ca)
	for _, c := range []struct {
		flags config.OIDC
		want  string
	}{
		{config.OIDC{SigningAlgs: []string{"ES256"}}, `{"username":"` + p.URL + `#jane","groups":["system:authenticated"]}`},
		{config.OIDC{}, "401"}, // RS256 only
		{config.OIDC{SigningAlgs: []string{"ES256"}, UsernamePrefix: "-", GroupsClaim: "roles", GroupsPrefix: "g:", RequiredClaims: []string{"id=u1"}},
			`{"username":"jane","groups":["g:a","system:authenticated"]}`},
		{config.OIDC{SigningAlgs: []string{"ES256"}, RequiredClaims: []string{"id=u2"}}, "401"},
		{config.OIDC{SigningAlgs: []string{"ES256"}, UsernameClaim: "id", UsernamePrefix: "x-"}, `{"username":"x-u1","groups":["system:authenticated"]}`},
	} {
		c.flags.IssuerURL, c.flags.ClientID, c.flags.CAFile = p.URL, "kubernetes", ca
		o := fake.Options{Clock: clock.System{}, Authorizers: []string{"RBAC"}, Authentication: config.Authentication{OIDC: c.flags}}
		is.NoErr(oidc.Configure(&o, false))
		is.Equal(whoami(t, fake.RunT(t, o), p.token(t, map[string]any{"roles": []string{"a"}, "id": "u1"})), c.want)
	}
}

// TestErrors checks the errors of invalid configurations.
func TestErrors(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"
	const valid = "jwt: [{issuer: {url: https://a, audiences: [x]}, claimMappings: {username: {claim: sub, prefix: ''}}"
	for _, c := range []struct{ text, want string }{
		{head + "jwt: [{issuer: {url: http://a, audiences: []}, claimMappings: {username: {claim: sub}}}]",
			`[jwt[0].issuer.url: Invalid value: "http://a": URL scheme must be https, jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required, jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing]`},
		{head + valid + ", claimValidationRules: [{expression: \"'a'\"}]}]", `jwt[0].claimValidationRules[0].expression: Invalid value: "'a'": must evaluate to bool`},
		{head + valid + ", userValidationRules: [{expression: ''}]}]", `jwt[0].userValidationRules[0].expression: Required value`},
		{head + "jwt: [{issuer: {url: https://kubernetes.default.svc, audiences: [x]}, claimMappings: {username: {claim: sub, prefix: ''}}}]",
			`jwt[0].issuer.url: Invalid value: "https://kubernetes.default.svc": URL must not overlap with disallowed issuers: [https://kubernetes.default.svc]`},
		{head + "jwt: [{issuer: {url: https://a, audiences: [x]}, claimMappings: {username: {expression: claims.email}}}]",
			`jwt[0].claimMappings.username.expression: Invalid value: "claims.email": claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression`},
		{head + "anonymous: {enabled: true}", `anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file`},
		{head + "jtw: []", `strict decoding error: unknown field "jtw"`},
		{head + "jwt: [{issuer: {url: https://a, audiences: [x], egressSelectorType: cluster}, claimMappings: {username: {claim: sub, prefix: ''}}}]",
			`jwt[0].issuer.egressSelectorType: Forbidden: kubesim does not simulate egress selection`},
	} {
		t.Run(c.text, func(t *testing.T) {
			is := is.New(t)
			file := filepath.Join(t.TempDir(), "config.yaml")
			write(t, file, c.text)
			err := oidc.Configure(&fake.Options{Authentication: config.Authentication{ConfigFile: file}}, true)
			is.True(err != nil)
			text := strings.TrimPrefix(err.Error(), fmt.Sprintf("failed to load authentication configuration from file %q: ", file))
			is.Equal(strings.TrimPrefix(text, "invalid authentication configuration: "), c.want)
		})
	}
	is := is.New(t)
	is.Equal(oidc.Configure(&fake.Options{Authentication: config.Authentication{OIDC: config.OIDC{ClientID: "a"}}}, false).Error(),
		"oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set")
	_, err := fake.New(fake.Options{Authentication: config.Authentication{ConfigFile: "a"}})
	is.True(err != nil && strings.Contains(err.Error(), "oidc.Configure")) // the fields alone have no effect
}

func FuzzAuthenticate(f *testing.F) {
	f.Add("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt: [{issuer: {url: https://a, audiences: [x]}, claimMappings: {username: {claim: sub, prefix: ''}}}]",
		"eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJodHRwczovL2EifQ.AA")
	f.Fuzz(func(t *testing.T, text, token string) {
		file := filepath.Join(t.TempDir(), "config.yaml")
		write(t, file, text)
		if a, err := oidc.New(oidc.Options{File: file}); err == nil {
			if u, err := a.AuthenticateToken(token, time.Unix(0, 0)); u != nil && err == nil {
				t.Errorf("%s is %s, though no keys are known", token, u.Name)
			}
		}
	})
}
