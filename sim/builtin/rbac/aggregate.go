package rbac

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
)

// AggregatedRules returns the rules that an aggregating ClusterRole has to have: those of the roles that its selectors
// match, selector by selector and in the order of names, each rule once. It reports false when it has them, and for a role
// that does not aggregate (clusterroleaggregation.ClusterRoleAggregationController).
func AggregatedRules(role object.Object, all []object.Object) (rules []any, changes bool) {
	selectors := role.Objects("aggregationRule", "clusterRoleSelectors")
	if role["aggregationRule"] == nil {
		return nil, false
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b object.Object) int { return strings.Compare(a.Name(), b.Name()) })
	rules = []any{}
	for _, s := range selectors {
		matching, _ := selector.FromLabelSelector(s) // it is valid
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
