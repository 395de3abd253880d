// Package auth authenticates and authorizes the requests to an API server.
//
//	header, Client ─ Authenticate ─▶ User ─ Impersonate ─▶ User ─ Authorize(Attributes) ─▶ allowed, reason
//	                     │ 401                  │ 403                    │
//	the program's own word, then      impersonate verbs       the authorizers in their order; of RBAC the
//	what a proxy says, a certificate,                         ClusterRoleBindings of every namespace, then the
//	a bearer token, anonymous                                 RoleBindings of the request's
//
// Roles and bindings are read from the store at every decision, so a change takes effect with the next request.
package auth

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// Mode is the way in which requests are authorized.
type Mode int

const (
	AlwaysAllow Mode = iota // every request is cluster-admin, whatever credentials it carries
	RBAC                    // certificates, bearer tokens, anonymous requests and role-based access control
)

// Token is a bearer token and its user. Every such user is in system:authenticated beside the given groups.
type Token struct {
	Token string
	User  resource.User
}

// User is the user that sends a request.
type User = resource.User

// Names that the API server gives a meaning (Kubernetes documentation, "User impersonation" and "RBAC").
const (
	anonymous       = "system:anonymous"
	authenticated   = "system:authenticated"
	unauthenticated = "system:unauthenticated"
	masters         = "system:masters"
)

// Options configure the authentication and authorization of an API server.
type Options struct {
	Mode Mode
	// Tokens are the accepted bearer tokens beside those of service accounts. The default is DefaultTokens.
	Tokens []Token
	// Authorizers are consulted in this order (--authorization-mode): AlwaysAllow, AlwaysDeny, Node, RBAC. If they are set,
	// requests are authenticated, whatever Mode is. If Authorizers is nil, Mode decides.
	Authorizers []string
	// NoAnonymous answers a request without credentials with 401 (--anonymous-auth=false).
	NoAnonymous bool
	// RequestHeader configures which proxies may name users.
	RequestHeader RequestHeader
	// Audiences are those of the API server. The default is token.DefaultIssuer.
	Audiences []string
	// Named puts the name of each authorizer before its reason to refuse a request, as servers since 1.37 do.
	Named bool
	// Host is the API server. If it is nil, there are no tokens of service accounts.
	Host Host
}

// Host is the API server that an Auth works for.
type Host interface {
	// Account returns the service account of a token, and for which of the wanted audiences it is valid. It returns an error if the
	// token of a service account is invalid, and nil and nil for any other text.
	Account(text string, wanted []string) (*token.Holder, error)
	// Asked is called with each decision that Authorize makes.
	Asked(at Attributes, allowed bool)
}

// Authenticates reports whether the credentials of requests are checked.
func (o *Options) Authenticates() bool { return o.Mode != AlwaysAllow || o.Authorizers != nil }

// Check returns an error if the options are invalid (pkg/kubeapiserver/options.BuiltInAuthorizationOptions).
func (o *Options) Check() error {
	if o.Authorizers != nil && len(o.Authorizers) == 0 {
		return errors.New("at least one authorization-mode must be passed")
	}
	for i, name := range o.Authorizers {
		switch name {
		case alwaysAllow, alwaysDeny, node, rbac:
		case "Webhook", "ABAC":
			return fmt.Errorf("authorization-mode %s is not simulated; there are AlwaysAllow, AlwaysDeny, Node and RBAC", name)
		default:
			return fmt.Errorf("authorization-mode %q is not a valid mode", name)
		}
		if slices.Contains(o.Authorizers[:i], name) {
			return fmt.Errorf("authorization-mode %q has mode specified more than once", o.Authorizers)
		}
	}
	return o.RequestHeader.Check()
}

// Names of authorizers.
const (
	alwaysAllow = "AlwaysAllow"
	alwaysDeny  = "AlwaysDeny"
	node        = "Node"
	rbac        = "RBAC"
)

