package fake_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
)

// certificateOf returns a certificate for a user that another server has issued, and its key.
func certificateOf(t *testing.T, user string, seed uint64) (cert, key []byte) {
	t.Helper()
	cert, key, err := fake.RunT(t, fake.Options{Seed: seed, Clock: clock.System{}}).IssueCertificate(user)
	is.New(t).NoErr(err)
	return cert, key
}

// TestCertificatesAreReadAgain checks that certificate files are reloaded when they change, without a restart. An
// invalid file has no effect.
func TestCertificatesAreReadAgain(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	written := time.Now().Add(-time.Hour)
	write := func(name string, data []byte) {
		is.NoErr(os.WriteFile(file(name), data, 0o600))
		written = written.Add(time.Second) // a difference that every file system can represent
		is.NoErr(os.Chtimes(file(name), written, written))
	}
	certA, keyA := certificateOf(t, "a", 11)
	certB, keyB := certificateOf(t, "b", 12)
	write("tls.crt", certA)
	write("tls.key", keyA)
	write("ca.crt", certA) // a trusted certificate need not have signed another
	srv, err := fake.New(fake.Options{Clock: clock.System{}, Auth: auth.RBAC, ClientCAFile: file("ca.crt")})
	is.NoErr(err)
	defer srv.Close()
	l, err := srv.Listen(fake.ListenOptions{CertificateFile: file("tls.crt"), KeyFile: file("tls.key")})
	is.NoErr(err)
	leaf := func(cert []byte) []byte { block, _ := pem.Decode(cert); return block.Bytes }
	ask := func(cert, key []byte) (served []byte, code int) {
		pair, err := tls.X509KeyPair(cert, key)
		is.NoErr(err)
		transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &pair, nil
		}, VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error { served = raw[0]; return nil }}}
		defer transport.CloseIdleConnections()
		res, err := (&http.Client{Transport: transport}).Get(l.URL() + "/api")
		is.NoErr(err)
		res.Body.Close()
		return served, res.StatusCode
	}
	served, code := ask(certA, keyA)
	is.True(bytes.Equal(served, leaf(certA)))
	is.Equal(code, http.StatusOK) // a is authenticated
	_, code = ask(certB, keyB)
	is.Equal(code, http.StatusUnauthorized)

	write("tls.crt", certB) // does not match the key yet
	served, _ = ask(certA, keyA)
	is.True(bytes.Equal(served, leaf(certA)))
	write("tls.key", keyB)
	served, _ = ask(certA, keyA)
	is.True(bytes.Equal(served, leaf(certB)))

	write("ca.crt", []byte("nonsense"))
	_, code = ask(certA, keyA)
	is.Equal(code, http.StatusOK)
	write("ca.crt", certB)
	_, code = ask(certA, keyA)
	is.Equal(code, http.StatusUnauthorized)
	_, code = ask(certB, keyB)
	is.Equal(code, http.StatusOK)

	// The ConfigMap for aggregated API servers contains both certificates: the API server adds its own and restores it.
	const path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
	ca := func(method string) string {
		r, err := http.NewRequest(method, srv.URL()+path, nil)
		is.NoErr(err)
		r.Header.Set("Authorization", "Bearer admintoken")
		res, err := srv.Transport().RoundTrip(r)
		is.NoErr(err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		is.NoErr(err)
		return client{t, srv}.parse(string(text)).String("data", "client-ca-file")
	}
	text := func(cert []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf(cert)}))
	}
	is.Equal(ca("GET"), text(certA)+text(certB))
	ca("DELETE")
	is.Equal(ca("GET"), text(certB))
}
