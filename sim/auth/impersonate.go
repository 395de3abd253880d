package auth

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

const (
	serviceAccountPrefix = "system:serviceaccount:"
	nodePrefix           = "system:node:"
	authenticationGroup  = "authentication.k8s.io"
	extraPrefix          = "Impersonate-Extra-"
)

// Impersonate returns the user that a request impersonates. If the header has no Impersonate fields, that is the user of the
// request. There are two modes: constrained impersonation (KEP-5284), which also requires the right impersonate-on:MODE:VERB on the
// request itself, and the plain verb impersonate. The mode that this user was last granted is tried first; the default is the
// constrained one (impersonationModesTracker). If neither is granted, the 403 names the first missing right. verb is the verb of the
// right that allows the impersonation, or "" if there is none.
func (a *Auth) Impersonate(at Attributes, h wire.Header, objects resource.Reader) (u resource.User, verb string, s *status.Status) {
	if !isImpersonation(h) {
		return at.User, "", nil
	}
	want, s := impersonatedUser(h)
	if s != nil || want == nil {
		return at.User, "", s
	}
	modes := []string{constrainedMode(want), legacyMode}
	if a.granted[at.User.Name] == legacyMode {
		slices.Reverse(modes)
	}
	var first *status.Status
	for _, mode := range modes {
		if mode == "" {
			continue
		}
		p := impersonation{auth: a, requestor: at.User, verb: LegacyVerb, objects: objects}
		p.prepare(mode, at)
		if p.check(want); p.missing == nil {
			a.granted[at.User.Name] = mode
			return p.result(want), p.verb, nil
		}
		if first == nil {
			first = p.missing
		}
	}
	return resource.User{}, "", first
}

// legacyMode is the mode of impersonation by the plain verb, LegacyVerb.
const (
	legacyMode = "legacy"
	LegacyVerb = "impersonate"
)

// prepare sets up an attempt in a mode. In a constrained mode it checks that the user may impersonate another one for this request.
func (p *impersonation) prepare(mode string, at Attributes) {
	if mode != legacyMode {
		p.verb, p.group, p.constrained = "impersonate:"+mode, authenticationGroup, true
		at.Verb = "impersonate-on:" + mode + ":" + at.Verb
		p.missing = p.auth.check(at, p.objects)
	}
}

// isImpersonation reports whether the header has an Impersonate field. Most requests do not have one and need no further checks.
func isImpersonation(h wire.Header) bool {
	for name := range h { // order does not matter
		if strings.HasPrefix(name, "Impersonate-") {
			return true
		}
	}
	return false
}

// impersonatedUser returns the user to impersonate, or nil if the header does not name one.
func impersonatedUser(h wire.Header) (*resource.User, *status.Status) {
	u := &resource.User{Name: h.Get("Impersonate-User"), UID: h.Get("Impersonate-Uid"), Groups: h["Impersonate-Group"]}
	for _, name := range object.SortedKeys(h) {
		if key, ok := strings.CutPrefix(name, extraPrefix); ok {
			addExtra(u, key, h[name])
		}
	}
	if u.Name != "" {
		return u, nil
	}
	if len(u.Extra) > 0 || u.UID != "" || len(u.Groups) > 0 {
		return nil, status.BadRequest("requested &user.DefaultInfo{Name:\"\", UID:%#v, Groups:%#v, Extra:%#v} "+
			"without impersonating a user name", u.UID, u.Groups, u.Extra)
	}
	return nil, nil
}

// constrainedMode returns the mode of constrained impersonation for the user, or "" if there is none.
func constrainedMode(u *resource.User) string {
	onlyName := u.UID == "" && len(u.Groups) == 0 && len(u.Extra) == 0
	_, isNode := nodeName(u.Name)
	_, _, isAccount := serviceAccount(u.Name)
	switch {
	case isNode && onlyName:
		return "arbitrary-node"
	case isAccount && onlyName:
		return "serviceaccount"
	case !isNode && !isAccount:
		return "user-info"
	}
	return ""
}

// impersonation is an attempt by requestor to impersonate another user. It requires the permission for verb on every attribute of
// that user.
type impersonation struct {
	auth        *Auth
	requestor   resource.User
	verb        string
	group       string // group of the resources users, groups, nodes and serviceaccounts
	constrained bool
	objects     resource.Reader
	missing     *status.Status // 403 for the first right that the requestor lacks
}

