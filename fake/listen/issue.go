package listen

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"math/big"
	"time"
)

// issuer signs certificates for clients.
type issuer struct {
	seed   uint64
	key    *ecdsa.PrivateKey
	root   *x509.Certificate
	issued uint64
}

// certificateLife is how long a certificate is valid: the default of a cluster's signer. The issuer's own certificate outlives every test.
const (
	certificateLife = 365 * 24 * time.Hour
	issuerLife      = 100 * certificateLife
)

func newIssuer(seed uint64, now time.Time) (*issuer, error) {
	i := &issuer{seed: seed}
	var err error
	if i.key, err = i.nextKey(); err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubesim"},
		NotBefore: now.Add(-issuerLife), NotAfter: now.Add(issuerLife),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(nil, template, template, &i.key.PublicKey, i.key)
	if err != nil {
		return nil, err
	}
	i.root, err = x509.ParseCertificate(der)
	return i, err
}

// nextKey returns the next of the keys that follow from the seed.
func (i *issuer) nextKey() (*ecdsa.PrivateKey, error) {
	i.issued++
	material := binary.BigEndian.AppendUint64([]byte("kubesim certificates "), i.seed)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(material, i.issued))
	return ecdsa.ParseRawPrivateKey(elliptic.P256(), sum[:]) // one sum in 2³² is no key
}

func (i *issuer) issue(user string, groups []string, now time.Time) (cert, key []byte, err error) {
	private, err := i.nextKey()
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{SerialNumber: new(big.Int).SetUint64(i.issued), Subject: pkix.Name{CommonName: user, Organization: groups},
		NotBefore: now.Add(-5 * time.Minute), NotAfter: now.Add(certificateLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(nil, template, i.root, &private.PublicKey, i.key)
	if err != nil {
		return nil, nil, err
	}
	text, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text}), nil
}
