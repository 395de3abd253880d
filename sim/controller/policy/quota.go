// Package policy implements the controllers of limits: they maintain the usage of ResourceQuotas, and the number of pods of a
// PodDisruptionBudget that may be evicted (pkg/controller/resourcequota, disruption).
//
//	ResourceQuota: spec.hard ──▶ status.hard, status.used   admission adds new objects, the controller counts existing ones
//	PodDisruptionBudget ──▶ status: expected and healthy pods, allowed disruptions   evictions take one, the controller recounts
package policy

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	quotas = "resourcequotas"

	// recountAfter is the delay of a recount that no event causes (--resource-quota-sync-period). Such a recount is scheduled
	// only if it may change the usage.
	recountAfter = 5 * time.Minute
)

// Quota maintains the status of ResourceQuotas (pkg/controller/resourcequota).
//
//	a quota is created, or its spec.hard changes           ──▶ counted immediately
//	an object is deleted, or its usage changes             ──▶ counted immediately, if its kind is limited
//	admission counts an object whose creation then fails,  ──▶ counted after recountAfter
//	a deleted pod exceeds its grace period,
//	or a kind becomes available
func Quota() controller.Controller {
	return controller.Account("resourcequota-controller", "resourcequota-controller", controller.Func(count),
		controller.Watch{Resource: quotas, Keys: changedHard},
		controller.Watch{Resource: quotas, Others: true, After: recountAfter, Keys: charged},
		controller.Watch{Keys: limited})
}

func keyOf(it *resource.Item) controller.Key {
	return controller.Key{Namespace: it.Namespace, Name: it.Name}
}

// limits holds the limits in a quota's spec and status.
type limits struct {
	spec, hard, used resource.Amounts
	scopes           []any
}

func limitsOf(it *resource.Item) *limits {
	return resource.Derived(it, func(quota object.Object) *limits {
		l := &limits{spec: resource.AmountsAt(quota, "spec", "hard"), scopes: resource.Scopes(quota)}
		if quota.Has("status", "hard") {
			l.hard = resource.AmountsAt(quota, "status", "hard")
		}
		if quota.Has("status", "used") {
			l.used = resource.AmountsAt(quota, "status", "used")
		}
		return l
	})
}

func same(a, b resource.Amounts) bool {
	if len(a) != len(b) {
		return false
	}
	for name, q := range a { // order does not matter: all are compared
		if other, ok := b[name]; !ok || q.Cmp(other) != 0 {
			return false
		}
	}
	return true
}

// changedHard returns the key of a quota whose spec.hard has changed.
func changedHard(_ *controller.Client, c *commit.Commit) []controller.Key {
	if c.Deleted() || !c.Created() && same(limitsOf(c.Item()).spec, limitsOf(c.Before()).spec) {
		return nil
	}
	return []controller.Key{keyOf(c.Item())}
}

// charged returns the key of a quota whose status.used has changed.
func charged(_ *controller.Client, c *commit.Commit) []controller.Key {
	if c.Deleted() || c.Created() || same(limitsOf(c.Item()).used, limitsOf(c.Before()).used) {
		return nil
	}
	return []controller.Key{keyOf(c.Item())}
}

// limited returns the keys of the quotas that limit the resources of an object whose usage has decreased or changed.
func limited(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
	if c.Created() || c.Namespace == "" || c.Definition == nil {
		return nil
	}
	var m *resource.Meter
	var ctx *resource.Context
	api.Items(quotas, c.Namespace, func(it *resource.Item) bool {
		if m == nil {
			if m = c.Definition.Meter(); m == nil {
				return false
			}
			ctx = contextOf(api, c.Definition, c.Namespace)
		}
		if l := limitsOf(it); l.measured(m, ctx) && (c.Deleted() || l.differs(m, ctx, c)) {
			keys = append(keys, keyOf(it))
		}
		return true
	})
	return keys
}

func contextOf(api *controller.Client, d *resource.Definition, namespace string) *resource.Context {
	return &resource.Context{Now: api.Now(), Definition: d, Namespace: namespace, Objects: api, Warn: func(string) {}}
}

// measured reports whether the quota limits resources of the objects that a meter measures.
func (l *limits) measured(m *resource.Meter, ctx *resource.Context) bool {
	return slices.ContainsFunc(l.hard.Names(), func(name string) bool { return m.Measures(ctx, name) })
}

// differs reports whether an update changed the object's usage of the quota.
func (l *limits) differs(m *resource.Meter, ctx *resource.Context, c *commit.Commit) bool {
	if m.Uses == nil && len(l.scopes) == 0 {
		return false
	}
	now, before := c.Object(), c.OldObject()
	in := m.Within(l.scopes, now)
	return in != m.Within(l.scopes, before) || in && !same(m.Amounts(ctx, now), m.Amounts(ctx, before))
}

// count updates the usage in the status of a quota.
func count(api *controller.Client, key controller.Key) (again time.Duration, failed *status.Status) {
	it := api.Item(quotas, key.Namespace, key.Name)
	if it == nil {
		return 0, nil
	}
	l := limitsOf(it)
	counted, pending := l.count(api, key.Namespace)
	used := resource.Amounts{}
	for _, name := range l.spec.Names() {
		q, ok := counted[name]
		if !ok {
			pending = true // the resource is not served yet
			if q, ok = l.used[name]; !ok {
				continue
			}
		}
		used[name] = q
	}
	if pending {
		again = recountAfter
	}
	if l.hard != nil && l.used != nil && same(l.spec, l.hard) && same(used, l.used) {
		return again, nil
	}
	quota := it.Object()
	quota["status"] = map[string]any{"hard": l.spec.JSON(), "used": used.JSON()}
	_, failed = api.Update(quotas, "status", quota)
	return again, failed
}

// count returns the usage of the objects in a namespace. pending reports that the usage of some of them will decrease over time.
func (l *limits) count(api *controller.Client, namespace string) (counted resource.Amounts, pending bool) {
	counted = resource.Amounts{}
	seen := map[string]bool{}
	for _, d := range api.Resources() {
		m := d.Meter()
		if m == nil || seen[d.Storage] || !countable(d) {
			continue
		}
		seen[d.Storage] = true
		ctx := contextOf(api, d.Hub, namespace)
		names := slices.DeleteFunc(l.spec.Names(), func(name string) bool { return !m.Measures(ctx, name) })
		if len(names) == 0 {
			continue
		}
		sum := resource.Amounts{}
		api.Items(d.Storage, namespace, func(it *resource.Item) bool {
			if m.Uses == nil && len(l.scopes) == 0 {
				sum.Add(m.Amounts(ctx, nil))
				return true
			}
			obj := it.Object()
			if m.Within(l.scopes, obj) {
				sum.Add(m.Amounts(ctx, obj))
				pending = pending || obj.DeletionTimestamp() != ""
			}
			return true
		})
		for _, name := range names {
			counted[name] = counted[name].Add(sum[name])
		}
	}
	return counted, pending
}

// countable reports whether the controller can watch a resource (resourcequota.GetQuotableResources).
func countable(d *resource.Definition) bool {
	for _, verb := range []string{"create", "list", "watch", "delete"} {
		if !slices.Contains(d.Verbs, verb) {
			return false
		}
	}
	return true
}
