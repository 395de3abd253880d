// Package auth authenticates and authorizes the requests to an API server.
//
//	header, Client ─ Authenticate ─▶ User ─ Impersonate ─▶ User ─ Authorize(Attributes) ─▶ allowed, reason
//	                     │ 401                  │ 403                    │
//	user set by the program, proxy,   impersonate verbs       the authorizers in their order; for RBAC the
//	certificate, bearer token,                                ClusterRoleBindings first, then the RoleBindings
//	anonymous                                                 of the request's namespace
//
// Roles and bindings are read from the store for every decision, so a change applies to the next request.
package auth

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// Mode selects how requests are authorized.
type Mode int

const (
	AlwaysAllow Mode = iota // every request has the rights of cluster-admin, whatever its credentials
	RBAC                    // certificates, bearer tokens, anonymous requests and role-based access control
)

// Token is a bearer token and its user. In addition to the given groups, every such user belongs to system:authenticated.
type Token struct {
	Token string
	User  resource.User
}

// User is the user that sends a request.
type User = resource.User

// Names with a special meaning to the API server (Kubernetes documentation, "User impersonation" and "RBAC").
const (
	anonymous       = "system:anonymous"
	authenticated   = "system:authenticated"
	unauthenticated = "system:unauthenticated"
	masters         = "system:masters"
)

// Options configure the authentication and authorization of an API server.
type Options struct {
	Mode Mode
	// Tokens are the accepted bearer tokens, in addition to those of service accounts. The default is DefaultTokens.
	Tokens []Token
	// Authorizers are the types of the authorizers in the order in which they are consulted (--authorization-mode): AlwaysAllow,
	// AlwaysDeny, Node, RBAC, ABAC, Webhook. If Authorizers is not nil, requests are authenticated, whatever Mode is; if it is nil,
	// Mode decides.
	Authorizers []string
	// Chain are the authorizers themselves. If it is nil, their types determine them. ABAC and Webhook need it.
	Chain []Link
	// NoAnonymous rejects requests without credentials with 401 (--anonymous-auth=false).
	NoAnonymous bool
	// AnonymousPaths are the paths of requests that may be anonymous. If it is empty, all requests may.
	AnonymousPaths []string
	// RequestHeader configures which proxies may set the user of a request.
	RequestHeader RequestHeader
	// Audiences are the API server's audiences. The default is token.DefaultIssuer.
	Audiences []string
	// Named puts the name of each authorizer before its reason for denying a request, like servers since 1.37, which also have
	// other reasons for some requests of nodes.
	Named bool
	// Host is the API server. If it is nil, tokens of service accounts are not accepted.
	Host Host
}

// Host provides the functions of an API server that its Auth needs.
type Host interface {
	// Account returns the service account of a token, and those of the wanted audiences for which it is valid. If the token is
	// invalid, it returns an error. If text is not a service account token, both results are nil.
	Account(text string, wanted []string) (*token.Holder, error)
	// Bootstrap returns the holder of a bootstrap token, or nil if the token is invalid or such tokens are not accepted.
	Bootstrap(text string) *token.Holder
	// Issued returns the user of a token that an issuer outside the cluster signed (TokenIssuers), or nil if no issuer is
	// configured that the token names. If the token is invalid, it returns an error.
	Issued(text string) (*User, error)
	Waiter
	// Asked is called for each decision of Authorize.
	Asked(at Attributes, allowed bool)
	// Indexed calls yield with each object whose indexed field (resource.Strategy.Index) has a value, in the order of their keys,
	// until it returns false.
	Indexed(storage, value string, yield func(*resource.Item) bool)
}

// TokenIssuers checks the tokens of issuers outside the cluster, such as OpenID providers.
type TokenIssuers interface {
	// Prepare requests the keys that AuthenticateToken needs for a token. It is called before each request with the token of the
	// request, which may be "", and without the Cluster's lock.
	Prepare(text string)
	// AuthenticateToken returns the user of a token at a time, or nil if the token names none of the issuers. If the token is
	// invalid, it returns an error. It does not wait for the network.
	AuthenticateToken(text string, now time.Time) (*User, error)
}

