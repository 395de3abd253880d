package fake

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/resource"
)

// clientCAs returns who signs the certificates of clients, nil for nobody.
func (s *Server) clientCAs() (*x509.CertPool, error) {
	if s.options.ClientCA == nil {
		return nil, nil
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(s.options.ClientCA) {
		return nil, errors.New("kubesim: Options.ClientCA holds no certificate in PEM")
	}
	return roots, nil
}

// certifying passes requests on with what the certificate of their client says. now is the time by which certificates are
// valid; roots have signed them.
func certifying(next http.Handler, roots *x509.CertPool, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
			shown := holder(r.TLS.PeerCertificates, roots, now())
			r = r.WithContext(auth.WithCertificate(r.Context(), shown))
		}
		next.ServeHTTP(w, r)
	})
}

// holder returns what a chain of certificates says about the client that showed it
// (k8s.io/apiserver/pkg/authentication/request/x509).
func holder(chain []*x509.Certificate, roots *x509.CertPool, now time.Time) *auth.Certificate {
	o := x509.VerifyOptions{Roots: roots, CurrentTime: now, Intermediates: x509.NewCertPool(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	for _, c := range chain[1:] {
		o.Intermediates.AddCert(c)
	}
	leaf := chain[0]
	if _, err := leaf.Verify(o); err != nil {
		return &auth.Certificate{}
	}
	uid, err := uidOf(leaf)
	if err != nil {
		return &auth.Certificate{}
	}
	sum := sha256.Sum256(leaf.Raw)
	return &auth.Certificate{Trusted: true, User: resource.User{Name: leaf.Subject.CommonName, UID: uid, Groups: leaf.Subject.Organization,
		Extra: map[string][]string{"authentication.kubernetes.io/credential-id": {"X509SHA256=" + hex.EncodeToString(sum[:])}}}}
}

// uidName is the attribute of a subject that holds the uid of a user (KEP-5082).
var uidName = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}

// uidOf returns the uid in the subject of a certificate, "" if there is none.
func uidOf(c *x509.Certificate) (string, error) {
	found := ""
	for _, name := range c.Subject.Names {
		if !name.Type.Equal(uidName) {
			continue
		}
		uid, _ := name.Value.(string)
		if uid == "" || found != "" {
			return "", errors.New("a certificate has one uid or none")
		}
		found = uid
	}
	return found, nil
}
