package auth

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Attributes describe a request for its authorization.
type Attributes struct {
	User resource.User
	Verb string

	// If IsResource is true, Group through Name describe the requested resource, which need not exist.
	Group, Version, Resource, Subresource, Namespace, Name string
	IsResource                                             bool

	FieldSelector, LabelSelector string // of a list, a watch or a deletecollection

	Path string // path of any other request, such as "/version"

	By resource.Author // the author of the request
}

// The resource names in the storage keys of RBAC objects.
const (
	rolesKey               = "roles.rbac.authorization.k8s.io"
	clusterRolesKey        = "clusterroles.rbac.authorization.k8s.io"
	roleBindingsKey        = "rolebindings.rbac.authorization.k8s.io"
	clusterRoleBindingsKey = "clusterrolebindings.rbac.authorization.k8s.io"
)

// byRoles implements Authorize for RBAC. It evaluates roles and bindings.
func (a *Auth) byRoles(at Attributes, objects resource.Reader) (allowed bool, reason string) {
	var errs []string
	a.visitBindings(at.User, at.Namespace, objects, func(b *binding, s *subject, rules []Rule, none *noRole) bool {
		if none != nil {
			errs = append(errs, none.decided())
		}
		for _, r := range rules {
			if r.Allows(at) {
				allowed, reason = true, "RBAC: allowed by "+b.describe(s)
				return false
			}
		}
		return true
	})
	if !allowed && len(errs) > 0 {
		reason = "RBAC: " + field.Aggregate(errs)
	}
	return allowed, reason
}

// ByRoles reports whether RBAC alone would allow the request, regardless of the configured authorizers.
func (a *Auth) ByRoles(at Attributes, objects resource.Reader) bool {
	allowed, _ := a.byRoles(at, objects)
	return allowed || slices.Contains(at.User.Groups, masters)
}

// Granted returns the rules that RBAC alone grants the user in the namespace, regardless of the configured authorizers.
func (a *Auth) Granted(user resource.User, namespace string, objects resource.Reader) []Rule {
	rules, _ := a.rulesOf(user, namespace, objects)
	return rules
}

// rulesOf returns the rules that bindings grant the user in the namespace. It also returns the references to roles that do not
// exist.
func (a *Auth) rulesOf(user resource.User, namespace string, objects resource.Reader) (rules []Rule, wrong []*noRole) {
	a.visitBindings(user, namespace, objects, func(_ *binding, _ *subject, more []Rule, none *noRole) bool {
		if none != nil {
			wrong = append(wrong, none)
		}
		rules = append(rules, more...)
		return true
	})
	return rules, wrong
}

// isNode reports whether a user is the kubelet of a node (pkg/auth/nodeidentifier).
func isNode(u resource.User) bool {
	return strings.HasPrefix(u.Name, nodePrefix) && slices.Contains(u.Groups, "system:nodes")
}

// binding is a RoleBinding or, if namespace is "", a ClusterRoleBinding.
type binding struct {
	name, namespace string
	roleKind, role  string
	subjects        []subject
}

type subject struct{ kind, name, namespace string }

func bindingOf(o object.Object) *binding {
	b := &binding{name: o.Name(), namespace: o.Namespace(),
		roleKind: o.String("roleRef", "kind"), role: o.String("roleRef", "name")}
	for _, s := range o.Objects("subjects") {
		b.subjects = append(b.subjects, subject{s.String("kind"), s.String("name"), s.String("namespace")})
	}
	return b
}

// describe returns the binding and the subject as the reason for a decision states them.
func (b *binding) describe(s *subject) string {
	kind, name, who := "ClusterRoleBinding", b.name, s.name
	if b.namespace != "" {
		kind, name = "RoleBinding", b.name+"/"+b.namespace
	}
	if s.kind == "ServiceAccount" {
		who += "/" + s.home(b)
	}
	return fmt.Sprintf("%s %q of %s %q to %s %q", kind, name, b.roleKind, b.role, s.kind, who)
}

