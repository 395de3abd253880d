//go:build !page

package certificates

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/field"
)

// checkRequestBytes checks a DER-encoded signing request and its signature.
func checkRequestBytes(der []byte) error {
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return err
	}
	return request.CheckSignature()
}

// organizations returns the organizations in the subject of a DER-encoded signing request.
func organizations(der []byte) ([]string, error) {
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return nil, err
	}
	return request.Subject.Organization, nil
}

// commonName returns the common name in the subject of a DER-encoded signing request.
func commonName(der []byte) (string, error) {
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return "", err
	}
	return request.Subject.CommonName, nil
}

// checkAuthority returns an error message if the certificate is not that of a CA, and "" otherwise.
func checkAuthority(der []byte) string {
	switch c, err := x509.ParseCertificate(der); {
	case err != nil:
		return "does not parse as X.509"
	case !c.IsCA:
		return "does not have the CA bit set"
	case !c.BasicConstraintsValid:
		return "has invalid basic constraints"
	}
	return ""
}

// checkCertificateBytes checks that the bytes of one PEM block are one or more X.509 certificates.
func checkCertificateBytes(der []byte) error {
	certificates, err := x509.ParseCertificates(der)
	if err == nil && len(certificates) == 0 {
		err = errors.New("found CERTIFICATE PEM block containing 0 certificates")
	}
	return err
}

// CheckKeyPair checks that a PEM certificate and a PEM key match.
func CheckKeyPair(certificate, key []byte) error {
	_, err := tls.X509KeyPair(certificate, key)
	return err
}

// checkStubRequest checks the certificate request of a pod (RFC 2986). It returns a description of the problem, or "", and the
// value that the error contains.
func checkStubRequest(der []byte) (shown any, problem string) {
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return field.Omit, "must be a valid PKCS#10 CSR"
	}
	if shown, problem = checkKey(request.PublicKey, "P256, P384, or P521", field.Omit); problem != "" {
		return shown, problem
	}
	if request.CheckSignature() != nil {
		return field.Omit, "invalid signature"
	}
	return nil, ""
}

// checkKey checks a public key. It returns a description of the problem, or "", and the value that the error contains. If the type
// of the key is not supported, that value is unknown.
func checkKey(key any, curves string, unknown any) (shown any, problem string) {
	switch key := key.(type) {
	case ed25519.PublicKey:
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() && key.Curve != elliptic.P384() && key.Curve != elliptic.P521() {
			return "curve " + key.Curve.Params().Name, "elliptic public keys must use curve " + curves
		}
	case *rsa.PublicKey:
		if bits := 8 * key.Size(); bits != 3072 && bits != 4096 {
			return fmt.Sprintf("%d-bit modulus", bits), "RSA keys must have modulus size 3072 or 4096"
		}
	default:
		return unknown, "unknown public key type; supported types are Ed25519, ECDSA, and RSA"
	}
	return nil, ""
}

// checkPossession checks a public key, and reports whether proof is a signature of text by the corresponding private key. If there
// is a problem with the key, it returns a description of it, and the value that the error contains.
func checkPossession(der, proof, text []byte) (shown any, problem string, signed bool) {
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, "must be a valid PKIX-serialized public key", false
	}
	if shown, problem = checkKey(key, "P256 or P384", nil); problem != "" {
		return shown, problem, false
	}
	hash := sha256.Sum256(text)
	switch key := key.(type) {
	case ed25519.PublicKey:
		signed = ed25519.Verify(key, text, proof)
	case *ecdsa.PublicKey:
		signed = ecdsa.VerifyASN1(key, hash[:], proof)
	case *rsa.PublicKey:
		signed = rsa.VerifyPSS(key, crypto.SHA256, hash[:], proof, nil) == nil
	}
	return nil, "", signed
}

// leaf is an issued certificate.
type leaf struct {
	known               bool // the certificate was parsed
	notBefore, notAfter time.Time
	certificate         *x509.Certificate
}

func readLeaf(der []byte) (leaf, bool) {
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return leaf{}, false
	}
	return leaf{known: true, notBefore: c.NotBefore, notAfter: c.NotAfter, certificate: c}, true
}

// checkNames checks the names in the certificate. Its errors refer to the field of the chain.
func (l leaf) checkNames(chain field.Cursor) {
	for _, name := range l.certificate.DNSNames {
		at := chain.With(name)
		at.InvalidIf(name == "", "leaf certificate should not contain empty DNSName")
		at.InvalidIf(strings.Contains(name, ".."), "leaf certificate's DNSName should not contain '..'")
		at.InvalidIf(strings.HasPrefix(name, ".") || strings.HasSuffix(name, "."), "leaf certificate's DNSName should not start or end with '.'")
	}
	for _, address := range l.certificate.EmailAddresses {
		if _, err := mail.ParseAddress(address); err != nil {
			chain.Invalid(address, "leaf certificate should not contain invalid EmailAddress")
		}
	}
}

// isFor reports whether the certificate is for the public key in request or, if request is empty, for key.
func (l leaf) isFor(request, key []byte) bool {
	var public any
	if len(request) > 0 {
		if r, err := x509.ParseCertificateRequest(request); err == nil {
			public = r.PublicKey
		}
	} else {
		public, _ = x509.ParsePKIXPublicKey(key)
	}
	own, ok := public.(interface{ Equal(crypto.PublicKey) bool })
	return !ok || own.Equal(l.certificate.PublicKey)
}
