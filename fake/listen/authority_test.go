package listen

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	mathrand "math/rand/v2"
	"testing"
	"time"

	"github.com/matryer/is"
)

// signer creates certificates.
type signer struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

// sign returns a certificate that is valid from one hour to another after start. The parent of a root is nil.
func sign(is *is.I, parent *signer, ca bool, from, until int) *signer {
	is.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	is.NoErr(err)
	t := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "jane"}, IsCA: ca, BasicConstraintsValid: true,
		NotBefore: start.Add(time.Duration(from) * time.Hour), NotAfter: start.Add(time.Duration(until) * time.Hour)}
	if ca {
		t.KeyUsage = x509.KeyUsageCertSign
	} else {
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	over, by := t, key
	if parent != nil {
		over, by = parent.cert, parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, t, over, &key.PublicKey, by)
	is.NoErr(err)
	cert, err := x509.ParseCertificate(der)
	is.NoErr(err)
	return &signer{key, cert}
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// At any time, an authority that has checked a chain before returns the same result as a new one.
func TestSignedAgain(t *testing.T) {
	is := is.New(t)
	root, other := sign(is, nil, true, 0, 100), sign(is, nil, true, 0, 100)
	middle := sign(is, root, true, 20, 60)
	chains := [][]*x509.Certificate{
		{sign(is, root, false, 10, 50).cert},
		{sign(is, root, false, 30, 40).cert},
		{sign(is, middle, false, 0, 100).cert, middle.cert},
		{sign(is, middle, false, 0, 100).cert}, // without its intermediate
		{sign(is, other, false, 0, 100).cert},
	}
	roots := x509.NewCertPool()
	roots.AddCert(root.cert)
	draw := mathrand.New(mathrand.NewPCG(1, 1))
	used, valid := newAuthority(roots), 0
	for range 2000 {
		chain, now := chains[draw.IntN(len(chains))], start.Add(time.Duration(draw.IntN(110))*time.Hour)
		want := newAuthority(roots).signed(chain, now)
		is.Equal(used.signed(chain, now), want)
		if want {
			valid++
		}
	}
	is.True(valid > 100)
	is.Equal(len(used.valid), 3) // chains that were valid at some time
}

// An authority checks the signatures of a chain once. A copy with another CA checks them again.
func TestSignedOnce(t *testing.T) {
	is := is.New(t)
	root, other := sign(is, nil, true, 0, 100), sign(is, nil, true, 0, 100)
	chain := []*x509.Certificate{sign(is, root, false, 0, 100).cert}
	a := (*authority)(nil).with(root.cert)
	is.True(a.signed(chain, start.Add(time.Hour)))
	a.roots = x509.NewCertPool() // so that another check would fail
	is.True(a.signed(chain, start.Add(2*time.Hour)))
	is.True(!a.signed(chain, start.Add(200*time.Hour)))
	is.True(!a.with(other.cert).signed(chain, start.Add(time.Hour)))
}

func BenchmarkSigned(b *testing.B) {
	is := is.New(b)
	root := sign(is, nil, true, 0, 100)
	chain, a := []*x509.Certificate{sign(is, root, false, 0, 100).cert}, (*authority)(nil).with(root.cert)
	for b.Loop() {
		a.signed(chain, start)
	}
}