// check checks that the requestor has all rights needed to impersonate the user.
func (p *impersonation) check(u *resource.User) {
	p.checkName(u)
	if u.UID != "" {
		p.needs(Attributes{Group: authenticationGroup, Version: "v1", Resource: "uids", Name: u.UID}, "")
	}
	p.checkGroups(u.Groups)
	p.checkExtra(u.Extra)
}

func (p *impersonation) checkName(u *resource.User) {
	at := Attributes{Group: p.group, Version: "v1", Resource: "users", Name: u.Name}
	if node, ok := nodeName(u.Name); ok && p.constrained {
		at.Resource, at.Name = "nodes", node
	}
	if ns, name, ok := serviceAccount(u.Name); ok {
		at.Resource, at.Namespace, at.Name = "serviceaccounts", ns, name
	}
	p.needs(at, "")
}

func (p *impersonation) checkGroups(groups []string) {
	at := Attributes{Group: p.group, Version: "v1", Resource: "groups"}
	switch {
	case p.constrained && slices.Contains(groups, ""):
		p.needs(at, "impersonating the empty string group is not allowed")
	case p.constrained && slices.Contains(groups, masters):
		at.Name = masters
		p.needs(at, "impersonating the system:masters group is not allowed")
	}
	for _, at.Name = range groups {
		p.needs(at, "")
	}
}

func (p *impersonation) checkExtra(extra map[string][]string) {
	at := Attributes{Group: authenticationGroup, Version: "v1", Resource: "userextras"}
	if why := badExtra(extra); p.constrained && why != "" {
		p.needs(at, why)
	}
	for _, at.Subresource = range object.SortedKeys(extra) {
		for _, at.Name = range extra[at.Subresource] {
			p.needs(at, "")
		}
	}
}

// badExtra returns an error text if constrained impersonation does not allow the extra values for any user, and otherwise "".
func badExtra(extra map[string][]string) string {
	for _, key := range object.SortedKeys(extra) {
		switch errs := field.DomainPrefixedPath(field.Root("extra.key"), key); {
		case key == "":
			return "impersonating the empty string key in extra is not allowed"
		case len(errs) > 0:
			return "impersonating an invalid key in extra is not allowed: " + errs.Text()
		case key != strings.ToLower(key):
			return fmt.Sprintf("impersonating a non-lowercase key in extra is not allowed: %q", key)
		case slices.Contains(extra[key], ""):
			return "impersonating the empty string value in extra is not allowed"
		}
	}
	return ""
}

// needs checks that the requestor has a right, unless another one is already missing. If never is not empty, no user has the right,
// for this reason.
func (p *impersonation) needs(at Attributes, never string) {
	at.User, at.Verb, at.IsResource = p.requestor, p.verb, true
	switch {
	case p.missing != nil:
	case never != "":
		p.missing = Forbidden(at, never)
	default:
		p.missing = p.auth.check(at, p.objects)
	}
}

// result returns the user with the groups that are implied for service accounts and nodes.
func (p *impersonation) result(want *resource.User) resource.User {
	u := *want
	if ns, _, ok := serviceAccount(u.Name); ok && len(u.Groups) == 0 {
		u.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + ns}
	}
	if _, ok := nodeName(u.Name); ok && p.constrained {
		u.Groups = []string{"system:nodes"}
	}
	if u.Name == anonymous {
		u.Groups = withGroup(u.Groups, unauthenticated)
	}
	return withAuthenticatedGroup(u)
}

// check returns a 403 if the requestor is not allowed to send the request.
func (a *Auth) check(at Attributes, objects resource.Reader) *status.Status {
	if d := a.Authorize(at, objects); !d.Allowed {
		return Forbidden(at, d.Reason)
	}
	return nil
}

// serviceAccount splits the user name of a service account into namespace and name. ok is false for any other user name.
func serviceAccount(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, serviceAccountPrefix)
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	return namespace, name, ok && len(field.DNS1123Label(namespace)) == 0 && len(field.DNS1123Subdomain(name)) == 0
}

// nodeName returns the name of the node in the user name of its kubelet. It returns false for any other user name.
func nodeName(user string) (string, bool) {
	name, ok := strings.CutPrefix(user, nodePrefix)
	return name, ok && len(field.DNS1123Subdomain(name)) == 0
}
