// Package auth decides who sends a request and whether they may.
//
//	certificate,             ─ Authenticate ─▶ User ─ Impersonate ─▶ User ─ Authorize(Attributes) ─▶ allowed, reason
//	Authorization: Bearer …        │ 401                 │ 403                    │
//	                          tokens of New        impersonate verbs       ClusterRoleBindings of every namespace,
//	                                                                       then RoleBindings of the request's
//
// Roles and bindings are read from the store at every decision, so a change takes effect with the next request.
package auth

import (
	"strings"

	"github.com/kubesim/kubesim/sim/http"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Mode says how requests are authorized.
type Mode int

const (
	AlwaysAllow Mode = iota // every request is cluster-admin, whatever credentials it carries
	RBAC                    // certificates, bearer tokens, anonymous requests and role-based access control
)

// Token is a bearer token and the user who holds it. Every holder is in system:authenticated beside the given groups.
type Token struct {
	Token string
	User  resource.User
}

// Names that the API server gives a meaning (Kubernetes documentation, "User impersonation" and "RBAC").
const (
	anonymous       = "system:anonymous"
	authenticated   = "system:authenticated"
	unauthenticated = "system:unauthenticated"
	masters         = "system:masters"
)

// Auth is the authentication and authorization of one API server. It is not safe for concurrent use: requests are asked
// about under the Cluster's lock.
type Auth struct {
	// Accounts returns the service account that holds a token, and for which of the wanted audiences it is good, or what is
	// wrong with a token of a service account; a text that is no such token has neither. nil: there are no such tokens. It
	// is set before the first request.
	Accounts func(token string, wanted []string) (user resource.User, good []string, err error)

	mode   Mode
	tokens map[string]resource.User

	granted map[string]string // mode of impersonation that users were last granted
}

// New returns an Auth. With nil in place of tokens, mode RBAC knows DefaultTokens.
func New(mode Mode, tokens []Token) *Auth {
	if mode == RBAC && tokens == nil {
		tokens = DefaultTokens()
	}
	a := &Auth{mode: mode, tokens: make(map[string]resource.User, len(tokens)), granted: map[string]string{}}
	for _, t := range tokens {
		u := t.User
		u.Groups = withGroup(u.Groups, authenticated)
		a.tokens[t.Token] = u
	}
	return a
}

// DefaultTokens returns an administrator and a user without rights of her own: admintoken and alicetoken.
func DefaultTokens() []Token {
	return []Token{
		{"admintoken", resource.User{Name: "admin", UID: "admin-uid", Groups: []string{masters}}},
		{"alicetoken", resource.User{Name: "alice", UID: "alice-uid", Groups: []string{"dev"}}},
	}
}

// Authenticate returns the user of a request with the header, from a client that showed a certificate or nil: the subject
// of the certificate, else the holder of the bearer token, 401 for a token that nobody holds or a certificate that nobody
// trusts, and system:anonymous without either. Under AlwaysAllow everybody is kubernetes-admin.
func (a *Auth) Authenticate(h http.Header, shown *Certificate) (resource.User, *status.Status) {
	if a.mode == AlwaysAllow {
		return resource.User{Name: "kubernetes-admin", Groups: []string{masters, authenticated}}, nil
	}
	if shown != nil && shown.Trusted && shown.User.Name != "" {
		u := shown.User
		u.Groups = withGroup(u.Groups, authenticated)
		return u, nil
	}
	token := bearer(h.Get("Authorization"))
	switch {
	case token == "" && shown != nil && !shown.Trusted:
		return resource.User{}, status.Unauthorized()
	case token == "":
		return resource.User{Name: anonymous, Groups: []string{unauthenticated}}, nil
	}
	u, good, err := a.holder(token, []string{audience})
	if len(good) == 0 || err != nil {
		return resource.User{}, status.Unauthorized()
	}
	return u, nil
}

// holder returns who holds a token, and for which of the wanted audiences it is good: for none if nobody holds it, which
// an error may explain.
func (a *Auth) holder(token string, wanted []string) (u resource.User, good []string, err error) {
	u, ok := a.tokens[token]
	if !ok && a.Accounts != nil {
		u, good, err = a.Accounts(token, wanted)
		u.Groups = withGroup(u.Groups, authenticated)
	}
	for _, name := range wanted {
		if ok && name == audience {
			good = append(good, name)
		}
	}
	return u, good, err
}

// bearer returns the token of an Authorization header, "" when it holds none (RFC 6750; the scheme in any case).
func bearer(header string) string {
	parts := strings.SplitN(strings.TrimSpace(header), " ", 3)
	if len(parts) < 2 || !strings.EqualFold(parts[0], "bearer") {
		return ""
	}
	return parts[1]
}

// SpacedToken reports whether more than one space stands before the token of an Authorization header. Such a token does
// not count; the client is warned.
func SpacedToken(h http.Header) bool {
	parts := strings.SplitN(strings.TrimSpace(h.Get("Authorization")), " ", 3)
	return len(parts) == 3 && parts[1] == "" && strings.EqualFold(parts[0], "bearer")
}

// withGroup returns the groups with one more, unless it is there. It never changes its argument.
func withGroup(groups []string, group string) []string {
	if has(groups, group) {
		return groups
	}
	return append(groups[:len(groups):len(groups)], group)
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
