package fake

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/auth"
)

// authorities are those who sign the certificates of clients and of proxies; nil: there are none. Nothing changes a pool
// that somebody may be looking at.
type authorities struct {
	clients, proxies *x509.CertPool
	both             *x509.CertPool // whom clients are told of: one with a certificate of somebody else keeps it to himself
}

// authoritiesOf reads the certificates of signers.
func authoritiesOf(s *auth.Signers) (a authorities, err error) {
	if a.clients, err = pool(s.ClientCA, "ClientCA"); err != nil {
		return a, err
	}
	if a.proxies, err = pool(s.Proxies.ClientCA, "RequestHeader.ClientCA"); err != nil {
		return a, err
	}
	if a.clients != nil || a.proxies != nil {
		a.both = x509.NewCertPool()
		a.both.AppendCertsFromPEM(s.ClientCA)
		a.both.AppendCertsFromPEM(s.Proxies.ClientCA)
	}
	return a, nil
}

// with returns the authorities and one more for clients.
func (a authorities) with(c *x509.Certificate) authorities {
	add := func(p *x509.CertPool) *x509.CertPool {
		if p == nil {
			p = x509.NewCertPool()
		}
		p = p.Clone()
		p.AddCert(c)
		return p
	}
	a.clients, a.both = add(a.clients), add(a.both)
	return a
}

// pool reads certificates, nil for none.
func pool(text []byte, name string) (*x509.CertPool, error) {
	if text == nil {
		return nil, nil
	}
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(text) {
		return nil, errors.New("kubesim: Options." + name + " holds no certificate in PEM")
	}
	return p, nil
}

// authorities are those of the options, and the server itself once it has issued a certificate.
func (s *Server) authorities() authorities {
	s.mu.Lock()
	defer s.mu.Unlock()
	if changed, _ := s.cas.read(&s.signers.ClientCA, &s.signers.Proxies.ClientCA); changed { // a bad file leaves all as it was
		s.trusted, _ = authoritiesOf(&s.signers) // read has looked at them
		for _, c := range s.extra {
			s.trusted = s.trusted.with(c)
		}
		s.cluster.PublishSigners(s.signers)
	}
	return s.trusted
}

// trustAlsoLocked trusts who has signed with the certificate c, too.
func (s *Server) trustAlsoLocked(c *x509.Certificate) {
	s.extra, s.trusted = append(s.extra, c), s.trusted.with(c)
}

// asksForCertificate makes a listener ask clients for a certificate while there is somebody who could have signed it.
func (s *Server) asksForCertificate(plain *tls.Config) func(*tls.ClientHelloInfo) (*tls.Config, error) {
	return func(*tls.ClientHelloInfo) (*tls.Config, error) {
		a := s.authorities()
		if a.both == nil {
			return nil, nil
		}
		c := plain.Clone()
		c.GetConfigForClient, c.ClientAuth, c.ClientCAs = nil, tls.RequestClientCert, a.both
		return c, nil
	}
}

// Authenticator returns the user that has sent a request, and ok if it knows the user, who is in the group system:authenticated in
// addition to the groups returned. An error is answered with 401.
type Authenticator func(*http.Request) (user auth.User, ok bool, err error)

// Authenticate calls f for each request before certificates and tokens are checked, also with auth.AlwaysAllow. If f does not know the
// sender, they are checked. Several requests may call f at the same time, and f must not read the body. A request over Transport has no
// RemoteAddr and no TLS. If f is nil, Authenticate removes the function of an earlier call.
func (s *Server) Authenticate(f Authenticator) {
	if f == nil {
		s.authenticate.Store(nil)
		return
	}
	s.authenticate.Store(&f)
}

// client returns what is known of the sender of a request beside its header, nil for nothing.
func (s *Server) client(r *http.Request) *auth.Client {
	if user, ok := r.Context().Value(identity{}).(*auth.User); ok {
		return &auth.Client{User: user}
	}
	if f := s.authenticate.Load(); f != nil {
		user, ok, err := (*f)(r)
		switch {
		case err != nil:
			return &auth.Client{Refused: true}
		case ok:
			return &auth.Client{User: &user}
		}
	}
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil
	}
	return &auth.Client{Certificate: s.authorities().read(r.TLS.PeerCertificates, s.options.RequestHeader.AllowedNames, s.cluster.Clock().Now())}
}

// read returns what a chain of certificates says about the client that showed it at a time, nil if nobody is there who
// could have signed it (k8s.io/apiserver/pkg/authentication/request/x509).
func (a authorities) read(chain []*x509.Certificate, allowed []string, now time.Time) *auth.Certificate {
	if a.both == nil {
		return nil
	}
	leaf, shown := chain[0], &auth.Certificate{}
	if a.proxies != nil {
		shown.Proxy = signed(chain, a.proxies, now) && (len(allowed) == 0 || slices.Contains(allowed, leaf.Subject.CommonName))
		shown.Untrusted = !shown.Proxy
	}
	if a.clients == nil {
		return shown
	}
	uid, err := uidOf(leaf)
	switch {
	case !signed(chain, a.clients, now):
		shown.Untrusted = true
	case leaf.Subject.CommonName == "": // nobody's
	case err != nil:
		shown.Untrusted = true
	default:
		sum := sha256.Sum256(leaf.Raw)
		shown.User = auth.User{Name: leaf.Subject.CommonName, UID: uid, Groups: leaf.Subject.Organization,
			Extra: map[string][]string{"authentication.kubernetes.io/credential-id": {"X509SHA256=" + hex.EncodeToString(sum[:])}}}
	}
	return shown
}

// signed reports whether one of roots has signed a chain of certificates for clients that is good at a time.
func signed(chain []*x509.Certificate, roots *x509.CertPool, now time.Time) bool {
	o := x509.VerifyOptions{Roots: roots, CurrentTime: now, Intermediates: x509.NewCertPool(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	for _, c := range chain[1:] {
		o.Intermediates.AddCert(c)
	}
	_, err := chain[0].Verify(o)
	return err == nil
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
