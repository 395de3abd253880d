package manager

import (
	"bytes"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/rbac"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	roleAggregation = "clusterrole-aggregation-controller"

	clusterRoles = "clusterroles.rbac.authorization.k8s.io"
)

// RoleAggregation sets the rules of ClusterRoles that aggregate other ClusterRoles (pkg/controller/clusterroleaggregation).
// Without this controller, the ClusterRoles admin, edit and view would have no rules.
func RoleAggregation() controller.Controller {
	return controller.Controller{Name: roleAggregation, User: resource.User{Name: "system:apiserver",
		Groups: []string{"system:masters", "system:authenticated"}}, FieldManager: roleAggregation,
		Watches: []controller.Watch{{Resource: clusterRoles, Keys: concerned}}, Reconciler: controller.Func(aggregate)}
}

// concerned returns the controller's only key, unless the ClusterRole has no labels and no aggregation rule.
func concerned(_ *controller.Client, c *commit.Commit) []controller.Key {
	for _, it := range []*resource.Item{c.Item(), c.Before()} {
		if it != nil && (it.Labelled() || aggregates(it)) {
			return []controller.Key{{}}
		}
	}
	return nil
}

// aggregates reports whether a ClusterRole may aggregate other ClusterRoles.
func aggregates(it *resource.Item) bool {
	return bytes.Contains(it.Bytes(), []byte(`"aggregationRule":`))
}

// aggregate updates the first ClusterRole whose rules differ from those that it aggregates. Its commit causes the next reconcile,
// which updates the next one. If a role aggregates no rules, aggregate applies none. This removes the rules that it applied before,
// but no rules of other managers.
func aggregate(api *controller.Client, _ controller.Key) (time.Duration, *status.Status) {
	var able, all []object.Object
	api.Items(clusterRoles, "", func(it *resource.Item) bool {
		if aggregates(it) {
			able = append(able, it.Object())
		}
		if it.Labelled() {
			all = append(all, it.Object())
		}
		return true
	})
	for _, role := range able {
		rules, changes := rbac.AggregatedRules(role, all)
		if !changes {
			continue
		}
		fields := object.Object{}
		if len(rules) > 0 {
			fields["rules"] = rules
		}
		if applied, s := api.Apply(clusterRoles, "", controller.Key{Name: role.Name()}, fields); s == nil && applied.ResourceVersion() != role.ResourceVersion() {
			break
		}
	}
	return 0, nil
}
