package auth

import (
	"maps"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
)

// autoUpdate is the annotation that, if it is "false", prevents API servers from updating a default role or binding.
const autoUpdate = "rbac.authorization.kubernetes.io/autoupdate"

// Reconcile returns the update that a starting API server makes to an existing default role or binding. It adds missing rules,
// subjects, selectors, labels and annotations, and keeps all existing ones. If nothing changes, Reconcile returns nil. If a binding
// refers to another role, recreate is true: the binding has to be deleted and created again (component-helpers,
// auth/rbac/reconciliation).
func Reconcile(existing, expected object.Object) (changed object.Object, recreate bool) {
	if existing.String("metadata", "annotations", autoUpdate) == "false" {
		return nil, false
	}
	if expected.Map("roleRef") != nil && !object.Equal(existing.Map("roleRef"), expected.Map("roleRef")) {
		return expected, true
	}
	var o object.Object // a copy of existing, which the first change makes
	edit := func() object.Object {
		if o == nil {
			o = existing.Copy()
		}
		return o
	}
	for _, name := range []string{"annotations", "labels"} {
		held, merged := existing.Map("metadata", name), map[string]any{}
		maps.Copy(merged, expected.Map("metadata", name))
		maps.Copy(merged, held)
		if len(merged) > len(held) {
			edit().Set(merged, "metadata", name)
		}
	}
	if rules := missingRules(existing, expected); len(rules) > 0 {
		edit().Set(append(edit().List("rules"), rules...), "rules")
	}
	for _, path := range [][]string{{"subjects"}, {"aggregationRule", "clusterRoleSelectors"}} {
		if more := missing(existing.List(path...), expected.List(path...)); len(more) > 0 {
			edit().Set(append(edit().List(path...), more...), path...)
		}
	}
	if expected.Map("aggregationRule") == nil && existing["aggregationRule"] != nil {
		edit().Remove("aggregationRule")
	}
	return o, false
}

// The role or binding that granted the rights of a default one in older releases, by the name of the default one.
var (
	roleOrigins    = map[string]string{"system:aggregate-to-admin": "admin", "system:aggregate-to-edit": "edit", "system:aggregate-to-view": "view"}
	bindingOrigins = map[string]string{"system:public-info-viewer": "system:discovery"}
)

// Origin returns the name of the existing role or binding from which a missing default one is created. If it is created from the
// default, Origin returns "".
func Origin(expected object.Object) string {
	if expected.Map("roleRef") != nil {
		return bindingOrigins[expected.Name()]
	}
	return roleOrigins[expected.Name()]
}

// Prime returns the object that a starting API server creates from the origin of a default role or binding before it reconciles the
// defaults, so that changes and opt-outs in the origin apply to both. A role has the origin's rules; a binding has its subjects,
// labels and annotations. If the origin has already become an aggregated role, Prime returns nil.
func Prime(origin, expected object.Object) object.Object {
	if expected.Map("roleRef") == nil {
		if origin.Map("aggregationRule") != nil {
			return nil
		}
		o := origin.Copy()
		o.Set(expected.Name(), "metadata", "name")
		o.Remove("metadata", "resourceVersion")
		return o
	}
	o := expected.Copy()
	o.Remove("subjects")
	if subjects := origin.List("subjects"); len(subjects) > 0 {
		o.Set(slices.Clone(subjects), "subjects")
	}
	for _, name := range []string{"labels", "annotations"} {
		o.Remove("metadata", name)
		if values := origin.Map("metadata", name); len(values) > 0 {
			o.Set(maps.Clone(values), "metadata", name)
		}
	}
	return o
}

// missing returns copies of the expected elements that existing does not contain.
func missing(existing, expected []any) (more []any) {
	for _, v := range expected {
		if !slices.ContainsFunc(existing, func(e any) bool { return object.SemanticEqual(e, v) }) {
			more = append(more, object.Copy(v))
		}
	}
	return more
}

// missingRules returns the expected rules that the existing rules do not cover, split into rules with one verb and one resource or
// path.
func missingRules(existing, expected object.Object) (more []any) {
	held := rulesOf(existing)
	for _, r := range rulesOf(expected) {
		for _, one := range r.Split() {
			if !slices.ContainsFunc(held, func(r Rule) bool { return r.covers(one) }) {
				more = append(more, one.object())
			}
		}
	}
	return more
}

// object returns the rule as an item of a role's rules.
func (r Rule) object() map[string]any {
	o := map[string]any{}
	for name, values := range map[string][]string{"verbs": r.Verbs, "apiGroups": r.APIGroups, "resources": r.Resources, "resourceNames": r.ResourceNames,
		"nonResourceURLs": r.NonResourceURLs} { // order does not matter
		if len(values) > 0 {
			o[name] = object.FromStrings(values)
		}
	}
	return o
}
