//go:build !page

package auth

import (
	"crypto/x509"
	"time"
)

// expiry returns the time at which a DER-encoded certificate expires.
func expiry(der []byte) (time.Time, error) {
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return time.Time{}, err
	}
	return c.NotAfter, nil
}
