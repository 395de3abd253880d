package fake_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// A listener shows the certificate that it was given, and CA is what trusts it.
func TestListenCertificate(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	is.NoErr(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(77), DNSNames: []string{"api.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	is.NoErr(err)

	srv := fake.RunT(t)
	l, err := srv.Listen(fake.ListenOptions{Certificate: &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}})
	is.NoErr(err)
	roots := x509.NewCertPool()
	is.True(roots.AppendCertsFromPEM(l.CA()))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "api.example"}}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Get(l.URL() + "/version")
	is.NoErr(err)
	defer res.Body.Close()
	is.Equal(res.StatusCode, http.StatusOK)
	is.Equal(res.TLS.PeerCertificates[0].SerialNumber, big.NewInt(77)) // the given one
}