// Auth is the authentication and authorization of one API server. It is not safe for concurrent use: the Cluster's lock guards it.
type Auth struct {
	options     Options
	authorizers []string
	tokens      map[string]resource.User

	granted map[string]string // mode of impersonation that users were last granted
}

// New returns an Auth. The options are right (Options.Check).
func New(o Options) *Auth {
	if o.Authenticates() && o.Tokens == nil {
		o.Tokens = DefaultTokens()
	}
	if o.Audiences == nil {
		o.Audiences = []string{token.DefaultIssuer}
	}
	a := &Auth{options: o, authorizers: o.Authorizers, tokens: make(map[string]resource.User, len(o.Tokens)), granted: map[string]string{}}
	if a.authorizers == nil {
		a.authorizers = []string{map[Mode]string{AlwaysAllow: alwaysAllow, RBAC: rbac}[o.Mode]}
	}
	// BuiltInAuthenticationOptions.ApplyAuthorization: no anonymous requests under AlwaysAllow
	if slices.Contains(o.Authorizers, alwaysAllow) {
		a.options.NoAnonymous = true
	}
	for _, t := range o.Tokens {
		a.tokens[t.Token] = withAuthenticatedGroup(t.User)
	}
	return a
}

// DefaultTokens returns an administrator and a user without rights: admintoken and alicetoken.
func DefaultTokens() []Token {
	return []Token{
		{"admintoken", resource.User{Name: "admin", UID: "admin-uid", Groups: []string{masters}}},
		{"alicetoken", resource.User{Name: "alice", UID: "alice-uid", Groups: []string{"dev"}}},
	}
}

// administrator is the user of all requests under AlwaysAllow.
var administrator = resource.User{Name: "kubernetes-admin", Groups: []string{masters, authenticated}}

// Authenticate returns the user of a request with the header from a client, which may be nil. The sources are, in this order: the
// user that the program around the server sets, the user that a proxy names, the subject of the certificate, the user of the bearer
// token, and system:anonymous. Authenticate returns a 401 if the program refuses the client, and for an unknown token or an
// untrusted certificate unless another source identifies the client. warning is a warning for the client, or "". Under AlwaysAllow
// every client whose user the program does not set is kubernetes-admin (pkg/kubeapiserver/authenticator).
func (a *Auth) Authenticate(h wire.Header, c *Client) (u resource.User, warning string, s *status.Status) {
	if c == nil {
		c = &Client{}
	}
	switch {
	case c.Refused:
		return u, "", status.Unauthorized()
	case c.User != nil:
		return withAuthenticatedGroup(*c.User), "", nil
	case !a.options.Authenticates():
		return administrator, "", nil
	}
	failed := false
	if shown := c.Certificate; shown != nil {
		if named, ok := a.options.RequestHeader.user(h); ok && shown.Proxy {
			return withAuthenticatedGroup(named), "", nil
		}
		if shown.User.Name != "" {
			return withAuthenticatedGroup(shown.User), "", nil
		}
		failed = shown.Untrusted
	}
	if text := bearer(h.Get("Authorization")); text != "" {
		if t := a.holder(text, a.options.Audiences); t.err == nil && len(t.audiences) > 0 {
			return t.user, t.warning, nil
		}
		failed = true
	}
	if failed || a.options.NoAnonymous {
		return u, "", status.Unauthorized()
	}
	return resource.User{Name: anonymous, Groups: []string{unauthenticated}}, "", nil
}

// verdict is the result of checking a bearer token. audiences are the wanted ones for which it is valid: none if the token is
// unknown, which err may explain.
type verdict struct {
	user      resource.User
	audiences []string
	warning   string
	err       error
}