// Authenticates reports whether the server checks the credentials of requests.
func (o *Options) Authenticates() bool { return o.Mode != AlwaysAllow || o.Authorizers != nil }

// Check returns an error if the options are invalid (pkg/kubeapiserver/options.BuiltInAuthorizationOptions).
func (o *Options) Check() error {
	if err := o.checkAuthorizers(); err != nil {
		return err
	}
	return o.RequestHeader.Check()
}

// Auth authenticates and authorizes requests to one API server. It is not safe for concurrent use: the Cluster's lock guards it.
type Auth struct {
	options Options
	chain   []Link
	tokens  map[string]resource.User

	granted   map[string]string // impersonation mode that each user was last granted
	decisions map[decided]int   // number of final decisions
}

// New returns an Auth. The options must be valid (see Options.Check).
func New(o Options) *Auth {
	if o.Authenticates() && o.Tokens == nil {
		o.Tokens = DefaultTokens()
	}
	if o.Audiences == nil {
		o.Audiences = []string{token.DefaultIssuer}
	}
	a := &Auth{options: o, tokens: make(map[string]resource.User, len(o.Tokens)), granted: map[string]string{}, decisions: map[decided]int{}}
	a.SetAuthorizers(o.chain())
	// Under AlwaysAllow, there are no anonymous requests (BuiltInAuthenticationOptions.ApplyAuthorization).
	if slices.Contains(o.Authorizers, alwaysAllow) {
		a.options.NoAnonymous = true
	}
	for _, t := range o.Tokens {
		a.tokens[t.Token] = withAuthenticatedGroup(t.User)
	}
	return a
}

// DefaultTokens returns the tokens of an administrator (admintoken) and of a user without rights (alicetoken).
func DefaultTokens() []Token {
	return []Token{
		{"admintoken", resource.User{Name: "admin", UID: "admin-uid", Groups: []string{masters}}},
		{"alicetoken", resource.User{Name: "alice", UID: "alice-uid", Groups: []string{"dev"}}},
	}
}

// administrator is the user of all requests under AlwaysAllow.
var administrator = resource.User{Name: "kubernetes-admin", Groups: []string{masters, authenticated}}

// Authenticate returns the user of a request for a path with header h from client c, which may be nil. It tries these sources in order: the
// user that the program running the server sets, the user that a proxy names, the subject of the certificate, the user of the
// bearer token, and system:anonymous. It returns a 401 if the program rejects the client. It also does so if a token is unknown or
// a certificate untrusted, unless another source identifies the client. warning is a warning for the client, or "". Under
// AlwaysAllow every client whose user the program does not set is kubernetes-admin (pkg/kubeapiserver/authenticator).
func (a *Auth) Authenticate(path string, h wire.Header, c *Client) (u resource.User, warning string, s *status.Status) {
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
	if text := Bearer(h.Get("Authorization")); text != "" {
		if t := a.holder(text, a.options.Audiences); t.err == nil && len(t.audiences) > 0 {
			return t.user, t.warning, nil
		}
		failed = true
	}
	if failed || !a.mayBeAnonymous(path) {
		return u, "", status.Unauthorized()
	}
	return resource.User{Name: anonymous, Groups: []string{unauthenticated}}, "", nil
}

// mayBeAnonymous reports whether a request for a path may have no credentials.
func (a *Auth) mayBeAnonymous(path string) bool {
	paths := a.options.AnonymousPaths
	return !a.options.NoAnonymous && (len(paths) == 0 || slices.Contains(paths, path))
}

// verdict is the result of checking a bearer token. audiences are the wanted audiences for which the token is valid. If the token
// is unknown, there are none, and err may explain why.
type verdict struct {
	user      resource.User
	audiences []string
	warning   string
	err       error
}

