package fake

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/auth"
)

// Identity provides access to a server as a specific user.
type Identity struct {
	server *Server
	user   *auth.User
}

// As returns access to the server as a user: a client that uses its Transport is that user, in the given groups. A
// service account is also in the groups of service accounts. With fake.Options{Auth: auth.RBAC}, roles decide what the
// user may do.
//
//	srv.As("system:serviceaccount:shop:operator").Transport()
//	client := kubernetes.NewForConfigOrDie(fake.Config[rest.Config](srv.As("jane", "dev"), "my-test"))
func (s *Server) As(user string, groups ...string) *Identity {
	groups = slices.Clone(groups)
	if rest, ok := strings.CutPrefix(user, "system:serviceaccount:"); ok {
		namespace, _, _ := strings.Cut(rest, ":")
		groups = append(groups, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
	}
	return &Identity{s, &auth.User{Name: user, Groups: groups}}
}

// URL returns Server.URL.
func (i *Identity) URL() string { return i.server.URL() }

// Transport returns a transport that sends requests as the user.
func (i *Identity) Transport() http.RoundTripper { return i.Over(i.server.transport) }

// Over returns a transport that sends requests as the user through another transport, such as that of a Process.
func (i *Identity) Over(transport http.RoundTripper) http.RoundTripper {
	return userTransport{transport, i.user}
}

// userTransport is a transport that sends requests as a user.
type userTransport struct {
	over http.RoundTripper
	user *auth.User
}

// identity is the context key of a request's user.
type identity struct{}

// RoundTrip implements http.RoundTripper.
func (x userTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return x.over.RoundTrip(r.WithContext(context.WithValue(r.Context(), identity{}, x.user)))
}

// Entry provides access to a server. Server and Identity implement it.
type Entry interface {
	URL() string
	Transport() http.RoundTripper
}

// Config returns a client configuration for a server, a replica or a user (As). C is rest.Config of k8s.io/client-go,
// in any version, because this module does not require client-go. Config sets the fields Host, Transport, UserAgent and
// QPS. It disables client-side rate limiting, because that would wait in real time. userAgent is the client's name in
// reports, in Actions and in faults. If it is empty, client-go uses its default.
//
//	client := kubernetes.NewForConfigOrDie(fake.Config[rest.Config](srv, "operator"))
func Config[C any](to Entry, userAgent string) *C {
	c := new(C)
	v := reflect.ValueOf(c).Elem()
	set := func(field string, value any) {
		f := v.FieldByName(field)
		if !f.IsValid() || !reflect.TypeOf(value).ConvertibleTo(f.Type()) {
			panic(fmt.Sprintf("kubesim: Config: %T has no field %s for a %T: want rest.Config of k8s.io/client-go", *c, field, value))
		}
		f.Set(reflect.ValueOf(value).Convert(f.Type()))
	}
	set("Host", to.URL())
	set("Transport", to.Transport())
	set("UserAgent", userAgent)
	set("QPS", float32(-1))
	return c
}

// Authenticator returns the user that sent a request. ok is false if it does not know the user. The user is in the
// group system:authenticated in addition to the returned groups. If Authenticator returns an error, the server responds
// with 401.
type Authenticator func(*http.Request) (user auth.User, ok bool, err error)

// Authenticate sets a function that authenticates each request before certificates and tokens are checked, even with
// auth.AlwaysAllow. If f does not know the sender, certificates and tokens are checked. f may be called concurrently,
// and must not read the body. A request sent over Transport has no RemoteAddr and no TLS. If f is nil, Authenticate
// removes the function of an earlier call.
func (s *Server) Authenticate(f Authenticator) {
	if f == nil {
		s.authenticate.Store(nil)
		return
	}
	s.authenticate.Store(&f)
}

// client returns the identity of a request's sender, as far as it can be determined without the headers. It returns nil
// if it cannot.
func (s *Server) client(r *http.Request) *auth.Client {
	if issuers := s.options.Authentication.Issuers; issuers != nil {
		issuers.Prepare(auth.Bearer(r.Header.Get("Authorization")))
	}
	s.options.admission.Manifests.Reload(s.cluster)
	s.options.authorization.Reload(s.cluster, s.log)
	if values := s.options.Encryption.Values; values != nil {
		values.Arrived(r.URL.Path, s.log)
	}
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

// IssueCertificate returns a certificate for a user and its groups, and the key, both as PEM. A client that presents
// them to a listener with TLS is that user for one year of the server's time, if requests are authenticated. After the
// first call, the server trusts its own certificate authority in addition to those of Options.ClientCA. All keys are
// derived from the seed, so the same calls return the same certificates. They are for tests and are not secret.
//
//	cert, key, err := srv.IssueCertificate("jane", "dev")
//	cfg := &rest.Config{Host: l.URL(), TLSClientConfig: rest.TLSClientConfig{CAData: l.CA(), CertData: cert, KeyData: key}}
func (s *Server) IssueCertificate(user string, groups ...string) (cert, key []byte, err error) {
	return s.trust.Issue(user, groups, s.cluster.Clock().Now())
}

// OpenToAnyone reports whether a client without credentials, or with kubesim's publicly known ones, may do everything.
// This is the case if requests are not authenticated, or if the default tokens or the default signing key of service
// accounts are valid.
func (s *Server) OpenToAnyone() bool {
	o := &s.options
	return !o.authenticates() || slices.Contains(o.Authorizers, "AlwaysAllow") || o.Tokens == nil || o.ServiceAccounts.SigningKey == nil && o.ServiceAccounts.External == nil ||

		slices.ContainsFunc(auth.DefaultTokens(), func(d auth.Token) bool {
			return slices.ContainsFunc(o.Tokens, func(t auth.Token) bool { return t.Token == d.Token })
		})
}