// holder checks a token and returns its user.
func (a *Auth) holder(text string, wanted []string) (v verdict) {
	if u, ok := a.tokens[text]; ok {
		v.user = u // such tokens are valid for the server's audiences only
		v.audiences = slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return !slices.Contains(a.options.Audiences, name) })
		return v
	}
	if a.options.Host == nil {
		return v
	}
	t, err := a.options.Host.Account(text, wanted)
	if t == nil || err != nil {
		return verdict{err: err}
	}
	u := resource.User{Name: t.Name, UID: t.UID, Groups: t.Groups, Extra: t.Extra}
	return verdict{withAuthenticatedGroup(u), t.Audiences, t.Warning, nil}
}

// withAuthenticatedGroup returns the user in system:authenticated, unless the user is anonymous or in system:unauthenticated
// (k8s.io/apiserver/pkg/authentication/group.AuthenticatedGroupAdder).
func withAuthenticatedGroup(u resource.User) resource.User {
	if u.Name != anonymous && !slices.Contains(u.Groups, unauthenticated) {
		u.Groups = withGroup(u.Groups, authenticated)
	}
	return u
}

// bearer returns the token of an Authorization header, "" when it holds none (RFC 6750; the scheme in any case).
func bearer(header string) string {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(header), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	token, _, _ := strings.Cut(rest, " ")
	return token
}

// SpacedToken reports whether more than one space stands before the token of an Authorization header. Such a token does
// not count; the client is warned.
func SpacedToken(h wire.Header) bool {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(h.Get("Authorization")), " ")
	return strings.HasPrefix(rest, " ") && strings.EqualFold(scheme, "bearer")
}

// withGroup returns the groups with one more, unless it is there. It never changes its argument.
func withGroup(groups []string, group string) []string {
	if slices.Contains(groups, group) {
		return groups
	}
	return append(groups[:len(groups):len(groups)], group)
}

// Client describes the sender of a request beside the header: from its connection, and from the program around the server.
type Client struct {
	// User is the user that the program sets. If it is nil, the server authenticates the request.
	User *resource.User
	// Refused makes the server answer with a 401.
	Refused bool
	// Certificate is the client's certificate. It is nil if there is none, or there is no authority for clients' certificates.
	Certificate *Certificate
}

// Certificate is the result of verifying a client's certificate (Kubernetes documentation, "X.509 client certificates").
type Certificate struct {
	// User is the subject of a certificate that an authority for clients has signed: the common name and the organizations, which
	// are groups. If it has no name, the certificate identifies no user.
	User resource.User
	// Proxy reports that an authority for proxies has signed it: the header names the user.
	Proxy bool
	// Untrusted reports that one of the consulted authorities has not signed it, or not for this time and use. Then a client
	// without other credentials is refused instead of anonymous.
	Untrusted bool
}

// ReadTokens parses the file of kube-apiserver's --token-auth-file: a line per token, with the token, the name of its user, the
// user's uid and, optionally, the user's groups in quotes: token,user,uid,"group1,group2". As in kube-apiserver, the last line of a
// repeated token counts, and a line without a token is ignored: notes contain their line numbers
// (k8s.io/apiserver/pkg/authentication/token/tokenfile).
func ReadTokens(r io.Reader) (all []Token, notes []string, err error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1
	index := map[string]int{}
	for {
		record, err := in.Read()
		if err == io.EOF {
			return all, notes, nil
		}
		if err != nil {
			return nil, nil, err // it names the line
		}
		line, _ := in.FieldPos(0)
		if len(record) < 3 {
			return nil, nil, fmt.Errorf("line %d: a token, the name of its user and his uid are needed, with commas between them: there are %d fields", line, len(record))
		}
		t := Token{Token: record[0], User: User{Name: record[1], UID: record[2]}}
		if len(record) > 3 && record[3] != "" {
			t.User.Groups = strings.Split(record[3], ",")
		}
		before, twice := index[t.Token]
		switch {
		case t.Token == "":
			notes = append(notes, fmt.Sprintf("line %d has no token", line))
		case twice:
			notes = append(notes, fmt.Sprintf("line %d has a token that an earlier line has: it is now %s's", line, t.User.Name))
			all[before] = t
		default:
			index[t.Token] = len(all)
			all = append(all, t)
		}
	}
}
