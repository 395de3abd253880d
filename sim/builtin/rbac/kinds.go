// Package rbac has roles and their bindings, and the aggregation of ClusterRoles. Who may do what is decided in sim/auth.
package rbac

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

const rbacGroup = "rbac.authorization.k8s.io"

// Kinds returns the kinds of rbac.authorization.k8s.io.
func Kinds() []kind.Kind {
	return []kind.Kind{
		roleKind("roles", true), roleKind("clusterroles", false),
		roleBindingKind("rolebindings", "RoleBinding", "roleBinding", true),
		roleBindingKind("clusterrolebindings", "ClusterRoleBinding", "clusterRoleBinding", false),
	}
}

func roleKind(name string, namespaced bool) kind.Kind {
	return kind.Kind{
		Storage: name + "." + rbacGroup,
		Strategy: resource.Strategy{
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind, resource.CheckMetaUpdate}},
			CreateOnUpdate: true, NameRule: pathSegmentName,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateRole(obj, namespaced, selector.ValidateOptions{})
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				return validateRole(obj, namespaced, selector.ValidateOptions{AllowInvalidValues: badAggregation(old)})
			},
		},
	}
}

// pathSegmentName is the rule for names of roles and bindings, also for the beginning of a generated one.
func pathSegmentName(name string, _ bool) []string { return field.PathSegment(name) }

func badAggregation(role object.Object) bool {
	for _, s := range role.Objects("aggregationRule", "clusterRoleSelectors") {
		if selector.HasInvalidValue(s) {
			return true
		}
	}
	return false
}

func validateRole(obj object.Object, namespaced bool, options selector.ValidateOptions) field.ErrorList {
	at := field.CursorAt(obj, nil)
	for rule := range at.Each("rules") {
		validatePolicyRule(rule, namespaced)
	}
	if namespaced || !at.Has("aggregationRule") {
		return at.Errors()
	}
	selectors := at.Child("aggregationRule", "clusterRoleSelectors")
	selectors.Required("at least one clusterRoleSelector required if aggregationRule is non-nil")
	for s := range selectors.Each() {
		at.Report(selector.ValidateLabelSelector(s.Path(), s.Object(), options))
		if _, err := selector.FromLabelSelector(s.Object()); err != nil {
			s.Invalid(nil, "invalid label selector.")
		}
	}
	return at.Errors()
}

func validatePolicyRule(at field.Cursor, namespaced bool) {
	at.Child("verbs").Required("verbs must contain at least one value")
	if urls := at.Child("nonResourceURLs"); urls.Len() > 0 {
		urls.InvalidIf(namespaced, "namespaced rules cannot apply to non-resource URLs")
		urls.InvalidIf(at.Len("apiGroups")+at.Len("resources")+at.Len("resourceNames") > 0,
			"rules cannot apply to both regular resources and non-resource URLs")
		return
	}
	at.Child("apiGroups").Required("resource rules must supply at least one api group")
	at.Child("resources").Required("resource rules must supply at least one resource")
}

// roleBindingKind is a binding of one of the two scopes; text is how descriptions of columns call it.
func roleBindingKind(name, goType, text string, namespaced bool) kind.Kind {
	role := table.Doc("Role", table.DocRBAC+goType, "roleRef")
	role.Without = " This field is immutable."
	return kind.Kind{
		Storage: name + "." + rbacGroup,
		Strategy: resource.Strategy{
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			CreateOnUpdate: true, NameRule: pathSegmentName,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateRoleBinding(obj, namespaced)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := validateRoleBinding(obj, namespaced)
				if !object.SemanticEqual(obj["roleRef"], old["roleRef"]) {
					errs = append(errs, field.Invalid(field.Root("roleRef"), gotext.Value("RoleRef", obj.At("roleRef")), "cannot change roleRef"))
				}
				return errs
			},
		},
		Defaults: kind.EveryVersion(defaultRoleBinding),
		Columns: []table.Column{table.Name(), role, table.Age(), table.Text("Users", "Users in the "+text).Wide(),
			table.Text("Groups", "Groups in the "+text).Wide(), table.Text("ServiceAccounts", "ServiceAccounts in the "+text).Wide()},
		Row: roleBindingRow,
	}
}

func defaultRoleBinding(obj object.Object) {
	if obj.String("roleRef", "apiGroup") == "" {
		obj.Set(rbacGroup, "roleRef", "apiGroup")
	}
	for _, subject := range obj.Objects("subjects") {
		if roleKind := subject.String("kind"); roleKind == "User" || roleKind == "Group" {
			kind.SetEmpty(subject, "apiGroup", rbacGroup)
		}
	}
}

func validateRoleBinding(obj object.Object, namespaced bool) field.ErrorList {
	at := field.CursorAt(obj, nil)
	kinds := []string{"ClusterRole"}
	if namespaced {
		kinds = []string{"Role", "ClusterRole"}
	}
	at.Child("roleRef", "apiGroup").OrEmpty().OneOf(rbacGroup)
	at.Child("roleRef", "kind").OrEmpty().OneOf(kinds...)
	at.Child("roleRef", "name").Required().Check(field.PathSegment)
	for subject := range at.Each("subjects") {
		validateSubject(subject, namespaced)
	}
	return at.Errors()
}

func validateSubject(at field.Cursor, namespaced bool) {
	name, group := at.Child("name").Required(), at.Child("apiGroup").OrEmpty()
	switch roleKind := at.String("kind"); roleKind {
	case "ServiceAccount":
		name.Check(field.DNS1123Subdomain)
		group.OneOf("")
		if !namespaced {
			at.Child("namespace").Required()
		}
	case "User", "Group":
		group.OneOf(rbacGroup)
	default:
		at.Child("kind").NotSupported(roleKind, "ServiceAccount", "User", "Group")
	}
}

func roleBindingRow(now time.Time, obj object.Object) resource.Row {
	var users, groups, accounts []string
	for _, s := range obj.Objects("subjects") {
		switch s.String("kind") {
		case "User":
			users = append(users, s.String("name"))
		case "Group":
			groups = append(groups, s.String("name"))
		case "ServiceAccount":
			accounts = append(accounts, s.String("namespace")+"/"+s.String("name"))
		}
	}
	return table.Row(obj.Name(), obj.String("roleRef", "kind")+"/"+obj.String("roleRef", "name"), table.AgeCell(now, obj),
		strings.Join(users, ", "), strings.Join(groups, ", "), strings.Join(accounts, ", "))
}
