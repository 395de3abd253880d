package fake_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/object"
)

// caller is a client that asks a server for its own user.
type caller struct {
	t      *testing.T
	url    string
	client *http.Client
	header http.Header
}

func (c *caller) do(method, path, body string) (int, string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.header != nil {
		r.Header = c.header.Clone()
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := c.client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

// who returns the code of the response and the name and groups of the user.
func (c *caller) who() (int, string) {
	c.t.Helper()
	code, text := c.do("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`)
	obj, err := object.Parse([]byte(text))
	if err != nil {
		c.t.Fatal(err)
	}
	user := object.Object(obj.Map("status", "userInfo"))
	return code, user.String("username") + " " + strings.Join(object.Strings(user.List("groups")), ",")
}

// showing returns a client of a TLS listener that presents a certificate.
func showing(t *testing.T, l *fake.Listener, cert, key []byte) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(l.CA())
	c := &tls.Config{RootCAs: roots}
	if cert != nil {
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	transport := &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestIssueCertificate checks that a certificate that the server has issued identifies the user of a client of a
// listener. A fork also accepts it, and the same seed gives the same certificate.
func TestIssueCertificate(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Auth: auth.RBAC})
	l, err := srv.Listen(fake.ListenOptions{TLS: true})
	is.NoErr(err)
	nobody := &caller{t: t, url: l.URL(), client: showing(t, l, nil, nil)}
	code, _ := nobody.who()
	is.Equal(code, http.StatusForbidden) // system:anonymous

	cert, key, err := srv.IssueCertificate("jane", "dev", "ops")
	is.NoErr(err)
	jane := &caller{t: t, url: l.URL(), client: showing(t, l, cert, key)}
	_, who := jane.who()
	is.Equal(who, "jane dev,ops,system:authenticated")
	boss, bossKey, err := srv.IssueCertificate("boss", "system:masters")
	is.NoErr(err)
	code, _ = (&caller{t: t, url: l.URL(), client: showing(t, l, boss, bossKey)}).do("GET", "/api/v1/nodes", "")
	is.Equal(code, http.StatusOK)
	code, _ = nobody.who()
	is.Equal(code, http.StatusForbidden)
	is.True(strings.Contains(string(l.CertificateKubeConfig(cert, key)), "client-certificate-data: "))

	fork := srv.Fork()
	forked, err := fork.Listen(fake.ListenOptions{TLS: true})
	is.NoErr(err)
	_, who = (&caller{t: t, url: forked.URL(), client: showing(t, forked, cert, key)}).who()
	is.Equal(who, "jane dev,ops,system:authenticated")

	again, _, err := fake.RunT(t, fake.Options{Auth: auth.RBAC}).IssueCertificate("jane", "dev", "ops")
	is.NoErr(err)
	is.Equal(again, cert)

	srv.Clock.Advance(366 * 24 * time.Hour)
	code, _ = (&caller{t: t, url: l.URL(), client: showing(t, l, cert, key)}).who()
	is.Equal(code, http.StatusUnauthorized) // the certificate expired after a year
}

// TestAuthenticate checks that a test's own authenticator is called first, however a request arrives.
func TestAuthenticate(t *testing.T) {
	t.Parallel()
	authenticate := func(r *http.Request) (auth.User, bool, error) {
		switch name := r.Header.Get("X-Test-User"); name {
		case "":
			return auth.User{}, false, nil
		case "nobody":
			return auth.User{}, false, errors.New("go away")
		default:
			return auth.User{Name: name, Groups: []string{"testers"}}, true, nil
		}
	}
	for _, mode := range []auth.Mode{auth.AlwaysAllow, auth.RBAC} {
		srv := fake.RunT(t, fake.Options{Auth: mode})
		srv.Authenticate(authenticate)
		l, err := srv.Listen(fake.ListenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		own := httptest.NewServer(srv.Handler())
		t.Cleanup(own.Close)
		for name, c := range map[string]*caller{ // order does not matter
			"in process":      {t: t, url: srv.URL(), client: &http.Client{Transport: srv.Transport()}},
			"over a listener": {t: t, url: l.URL(), client: http.DefaultClient},
			"over Handler":    {t: t, url: own.URL, client: http.DefaultClient},
		} {
			t.Run(name, func(t *testing.T) {
				is := is.New(t)
				c.header = http.Header{"X-Test-User": {"tess"}, "Authorization": {"Bearer nonsense"}}
				_, who := c.who()
				is.Equal(who, "tess testers,system:authenticated") // the token is ignored
				code, _ := c.do("GET", "/api/v1/pods", "")
				is.Equal(code, map[auth.Mode]int{auth.AlwaysAllow: http.StatusOK, auth.RBAC: http.StatusForbidden}[mode])
				c.header.Set("X-Test-User", "nobody")
				code, _ = c.who()
				is.Equal(code, http.StatusUnauthorized)
				c.header = http.Header{"Authorization": {"Bearer alicetoken"}}
				_, who = c.who() // the other authenticators are called
				is.Equal(who, map[auth.Mode]string{auth.AlwaysAllow: "kubernetes-admin system:masters,system:authenticated",
					auth.RBAC: "alice dev,system:authenticated"}[mode])
			})
		}
	}
}

// TestAuthorizers checks that authorizers are called in their order, and that requests are authenticated for them.
func TestAuthorizers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		authorizers     []string
		alice, stranger int // expected codes of a request for pods
		why             string
	}{
		{[]string{"AlwaysAllow"}, http.StatusOK, http.StatusUnauthorized, ""},
		{[]string{"Node", "RBAC"}, http.StatusForbidden, http.StatusForbidden, `at the cluster scope"`},
		{[]string{"RBAC", "AlwaysDeny"}, http.StatusForbidden, http.StatusForbidden, "at the cluster scope: Everything is forbidden."},
		{[]string{"AlwaysDeny", "AlwaysAllow"}, http.StatusOK, http.StatusUnauthorized, ""},
	} {
		t.Run(strings.Join(tc.authorizers, ","), func(t *testing.T) {
			is := is.New(t)
			srv := fake.RunT(t, fake.Options{Authorizers: tc.authorizers})
			c := &caller{t: t, url: srv.URL(), client: &http.Client{Transport: srv.Transport()}}
			code, _ := c.do("GET", "/api/v1/pods", "")
			is.Equal(code, tc.stranger)
			c.header = http.Header{"Authorization": {"Bearer alicetoken"}}
			code, text := c.do("GET", "/api/v1/pods", "")
			is.Equal(code, tc.alice)
			is.True(strings.Contains(text, tc.why))
			c.header = http.Header{"Authorization": {"Bearer admintoken"}}
			code, _ = c.do("GET", "/api/v1/pods", "")
			is.Equal(code, http.StatusOK) // system:masters may do everything
		})
	}
	is := is.New(t)
	for list, want := range map[string]string{
		"Webhook":   "authorization-mode Webhook's authorization config file not passed",
		"Nope":      `kubesim: authorization-mode "Nope" is not a valid mode`,
		"RBAC,RBAC": `kubesim: authorization-mode ["RBAC" "RBAC"] has mode specified more than once`,
	} {
		_, err := fake.New(fake.Options{Authorizers: strings.Split(list, ",")})
		is.Equal(err.Error(), want)
	}
}

// TestNoAnonymous checks that without anonymous users, every request without credentials is rejected.
func TestNoAnonymous(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Auth: auth.RBAC, NoAnonymous: true})
	c := &caller{t: t, url: srv.URL(), client: &http.Client{Transport: srv.Transport()}}
	code, _ := c.do("GET", "/healthz", "")
	is.Equal(code, http.StatusUnauthorized)
}

// TestSnapshotKeepsWho checks that the options for authentication and authorization are part of a snapshot.
func TestSnapshotKeepsWho(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Authorizers: []string{"RBAC"}, NoAnonymous: true, ServiceAccounts: token.Options{Issuers: []string{"https://mine"}}})
	data, err := srv.Snapshot()
	is.NoErr(err)
	again := fake.RunT(t, fake.Options{Snapshot: data})
	c := &caller{t: t, url: again.URL(), client: &http.Client{Transport: again.Transport()}}
	code, _ := c.do("GET", "/version", "")
	is.Equal(code, http.StatusUnauthorized)
	c.header = http.Header{"Authorization": {"Bearer admintoken"}}
	_, text := c.do("GET", "/.well-known/openid-configuration", "")
	is.True(strings.HasPrefix(text, `{"issuer":"https://mine"`))
}
