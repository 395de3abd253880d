//go:build !page

package auth

import (
	"crypto/x509"
	"time"
)

// expiry returns until when a certificate is good.
func expiry(der []byte) (time.Time, error) {
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return time.Time{}, err
	}
	return c.NotAfter, nil
}
