package fake_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
)

// authority signs certificates that are valid at the time of a server on a manual clock.
type authority struct {
	t    *testing.T
	key  crypto.Signer
	root *x509.Certificate
	pem  []byte
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t, key: newKey(t), root: &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotBefore: clock.Epoch(), NotAfter: clock.Epoch().AddDate(1, 0, 0)}}
	a.pem = a.sign(a.root, a.key.Public())
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) sign(template *x509.Certificate, public crypto.PublicKey) []byte {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, a.root, public, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// issue returns a certificate for a client, and its key.
func (a *authority) issue(subject pkix.Name) (cert, key []byte) {
	a.t.Helper()
	private := newKey(a.t)
	cert = a.sign(&x509.Certificate{SerialNumber: big.NewInt(2), Subject: subject, NotBefore: clock.Epoch(), NotAfter: clock.Epoch().AddDate(0, 1, 0),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, private.Public())
	return cert, keyPEM(a.t, private)
}

func keyPEM(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

// TestSigningRequest checks that a certificate can be requested, approved and issued through the API, by a signer with
// the authority's key. The certificate authenticates its holder.
func TestSigningRequest(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	ca := newAuthority(t, "ca")
	srv := fake.RunT(t, fake.Options{Auth: auth.RBAC, ClientCA: ca.pem})
	l, err := srv.Listen(fake.ListenOptions{TLS: true})
	is.NoErr(err)
	admin := &caller{t: t, url: l.URL(), client: showing(t, l, nil, nil), header: http.Header{"Authorization": {"Bearer " + adminToken}}}
	const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	private := newKey(t)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane", Organization: []string{"dev"}}}, private)
	is.NoErr(err)
	request, err := x509.ParseCertificateRequest(der)
	is.NoErr(err)
	text := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	code, _ := admin.do("POST", requests, `{"metadata":{"name":"jane"},"spec":{"request":"`+text+
		`","signerName":"kubernetes.io/kube-apiserver-client","usages":["client auth"]}}`)
	is.Equal(code, http.StatusCreated)
	code, _ = admin.do("PUT", requests+"/jane/approval", `{"metadata":{"name":"jane"},"status":{"conditions":[{"type":"Approved","status":"True","reason":"Known"}]}}`)
	is.Equal(code, http.StatusOK)

	cert := ca.sign(&x509.Certificate{SerialNumber: big.NewInt(3), RawSubject: request.RawSubject, NotBefore: clock.Epoch(), NotAfter: clock.Epoch().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, request.PublicKey)
	code, _ = admin.do("PUT", requests+"/jane/status", `{"metadata":{"name":"jane"},"status":{"certificate":"`+base64.StdEncoding.EncodeToString(cert)+
		`","conditions":[{"type":"Approved","status":"True","reason":"Known"}]}}`)
	is.Equal(code, http.StatusOK)
	jane := &caller{t: t, url: l.URL(), client: showing(t, l, cert, keyPEM(t, private))}
	_, who := jane.who()
	is.Equal(who, "jane dev,system:authenticated")
	srv.Clock.Advance(2 * time.Hour)
	code, _ = jane.who()
	is.Equal(code, http.StatusUnauthorized) // expired, by the server's time
}

// TestRequestHeader checks that a proxy that is authenticated by its certificate can name the user. The same headers
// from another client are ignored.
func TestRequestHeader(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	ca, front := newAuthority(t, "ca"), newAuthority(t, "front")
	srv := fake.RunT(t, fake.Options{Auth: auth.RBAC, ClientCA: ca.pem, RequestHeader: auth.RequestHeader{ClientCA: front.pem,
		AllowedNames: []string{"proxy"}, UsernameHeaders: []string{"X-Remote-User"}, UIDHeaders: []string{"X-Remote-Uid"},
		GroupHeaders: []string{"X-Remote-Group"}, ExtraHeaderPrefixes: []string{"X-Remote-Extra-"}}})
	l, err := srv.Listen(fake.ListenOptions{TLS: true})
	is.NoErr(err)
	header := http.Header{"X-Remote-User": {"bob"}, "X-Remote-Uid": {"7"}, "X-Remote-Group": {"a", "b"}, "X-Remote-Extra-Org%2fscopes": {"s"}}
	as := func(a *authority, name string, h http.Header) (int, string) {
		cert, key := a.issue(pkix.Name{CommonName: name})
		return (&caller{t: t, url: l.URL(), client: showing(t, l, cert, key), header: h}).do("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`)
	}
	code, text := as(front, "proxy", header)
	is.Equal(code, http.StatusCreated)
	is.True(strings.HasSuffix(strings.TrimSpace(text), `"status":{"userInfo":{"username":"bob","uid":"7","groups":["a","b","system:authenticated"],"extra":{"org/scopes":["s"]}}}}`))
	code, _ = as(front, "another", header)
	is.Equal(code, http.StatusUnauthorized) // a proxy with another name
	code, _ = as(front, "proxy", http.Header{})
	is.Equal(code, http.StatusUnauthorized) // no user is named, and the proxy's certificate authenticates no client
	_, text = as(ca, "carol", header)
	is.True(strings.Contains(text, `"username":"carol"`)) // a client certificate cannot name another user

	_, text = (&caller{t: t, url: l.URL(), client: showing(t, l, nil, nil), header: http.Header{"Authorization": {"Bearer " + adminToken}}}).
		do("GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication", "")
	is.True(strings.Contains(text, `"requestheader-allowed-names":"[\"proxy\"]"`)) // published for aggregated API servers

	_, err = fake.New(fake.Options{RequestHeader: auth.RequestHeader{ClientCA: []byte("x")}})
	is.Equal(err.Error(), "kubesim: Options.RequestHeader.ClientCA contains no PEM certificate")
	_, err = fake.New(fake.Options{RequestHeader: auth.RequestHeader{UIDHeaders: []string{"X-Uid"}}})
	is.Equal(err.Error(), "kubesim: --requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work")
}

// TestUIDOfCertificate checks that a certificate may have one uid at most (KEP-5082).
func TestUIDOfCertificate(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	ca := newAuthority(t, "ca")
	srv := fake.RunT(t, fake.Options{Auth: auth.RBAC, ClientCA: ca.pem})
	l, err := srv.Listen(fake.ListenOptions{TLS: true})
	is.NoErr(err)
	uid := func(value string) pkix.AttributeTypeAndValue {
		return pkix.AttributeTypeAndValue{Type: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}, Value: value}
	}
	as := func(names ...pkix.AttributeTypeAndValue) (int, string) {
		cert, key := ca.issue(pkix.Name{CommonName: "carol", ExtraNames: names})
		return (&caller{t: t, url: l.URL(), client: showing(t, l, cert, key)}).do("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`)
	}
	_, text := as(uid("u-1"))
	is.True(strings.Contains(text, `"username":"carol","uid":"u-1"`))
	code, _ := as(uid("u-1"), uid("u-2"))
	is.Equal(code, http.StatusUnauthorized)
	code, _ = as(uid(""))
	is.Equal(code, http.StatusUnauthorized)
}