// holder checks a bearer token and returns the verdict. wanted contains the wanted audiences.
func (a *Auth) holder(text string, wanted []string) (v verdict) {
	u, ok := a.tokens[text]
	if !ok && a.options.Host != nil {
		if b := a.options.Host.Bootstrap(text); b != nil {
			u, ok = withAuthenticatedGroup(resource.User{Name: b.Name, Groups: b.Groups}), true
		}
	}
	var invalid error
	if !ok && a.options.Host != nil {
		var issued *User
		if issued, invalid = a.options.Host.Issued(text); issued != nil {
			u, ok = withAuthenticatedGroup(*issued), true
		}
	}
	if ok {
		v.user = u // such tokens are valid only for the server's audiences
		v.audiences = slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return !slices.Contains(a.options.Audiences, name) })
		return v
	}
	if a.options.Host == nil {
		return v
	}
	t, err := a.options.Host.Account(text, wanted)
	if t == nil || err != nil {
		return verdict{err: cmp.Or(err, invalid)}
	}
	u = resource.User{Name: t.Name, UID: t.UID, Groups: t.Groups, Extra: t.Extra}
	return verdict{withAuthenticatedGroup(u), t.Audiences, t.Warning, nil}
}

// withAuthenticatedGroup adds the user to system:authenticated, unless the user is anonymous or in system:unauthenticated
// (k8s.io/apiserver/pkg/authentication/group.AuthenticatedGroupAdder).
func withAuthenticatedGroup(u resource.User) resource.User {
	if u.Name != anonymous && !slices.Contains(u.Groups, unauthenticated) {
		u.Groups = withGroup(u.Groups, authenticated)
	}
	return u
}

// Bearer returns the token of an Authorization header, or "" if it contains none. The scheme is case-insensitive (RFC 6750).
func Bearer(header string) string {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(header), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	token, _, _ := strings.Cut(rest, " ")
	return token
}

// SpacedToken reports whether more than one space precedes the token of an Authorization header. Such a token is ignored, and the
// client gets a warning.
func SpacedToken(h wire.Header) bool {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(h.Get("Authorization")), " ")
	return strings.HasPrefix(rest, " ") && strings.EqualFold(scheme, "bearer")
}

// withGroup returns the groups with group added, unless they already contain it. It never modifies its argument.
func withGroup(groups []string, group string) []string {
	if slices.Contains(groups, group) {
		return groups
	}
	return append(groups[:len(groups):len(groups)], group)
}

// Client describes the sender of a request by its connection and by the settings of the program that runs the server, but not by
// the header.
type Client struct {
	// User is the user that the program sets. If it is nil, the server authenticates the request.
	User *resource.User
	// Refused rejects the request with 401.
	Refused bool
	// Certificate is the client's certificate. It is nil if the client presented none, or if the server has no authority for client
	// certificates.
	Certificate *Certificate
}

// Certificate is the result of verifying a client certificate (Kubernetes documentation, "X.509 client certificates").
type Certificate struct {
	// User is the subject of a certificate signed by an authority for clients: its common name is the user's name, and its
	// organizations are the groups. If the name is empty, the certificate does not identify a user.
	User resource.User
	// Proxy reports whether an authority for proxies signed the certificate, so that the header may name the user.
	Proxy bool
	// Untrusted reports whether a consulted authority did not sign the certificate, or the certificate is not valid for this time
	// and usage. A client without other credentials is then rejected instead of being anonymous.
	Untrusted bool
}

// ReadTokens parses the file of kube-apiserver's --token-auth-file. Each line contains a token, a user name, a uid and, optionally,
// quoted groups: token,user,uid,"group1,group2". As in kube-apiserver, the last line of a repeated token applies, and a line
// without a token is ignored; notes contains their line numbers (k8s.io/apiserver/pkg/authentication/token/tokenfile). ReadTokens
// returns an error, with the line number, if a line has fewer than three fields or is not valid CSV.
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
			return nil, nil, err // err contains the line number
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
