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
	var errs field.ErrorList
	for i, rule := range obj.Objects("rules") {
		errs = append(errs, validatePolicyRule(field.Root("rules").Index(i), rule, namespaced)...)
	}
	if namespaced || !obj.Has("aggregationRule") {
		return errs
	}
	p, selectors := field.Root("aggregationRule.clusterRoleSelectors"), obj.Objects("aggregationRule", "clusterRoleSelectors")
	if len(selectors) == 0 {
		errs = append(errs, field.Required(p, "at least one clusterRoleSelector required if aggregationRule is non-nil"))
	}
	for i, s := range selectors {
		errs = append(errs, selector.ValidateLabelSelector(p.Index(i), s, options)...)
		if _, err := selector.FromLabelSelector(s); err != nil {
			errs = append(errs, field.Invalid(p.Index(i), nil, "invalid label selector."))
		}
	}
	return errs
}

func validatePolicyRule(p field.Path, rule object.Object, namespaced bool) field.ErrorList {
	var errs field.ErrorList
	filled := func(name string) bool { return len(rule.List(name)) > 0 }
	if !filled("verbs") {
		errs = append(errs, field.Required(p.Child("verbs"), "verbs must contain at least one value"))
	}
	if filled("nonResourceURLs") {
		at, urls := p.Child("nonResourceURLs"), rule.List("nonResourceURLs")
		if namespaced {
			errs = append(errs, field.Invalid(at, urls, "namespaced rules cannot apply to non-resource URLs"))
		}
		if filled("apiGroups") || filled("resources") || filled("resourceNames") {
			errs = append(errs, field.Invalid(at, urls, "rules cannot apply to both regular resources and non-resource URLs"))
		}
		return errs
	}
	if !filled("apiGroups") {
		errs = append(errs, field.Required(p.Child("apiGroups"), "resource rules must supply at least one api group"))
	}
	if !filled("resources") {
		errs = append(errs, field.Required(p.Child("resources"), "resource rules must supply at least one resource"))
	}
	return errs
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
	p, ref := field.Root("roleRef"), obj.At("roleRef")
	errs := field.MustBeOneOf(p.Child("apiGroup"), ref.String("apiGroup"), rbacGroup)
	kinds := []string{"ClusterRole"}
	if namespaced {
		kinds = []string{"Role", "ClusterRole"}
	}
	errs = append(errs, field.MustBeOneOf(p.Child("kind"), ref.String("kind"), kinds...)...)
	errs = append(errs, kind.CheckOrRequire(p.Child("name"), ref.String("name"), field.PathSegment)...)
	for i, subject := range obj.Objects("subjects") {
		errs = append(errs, validateSubject(field.Root("subjects").Index(i), subject, namespaced)...)
	}
	return errs
}

func validateSubject(p field.Path, subject object.Object, namespaced bool) field.ErrorList {
	name, group := subject.String("name"), subject.String("apiGroup")
	errs := field.MustBeSet(p.Child("name"), name)
	switch roleKind := subject.String("kind"); roleKind {
	case "ServiceAccount":
		if name != "" {
			errs = append(errs, field.Check(p.Child("name"), name, field.DNS1123Subdomain)...)
		}
		errs = append(errs, field.MustBeOneOf(p.Child("apiGroup"), group, "")...)
		if !namespaced {
			errs = append(errs, field.MustBeSet(p.Child("namespace"), subject.String("namespace"))...)
		}
	case "User", "Group":
		errs = append(errs, field.MustBeOneOf(p.Child("apiGroup"), group, rbacGroup)...)
	default:
		errs = append(errs, field.NotSupported(p.Child("kind"), roleKind, "ServiceAccount", "User", "Group"))
	}
	return errs
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
