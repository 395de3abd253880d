//go:build !page

package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

// TestLife checks the validity periods of certificates.
func TestLife(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	a, err := NewAuthority(1)
	is.NoErr(err)
	again, err := NewAuthority(1)
	is.NoErr(err)
	is.Equal(a.Certificate.Raw, again.Certificate.Raw) // the seed determines the certificate
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	is.NoErr(err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane"}}, key)
	is.NoErr(err)
	q, err := x509.ParseCertificateRequest(der)
	is.NoErr(err)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct{ wants, gets time.Duration }{
		{time.Minute, 10 * time.Minute}, {time.Hour, time.Hour}, {8 * time.Hour, 8*time.Hour - 5*time.Minute},
		{1e6 * time.Hour, 365*24*time.Hour - 5*time.Minute},
	} {
		text, err := a.sign(q, []string{"client auth", "signing"}, test.wants, big.NewInt(7), now)
		is.NoErr(err)
		block, _ := pem.Decode(text)
		c, err := x509.ParseCertificate(block.Bytes)
		is.NoErr(err)
		is.Equal(c.NotBefore, now.Add(-5*time.Minute))
		is.Equal(c.NotAfter.Sub(now), test.gets)
		is.Equal(c.KeyUsage, x509.KeyUsageDigitalSignature)
		is.Equal(c.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth})
		is.NoErr(c.CheckSignatureFrom(a.Certificate))
	}
	_, err = a.sign(q, []string{"client auth", "sing"}, time.Hour, big.NewInt(7), now)
	is.Equal(err.Error(), `unrecognized usage values: ["sing"]`)
}

func TestUsages(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for name, want := range map[string]x509.KeyUsage{"digital signature": x509.KeyUsageDigitalSignature, "cert sign": x509.KeyUsageCertSign,
		"decipher only": x509.KeyUsageDecipherOnly, "key agreement": x509.KeyUsageKeyAgreement} {
		got, ok := keyUsage(name)
		is.True(ok)
		is.Equal(got, want)
	}
	for name, want := range map[string]x509.ExtKeyUsage{"any": x509.ExtKeyUsageAny, "s/mime": x509.ExtKeyUsageEmailProtection,
		"ocsp signing": x509.ExtKeyUsageOCSPSigning, "netscape sgc": x509.ExtKeyUsageNetscapeServerGatedCrypto} {
		got, ok := extendedUsage(name)
		is.True(ok)
		is.Equal(got, want)
	}
}

// TestDeadline checks how long a request is kept.
func TestDeadline(t *testing.T) {
	t.Parallel()
	condition := func(kind string) []any {
		return []any{map[string]any{"type": kind, "lastUpdateTime": "2026-01-01T12:00:00Z"}}
	}
	for _, test := range []struct {
		name       string
		conditions []any
		issued     string
		want       string
	}{
		{"nobody has decided", nil, "", "2026-01-02T00:00:00Z"},
		{"denied", condition("Denied"), "", "2026-01-01T13:00:00Z"},
		{"failed", condition("Failed"), "", "2026-01-01T13:00:00Z"},
		{"approved", condition("Approved"), "", "2026-01-02T12:00:00Z"},
		{"issued", condition("Approved"), "eA==", "2026-01-01T13:00:00Z"},
		{"something else", condition("Odd"), "", "0001-01-01T00:00:00Z"},
	} {
		t.Run(test.name, func(t *testing.T) {
			csr := object.Object{"metadata": map[string]any{"creationTimestamp": "2026-01-01T00:00:00Z"},
				"status": map[string]any{"conditions": test.conditions, "certificate": test.issued}}
			is.New(t).Equal(object.Time(deadline(csr)), test.want)
		})
	}
}
