//go:build !page

package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// Authority signs the certificates of a cluster (--cluster-signing-cert-file, --cluster-signing-key-file).
type Authority struct {
	Certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority returns the Authority of all clusters with the given seed. Its key is for tests and is not secret.
func NewAuthority(seed uint64) (*Authority, error) {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("kubesim cluster signing "), seed))
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), sum[:]) // fails for one in 2³² seeds
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"},
		NotBefore: time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(nil, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	root, err := x509.ParseCertificate(der)
	return &Authority{root, key}, err
}

const (
	// lifeMax is the lifetime of certificates, unless a request specifies a shorter one (--cluster-signing-duration). lifeMin is
	// the minimum.
	lifeMax = 365 * 24 * time.Hour
	lifeMin = 10 * time.Minute

	// backdate is the time between the beginning of a certificate's validity and its signing, which tolerates clocks that are behind. It
	// is deducted from the lifetime, unless the lifetime is less than shortLife.
	backdate  = 5 * time.Minute
	shortLife = 8 * time.Hour
)

// sign returns a PEM certificate for a request (authority.PermissiveSigningPolicy). life is the requested lifetime.
func (a *Authority) sign(q *x509.CertificateRequest, usages []string, life time.Duration, serial *big.Int, now time.Time) ([]byte, error) {
	if err := q.CheckSignature(); err != nil {
		return nil, fmt.Errorf("unable to verify certificate request signature: %w", err)
	}
	template := &x509.Certificate{SerialNumber: serial, Subject: q.Subject, DNSNames: q.DNSNames, IPAddresses: q.IPAddresses,
		EmailAddresses: q.EmailAddresses, URIs: q.URIs, BasicConstraintsValid: true, NotBefore: now.Add(-backdate)}
	if err := use(template, usages); err != nil {
		return nil, err
	}
	life = min(max(life, lifeMin), lifeMax)
	if template.NotAfter = now.Add(life); life >= shortLife {
		template.NotAfter = now.Add(life - backdate)
	}
	end := a.Certificate.NotAfter
	if template.NotAfter.After(end) {
		template.NotAfter = end
	}
	if !now.Before(end) {
		return nil, fmt.Errorf("refusing to sign a certificate that expired in the past: NotAfter=%v", end)
	}
	der, err := x509.CreateCertificate(nil, template, a.Certificate, q.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("failed to sign certificate: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// use sets the key usages of a certificate. It returns an error for an unknown usage.
func use(template *x509.Certificate, usages []string) error {
	var unknown []string
	for _, name := range usages {
		if key, ok := keyUsage(name); ok {
			template.KeyUsage |= key
		} else if extended, ok := extendedUsage(name); ok {
			template.ExtKeyUsage = append(template.ExtKeyUsage, extended)
		} else {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(template.ExtKeyUsage)
	template.ExtKeyUsage = slices.Compact(template.ExtKeyUsage)
	if len(unknown) > 0 {
		return fmt.Errorf("unrecognized usage values: %q", unknown)
	}
	return nil
}

func keyUsage(name string) (x509.KeyUsage, bool) {
	names := []string{"digital signature", "content commitment", "key encipherment", "data encipherment", "key agreement", "cert sign",
		"crl sign", "encipher only", "decipher only"} // in the order of the bits (RFC 5280, section 4.2.1.3)
	if name == "signing" {
		name = names[0]
	}
	bit := slices.Index(names, name)
	return 1 << max(bit, 0), bit >= 0
}

func extendedUsage(name string) (x509.ExtKeyUsage, bool) {
	names := []string{"any", "server auth", "client auth", "code signing", "email protection", "ipsec end system", "ipsec tunnel",
		"ipsec user", "timestamping", "ocsp signing", "microsoft sgc", "netscape sgc"} // in the order of x509.ExtKeyUsage
	if name == "s/mime" {
		name = "email protection"
	}
	n := slices.Index(names, name)
	return x509.ExtKeyUsage(n), n >= 0
}

// notAfter returns the end of the validity of an encoded certificate. It returns false if the certificate cannot be decoded.
func notAfter(encoded string) (end time.Time, ok bool) {
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return end, false
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return end, false
	}
	all, err := x509.ParseCertificates(block.Bytes)
	if err != nil || len(all) == 0 {
		return end, false
	}
	return all[0].NotAfter, true
}
