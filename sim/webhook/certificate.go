//go:build !page

package webhook

import "crypto/x509"

// checkCertificate returns an error if a certificate cannot be parsed.
func checkCertificate(der []byte) error {
	_, err := x509.ParseCertificate(der)
	return err
}
