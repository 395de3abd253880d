//go:build !page

package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
)

// checkRequestBytes checks a signing request in DER and its signature.
func checkRequestBytes(der []byte) error {
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return err
	}
	return request.CheckSignature()
}

// Organizations returns those of the subject of a signing request in DER.
func Organizations(der []byte) ([]string, error) {
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return nil, err
	}
	return request.Subject.Organization, nil
}

// checkAuthority returns what is wrong with the certificate of an authority.
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

// checkCertificateBytes checks the certificates of one PEM block.
func checkCertificateBytes(der []byte) error {
	certificates, err := x509.ParseCertificates(der)
	if err == nil && len(certificates) == 0 {
		err = errors.New("found CERTIFICATE PEM block containing 0 certificates")
	}
	return err
}

// CheckKeyPair checks that a certificate and a key, both in PEM, belong together.
func CheckKeyPair(certificate, key []byte) error {
	_, err := tls.X509KeyPair(certificate, key)
	return err
}
