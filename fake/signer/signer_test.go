package signer_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/grpc"
	"github.com/kubesim/kubesim/fake/signer"
	"github.com/kubesim/kubesim/sim/auth/token"
)

// program is an external signer on a unix socket.
type program struct {
	socket string
	key    *ecdsa.PrivateKey

	mu          sync.Mutex
	id, kind    string // of the headers
	unpublished bool
	longest     int64 // seconds
}

func start(t *testing.T) *program {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{socket: filepath.Join(t.TempDir(), "s"), key: key, id: "k1", kind: "JWT", longest: 7200}
	l, err := net.Listen("unix", p.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: p, Protocols: new(http.Protocols), ReadHeaderTimeout: time.Minute}
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
	return p
}

// ServeHTTP implements http.Handler.
func (p *program) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	call := grpc.NewCall(w, r)
	in, err := call.Receive()
	m, _ := grpc.Parse(in)
	out := &grpc.Builder{}
	switch r.URL.Path {
	case "/v1.ExternalJWTSigner/FetchKeys":
		der, _ := x509.MarshalPKIXPublicKey(p.key.Public())
		out.Message(1, new(grpc.Builder).Text(1, "k1").Text(2, string(der)).Bool(3, p.unpublished)).Message(2, new(grpc.Builder).Number(1, 1700000000)).Number(3, 3600)
	case "/v1.ExternalJWTSigner/Metadata":
		out.Number(1, p.longest)
	case "/v1.ExternalJWTSigner/Sign":
		header, _ := json.Marshal(map[string]string{"alg": "ES256", "kid": p.id, "typ": p.kind})
		text := base64.RawURLEncoding.EncodeToString(header)
		sum := sha256.Sum256([]byte(text + "." + m.Text(1)))
		a, b, _ := ecdsa.Sign(rand.Reader, p.key, sum[:])
		signature := append(a.FillBytes(make([]byte, 32)), b.FillBytes(make([]byte, 32))...)
		out.Text(1, text).Text(2, base64.RawURLEncoding.EncodeToString(signature))
	default:
		err = grpc.NewError(grpc.Unimplemented, r.URL.Path)
	}
	if err == nil {
		err = call.Send(out.Bytes)
	}
	call.End(err)
}

// server starts a server that signs with the program.
func (p *program) server(t *testing.T) *fake.Server {
	t.Helper()
	o := fake.Options{Clock: clock.System{}, Authorizers: []string{"RBAC"}, Metrics: true, ServiceAccounts: token.Options{SigningEndpoint: p.socket}}
	end, err := signer.Configure(t.Context(), &o.ServiceAccounts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return fake.RunT(t, o)
}

func send(t *testing.T, srv *fake.Server, method, path, bearer, body string) (code int, text string) {
	t.Helper()
	q, err := http.NewRequest(method, srv.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + bearer}}
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

// request requests a token, and returns it, or the message of the error.
func request(t *testing.T, srv *fake.Server, body string) (text, message string) {
	t.Helper()
	_, answer := send(t, srv, http.MethodPost, "/api/v1/namespaces/default/serviceaccounts/a/token", "admintoken", body)
	var x struct {
		Message string `json:"message"`
		Status  any    `json:"status"`
	}
	if err := json.Unmarshal([]byte(answer), &x); err != nil {
		t.Fatal(err)
	}
	if status, ok := x.Status.(map[string]any); ok {
		text, _ = status["token"].(string)
	}
	return text, x.Message
}

// TestSigner checks that the program signs tokens and that its keys verify them.
func TestSigner(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := start(t)
	srv := p.server(t)
	code, _ := send(t, srv, http.MethodPost, "/api/v1/namespaces/default/serviceaccounts", "admintoken", `{"metadata":{"name":"a"}}`)
	is.Equal(code, http.StatusCreated)
	text, message := request(t, srv, `{"spec":{"expirationSeconds":3600}}`)
	is.Equal(message, "")
	_, who := send(t, srv, http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", text, `{}`)
	is.True(strings.Contains(who, `"username":"system:serviceaccount:default:a"`))
	_, keys := send(t, srv, http.MethodGet, "/openid/v1/jwks", "admintoken", "")
	is.True(strings.Contains(keys, `"kid":"k1"`))
	_, metrics := send(t, srv, http.MethodGet, "/metrics", "admintoken", "")
	is.True(strings.Contains(metrics, "apiserver_externaljwt_fetch_keys_data_timestamp 1.7e+09\n"))
	is.True(strings.Contains(metrics, `apiserver_externaljwt_sign_request_total{code="OK"} 1`+"\n"))

	change := func(f func()) {
		p.mu.Lock()
		defer p.mu.Unlock()
		f()
	}
	change(func() { p.kind = "X" })
	_, message = request(t, srv, `{}`)
	is.Equal(message, "Internal error occurred: failed to generate token: while validating header: bad type")
	change(func() { p.kind, p.id = "JWT", "k2" })
	unknown, message := request(t, srv, `{}`)
	is.Equal(message, "")
	code, _ = send(t, srv, http.MethodGet, "/api", unknown, "")
	is.Equal(code, http.StatusUnauthorized) // no key has the id of the token
}

// TestUnpublished checks that a key that is not published cannot sign tokens.
func TestUnpublished(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := start(t)
	p.unpublished = true
	srv := p.server(t)
	send(t, srv, http.MethodPost, "/api/v1/namespaces/default/serviceaccounts", "admintoken", `{"metadata":{"name":"a"}}`)
	_, message := request(t, srv, `{}`)
	is.Equal(message, "Internal error occurred: failed to generate token: while validating header: key used for signing JWT (kid: k1) is excluded from OIDC discovery docs")
	_, keys := send(t, srv, http.MethodGet, "/openid/v1/jwks", "admintoken", "")
	is.Equal(keys, `{"keys":null}`)
}

// TestConfigure checks the errors of configurations, and the maximum lifetime of tokens.
func TestConfigure(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := start(t)
	o := token.Options{SigningEndpoint: p.socket}
	end, err := signer.Configure(t.Context(), &o)
	is.NoErr(err)
	end()
	is.Equal(o.MaxExpiration, 2*time.Hour)
	o = token.Options{SigningEndpoint: p.socket, MaxExpiration: 3 * time.Hour}
	_, err = signer.Configure(t.Context(), &o)
	is.Equal(err.Error(), "service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: 3h0m0s > 2h0m0s")
	o.MaxExpiration = time.Minute
	_, err = signer.Configure(t.Context(), &o)
	is.Equal(err.Error(), "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds")
	p.longest, o.MaxExpiration = 600, 0
	end, err = signer.Configure(t.Context(), &o)
	is.NoErr(err)
	end()
	_, err = token.New(o)
	is.NoErr(err) // the maximum of the program may be lower than that of the flag
	p.longest = 10
	o.MaxExpiration = 0
	_, err = signer.Configure(t.Context(), &o)
	is.Equal(err.Error(), "max token life supported by external-jwt-signer (10s) is less than acceptable (min 600s)")
	for want, o := range map[string]token.Options{
		"service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time": {SigningKey: []byte("x")},
		"cannot set mutually exclusive flags `--service-account-key-file` and `--service-account-signing-endpoint` at the same time":      {Keys: [][]byte{[]byte("x")}},
		"SigningEndpoint has no effect without External, which signer.Configure of package github.com/kubesim/kubesim/fake/signer sets":   {},
	} {
		o.SigningEndpoint = p.socket
		_, err := token.New(o)
		is.Equal(err.Error(), want)
	}
}
