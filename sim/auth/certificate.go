package auth

import (
	"context"

	"github.com/kubesim/kubesim/sim/resource"
)

// Certificate is what a client's certificate says about it (Kubernetes documentation, "X.509 client certificates").
type Certificate struct {
	// User is the certificate's subject: the common name and the organizations, which are groups.
	User resource.User
	// Trusted says that an authority of the server has signed it, for clients, and that this is its time.
	Trusted bool
}

type certificateKey struct{}

// WithCertificate returns ctx for the requests of a client that showed a certificate.
func WithCertificate(ctx context.Context, shown *Certificate) context.Context {
	return context.WithValue(ctx, certificateKey{}, shown)
}

// CertificateOf returns the certificate that the client of a request with ctx showed, nil for none.
func CertificateOf(ctx context.Context) *Certificate {
	shown, _ := ctx.Value(certificateKey{}).(*Certificate)
	return shown
}
