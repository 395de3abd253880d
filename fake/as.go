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

// Identity is access to a server as one user.
type Identity struct {
	server *Server
	user   *auth.User
}

// As returns access to the server for a user: a client that uses its Transport is that user, in the given groups. A service account is
// also in the groups of service accounts. With fake.Options{Auth: auth.RBAC}, roles decide what the user may do.
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

// Transport returns a transport that carries the user's requests.
func (i *Identity) Transport() http.RoundTripper { return i.Over(i.server.transport) }

// Over returns a transport whose requests go through another one, such as that of a Process, as the user's.
func (i *Identity) Over(transport http.RoundTripper) http.RoundTripper {
	return userTransport{transport, i.user}
}

// userTransport is a transport that sends a user's requests.
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

// Entry is access to a server: a Server, or the result of Server.As.
type Entry interface {
	URL() string
	Transport() http.RoundTripper
}

// Config makes a client configuration for a server, a replica or a user (As). C is rest.Config of k8s.io/client-go, in whatever version
// you use, because this module does not require it: the fields Host, Transport, UserAgent and QPS are set. Client-side rate limiting is
// disabled, because it would wait in real time. userAgent is the client's name in reports, in Actions and in faults. If it is empty,
// that is client-go's default.
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
