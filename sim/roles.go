package sim

import (
	"bytes"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/rbac"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	clusterRoles = "clusterroles.rbac.authorization.k8s.io"

	// aggregationManager is who owns the rules of an aggregating ClusterRole.
	aggregationManager = "clusterrole-aggregation-controller"
)

// followRoles queues what a commit of a ClusterRole leads to: roles that aggregate it get its rules. On a real cluster a
// controller of kube-controller-manager does that; without it admin, edit and view would be empty.
func (c *Cluster) followRoles(e *mvcc.Event) {
	if c.options.NoControllers || !strings.HasPrefix(e.Key, "/registry/"+clusterRoles+"/") {
		return
	}
	d := c.hub(clusterRoles)
	for _, kv := range []*mvcc.KV{e.KV, e.Prev} {
		if kv == nil {
			continue
		}
		if it := resource.ItemOf(d, kv); len(it.Labels) > 0 || aggregates(it) { // others are in nobody's rules
			c.jobs.soon = append(c.jobs.soon, c.aggregate)
			return
		}
	}
}

// aggregates reports whether a ClusterRole may aggregate others.
func aggregates(it *resource.Item) bool {
	return bytes.Contains(it.Bytes, []byte(`"aggregationRule":`))
}

// aggregate gives the first ClusterRole whose rules are not what it aggregates the right ones. That is a commit, after
// which others are looked at.
func (c *Cluster) aggregate() {
	var able, all []object.Object
	c.own().Reader().Items(clusterRoles, "", func(it *resource.Item) bool {
		if aggregates(it) {
			able = append(able, it.Object())
		}
		if len(it.Labels) > 0 {
			all = append(all, it.Object())
		}
		return true
	})
	for _, role := range able {
		rules, changes := rbac.AggregatedRules(role, all)
		if changes && c.applyRules(role.Name(), rules) == nil {
			return
		}
	}
}

// applyRules applies the rules of a ClusterRole.
func (c *Cluster) applyRules(name string, rules []any) *status.Status {
	d := c.hub(clusterRoles)
	q := c.loopback(d, "", name)
	q.Manager = aggregationManager
	return c.applyOwn(q, "rules", rules)
}

// applyOwn applies one field of an object as what a server or controller does by itself, whoever else has it.
func (c *Cluster) applyOwn(q *registry.Request, name string, value any) *status.Status {
	d, own := q.Definition, c.own()
	_, s := own.Update(q, registry.Change{Kind: registry.Apply, Make: func(live object.Object) (object.Object, *status.Status) {
		config := object.Object{"kind": d.Kind, "apiVersion": d.GV(), "metadata": map[string]any{"name": q.Name}, name: value}
		obj, _, s := own.Fields.Apply(d, live, config, own.By(q), true)
		return obj, s
	}})
	return s
}
