//go:build !page

package admission

import "crypto/x509"

// organizations returns those of the subject of a signing request in DER.
func organizations(der []byte) ([]string, error) {
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return nil, err
	}
	return request.Subject.Organization, nil
}
