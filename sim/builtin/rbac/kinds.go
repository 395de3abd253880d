// Package rbac defines roles and their bindings, and computes the rules of aggregated ClusterRoles. Package sim/auth uses
// them for authorization.
package rbac

import (
	"slices"
	"strings"

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
			Checks:              resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind, resource.CheckMetaUpdate}},
			AllowCreateOnUpdate: true, NameRule: pathSegmentName,
		},
		Validate: func(ctx *resource.Context, at field.Cursor) { validateRole(ctx, at, namespaced) },
	}
}

// pathSegmentName is the name rule for roles and bindings. It also applies to generateName.
func pathSegmentName(name string, _ bool) []string { return field.PathSegment(name) }

func badAggregation(role object.Object) bool {
	return slices.ContainsFunc(role.Objects("aggregationRule", "clusterRoleSelectors"), func(s object.Object) bool {
		return selector.HasInvalidValue(s)
	})
}

func validateRole(ctx *resource.Context, at field.Cursor, namespaced bool) {
	for rule := range at.Each("rules") {
		validatePolicyRule(ctx, rule, namespaced)
	}
	if namespaced || !at.Has("aggregationRule") {
		return
	}
	options := selector.ValidateOptions{AllowInvalidValues: badAggregation(at.Old())}
	selectors := at.Child("aggregationRule", "clusterRoleSelectors")
	selectors.Required("at least one clusterRoleSelector required if aggregationRule is non-nil")
	for s := range selectors.Each() {
		kind.CheckSelector(s, options)
		if _, err := selector.FromLabelSelector(s.Object()); err != nil {
			s.Invalid(nil, "invalid label selector.")
		}
	}
}

func validatePolicyRule(ctx *resource.Context, at field.Cursor, namespaced bool) {
	at.Child("verbs").Declared(ctx.Since(37), func(c field.Cursor) field.Cursor { return c.Required("verbs must contain at least one value") })
	if urls := at.Child("nonResourceURLs"); urls.Len() > 0 {
		urls.InvalidIf(namespaced, "namespaced rules cannot apply to non-resource URLs")
		urls.InvalidIf(at.Len("apiGroups")+at.Len("resources")+at.Len("resourceNames") > 0,
			"rules cannot apply to both regular resources and non-resource URLs")
		return
	}
	at.Child("apiGroups").Required("resource rules must supply at least one api group")
	at.Child("resources").Required("resource rules must supply at least one resource")
}

// roleBindingKind returns the kind of RoleBindings or ClusterRoleBindings. text is the name of the kind in the descriptions of
// columns.
func roleBindingKind(name, goType, text string, namespaced bool) kind.Kind {
	role := table.Doc("Role", table.DocRBAC+goType, "roleRef").Cell(func(obj object.Object) any {
		return obj.String("roleRef", "kind") + "/" + obj.String("roleRef", "name")
	})
	role.Without = " This field is immutable."
	return kind.Kind{
		Storage: name + "." + rbacGroup,
		Strategy: resource.Strategy{
			Checks:              resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			AllowCreateOnUpdate: true, NameRule: pathSegmentName,
		},
		Validate: func(ctx *resource.Context, at field.Cursor) { validateRoleBinding(ctx, at, namespaced) },
		Defaults: kind.EveryVersion(defaultRoleBinding),
		Columns: []table.Column{table.Name(), role, table.Age(), subjectsColumn("User", text), subjectsColumn("Group", text),
			subjectsColumn("ServiceAccount", text)},
	}
}

func defaultRoleBinding(obj object.Object) {
	kind.SetEmpty(obj, rbacGroup, "roleRef", "apiGroup")
	for _, subject := range obj.Objects("subjects") {
		if roleKind := subject.String("kind"); roleKind == "User" || roleKind == "Group" {
			kind.SetEmpty(subject, rbacGroup, "apiGroup")
		}
	}
}

func validateRoleBinding(ctx *resource.Context, at field.Cursor, namespaced bool) {
	ref, kinds := at.Child("roleRef"), []string{"ClusterRole"}
	if namespaced {
		kinds = []string{"Role", "ClusterRole"}
	}
	ref.Child("apiGroup").OrEmpty().OneOf(rbacGroup)
	ref.Child("kind").OrEmpty().OneOf(kinds...)
	// The tag of the reference is checked before the tags of its fields. If it is violated, those are not checked, and the error is
	// reported below.
	ref.Child("name").Declared(ctx.Since(37) && !ref.Changed(), field.Cursor.Given).Check(field.PathSegment)
	for subject := range at.Each("subjects") {
		validateSubject(ctx, subject, namespaced)
	}
	if ref.Changed() {
		text := "cannot change roleRef"
		if ctx.Since(37) {
			text = field.TextImmutable
		}
		ref.Invalid(gotext.Value(gotext.RoleRef, ref.Object()), text)
	}
}

func validateSubject(ctx *resource.Context, at field.Cursor, namespaced bool) {
	name, group := at.Child("name").Declared(ctx.Since(37), field.Cursor.Given), at.Child("apiGroup").OrEmpty()
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

// subjectsColumn returns the column that lists the subjects of one kind in a binding. text is the name of the binding's kind in the
// description of the column.
func subjectsColumn(subjects, text string) table.Column {
	return table.Text(subjects+"s", subjects+"s in the "+text).Wide().Cell(func(obj object.Object) any {
		var names []string
		for _, s := range obj.Objects("subjects") {
			switch {
			case s.String("kind") != subjects:
			case subjects == "ServiceAccount":
				names = append(names, s.String("namespace")+"/"+s.String("name"))
			default:
				names = append(names, s.String("name"))
			}
		}
		return strings.Join(names, ", ")
	})
}

// AggregatedRules returns the rules that an aggregating ClusterRole should have: the rules of the roles that match its
// selectors, ordered by selector and then by role name, without duplicates. If the role already has these rules or does not
// aggregate, changes is false (clusterroleaggregation.ClusterRoleAggregationController).
func AggregatedRules(role object.Object, all []object.Object) (rules []any, changes bool) {
	selectors := role.Objects("aggregationRule", "clusterRoleSelectors")
	if role["aggregationRule"] == nil {
		return nil, false
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b object.Object) int { return strings.Compare(a.Name(), b.Name()) })
	rules = []any{}
	for _, s := range selectors {
		matching, _ := selector.FromLabelSelector(s) // cannot fail: the selector has been validated
		for _, other := range all {
			if other.Name() == role.Name() || !matching.Matches(other.Labels()) {
				continue
			}
			for _, rule := range other.List("rules") {
				if !slices.ContainsFunc(rules, func(r any) bool { return object.SemanticEqual(r, rule) }) {
					rules = append(rules, rule)
				}
			}
		}
	}
	return rules, !object.SemanticEqual(rules, role.List("rules"))
}
