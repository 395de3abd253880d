package fake

import (
	"net/http"
	"slices"

	"github.com/kubesim/kubesim/sim/auth"
)

// Authenticator returns the user that sent a request, and reports whether it knows the user. The user is in the group
// system:authenticated in addition to the groups returned. An error is answered with 401.
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

// client returns how the sender of a request is authenticated apart from its headers, or nil if it is not.
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
	return &auth.Client{Certificate: s.trust.Authorities().Client(r.TLS.PeerCertificates, s.options.RequestHeader.AllowedNames, s.cluster.Clock().Now())}
}

// IssueCertificate returns a certificate for a user in groups, and its key, both PEM. A client that presents them to a listener with
// TLS is that user for a year of the server's time, if requests are authenticated. After the first call the server trusts a certificate
// authority of its own in addition to those of Options.ClientCA. All keys follow from the seed, so that the same calls return the same
// certificates. They are for tests and are not secret.
//
//	cert, key, err := srv.IssueCertificate("jane", "dev")
//	cfg := &rest.Config{Host: l.URL(), TLSClientConfig: rest.TLSClientConfig{CAData: l.CA(), CertData: cert, KeyData: key}}
func (s *Server) IssueCertificate(user string, groups ...string) (cert, key []byte, err error) {
	return s.trust.Issue(user, groups, s.cluster.Clock().Now())
}

// OpenToAnyone reports whether a client without credentials, or with kubesim's publicly known ones, may do everything. It may if
// requests are not authenticated, or if the default tokens or the default signing key of service accounts are valid.
func (s *Server) OpenToAnyone() bool {
	o := &s.options
	return !o.authenticates() || slices.Contains(o.Authorizers, "AlwaysAllow") || o.Tokens == nil || o.ServiceAccounts.SigningKey == nil ||
		slices.ContainsFunc(auth.DefaultTokens(), func(d auth.Token) bool {
			return slices.ContainsFunc(o.Tokens, func(t auth.Token) bool { return t.Token == d.Token })
		})
}