// home returns the namespace of a ServiceAccount, which defaults to the namespace of the binding.
func (s *subject) home(b *binding) string { return cmp.Or(s.namespace, b.namespace) }

// applies returns the first subject of b that matches the user, or nil.
func (b *binding) applies(u resource.User) *subject {
	for i := range b.subjects {
		s := &b.subjects[i]
		switch s.kind {
		case "User":
			if u.Name == s.name {
				return s
			}
		case "Group":
			if slices.Contains(u.Groups, s.name) {
				return s
			}
		case "ServiceAccount":
			if ns := s.home(b); ns != "" && u.Name == serviceAccountPrefix+ns+":"+s.name {
				return s
			}
		}
	}
	return nil
}

// visitBindings calls fn for each binding that applies to the user, with its rules or its error, until fn returns false. It visits
// ClusterRoleBindings before RoleBindings. The bindings of each kind are sorted by name.
func (a *Auth) visitBindings(u resource.User, namespace string, objects resource.Reader,
	fn func(b *binding, s *subject, rules []Rule, none *noRole) bool) {
	if objects == nil {
		return
	}
	more := true
	each := func(it *resource.Item) bool {
		b := resource.Derived(it, bindingOf)
		if s := b.applies(u); s != nil {
			rules, none := roleRules(b.roleKind, b.namespace, b.role, objects)
			more = fn(b, s, rules, none)
		}
		return more
	}
	if objects.Items(clusterRoleBindingsKey, "", each); more && namespace != "" {
		objects.Items(roleBindingsKey, namespace, each)
	}
}

// roleRules returns the rules of the role to which a binding in the namespace refers. If the role does not exist, it returns an
// error.
func roleRules(kind, namespace, name string, objects resource.Reader) ([]Rule, *noRole) {
	var key string
	switch kind {
	case "Role":
		key = rolesKey
	case "ClusterRole":
		key, namespace = clusterRolesKey, ""
	default:
		return nil, &noRole{kind, name}
	}
	if objects != nil {
		if it := objects.Item(key, namespace, name); it != nil {
			return resource.Derived(it, rulesOf), nil
		}
	}
	return nil, &noRole{kind, name}
}

// noRole is a reference to a role that does not exist or whose kind is not supported.
type noRole struct{ kind, name string }

// decided returns the error text for the reason of a decision. The real server reads the role from a cache.
func (n *noRole) decided() string { return n.text("role", "clusterrole") }

// granted returns the error text for a rejected attempt to grant rights. The real server reads the role from the API.
func (n *noRole) granted() string { return n.text("roles", "clusterroles") }

func (n *noRole) text(role, clusterRole string) string {
	resource, ok := map[string]string{"Role": role, "ClusterRole": clusterRole}[n.kind]
	if !ok {
		return fmt.Sprintf("unsupported role reference kind: %q", n.kind)
	}
	return status.NotFound(status.Resource{Group: rbacGroup, Resource: resource}, n.name).Message
}

const rbacGroup = "rbac.authorization.k8s.io"

// noHTML escapes user input, so that a message does not look like HTML.
var noHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Forbidden returns the 403 for a request that Authorize denied for the given reason.
func Forbidden(at Attributes, reason string) *status.Status {
	why := fmt.Sprintf("User %q cannot %s path %q", at.User.Name, at.Verb, at.Path)
	if at.IsResource {
		res := at.Resource
		if at.Subresource != "" {
			res += "/" + at.Subresource
		}
		why = fmt.Sprintf("User %q cannot %s resource %q in API group %q ", at.User.Name, at.Verb, res, at.Group)
		if at.Namespace != "" {
			why += fmt.Sprintf("in the namespace %q", at.Namespace)
		} else {
			why += "at the cluster scope"
		}
	}
	why = noHTML.Replace(why)
	if reason != "" {
		why += ": " + reason
	}
	if !at.IsResource {
		return status.Forbidden(status.Resource{}, "", why)
	}
	return status.Forbidden(status.Resource{Group: at.Group, Resource: at.Resource}, at.Name, why)
}
