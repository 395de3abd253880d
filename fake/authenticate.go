package fake

import (
	"net/http"
	"slices"

	"github.com/kubesim/kubesim/sim/auth"
)

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
	return &auth.Client{Certificate: s.trust.Authorities().Client(r.TLS.PeerCertificates, s.options.RequestHeader.AllowedNames, s.cluster.Clock().Now())}
}

// IssueCertificate returns a certificate for a user in groups, and its key, both PEM: whoever shows them to a listener with
// TLS is that user, for a year of the server's time, where requests are authenticated. From the first of them on the server
// trusts an authority of its own beside those of Options.ClientCA. The seed decides all keys, so that the same calls give
// the same certificates: they are for tests, and no secret.
//
//	cert, key, err := srv.IssueCertificate("jane", "dev")
//	cfg := &rest.Config{Host: l.URL(), TLSClientConfig: rest.TLSClientConfig{CAData: l.CA(), CertData: cert, KeyData: key}}
func (s *Server) IssueCertificate(user string, groups ...string) (cert, key []byte, err error) {
	return s.trust.Issue(user, groups, s.cluster.Clock().Now())
}

// OpenToAnyone reports whether somebody who shows nothing, or only what everybody knows of kubesim, may do everything: nobody
// is authenticated, or the default tokens or the default key for tokens of service accounts are good.
func (s *Server) OpenToAnyone() bool {
	o := &s.options
	return !o.authenticates() || slices.Contains(o.Authorizers, "AlwaysAllow") || o.Tokens == nil || o.ServiceAccounts.SigningKey == nil ||
		slices.ContainsFunc(auth.DefaultTokens(), func(d auth.Token) bool {
			return slices.ContainsFunc(o.Tokens, func(t auth.Token) bool { return t.Token == d.Token })
		})
}
