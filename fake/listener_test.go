package fake_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// TestListenCertificate checks that a listener presents the certificate that it was given, and that clients that trust
// CA accept it.
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
	is.Equal(res.TLS.PeerCertificates[0].SerialNumber, big.NewInt(77)) // the given certificate
}

// TestWatchListGap checks that a watch that requests the initial events waits as long as the listener's option says.
// Other watches do not wait.
func TestWatchListGap(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t)
	const gap = time.Hour // no test can wait that long
	l, err := srv.Listen(fake.ListenOptions{WatchListGap: gap})
	is.NoErr(err)
	const watch = "/api/v1/pods?watch=1&allowWatchBookmarks=1&resourceVersionMatch=NotOlderThan"
	res, err := http.Get(l.URL() + watch + "&sendInitialEvents=false")
	is.NoErr(err)
	is.NoErr(res.Body.Close())
	_, err = (&http.Client{Timeout: 10 * time.Millisecond}).Get(l.URL() + watch + "&sendInitialEvents=true")
	is.True(errors.Is(err, context.DeadlineExceeded))

	l, err = srv.Listen(fake.ListenOptions{WatchListGap: 10 * time.Millisecond})
	is.NoErr(err)
	start := time.Now()
	res, err = http.Get(l.URL() + watch + "&sendInitialEvents=true")
	is.NoErr(err)
	is.True(time.Since(start) >= 10*time.Millisecond)
	is.NoErr(res.Body.Close())
}
