package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// resourceQuotas is the storage name of ResourceQuotas.
const resourceQuotas = "resourcequotas"

// Write stores what change makes of an object, as it is. Plugins that keep accounts are given one.
type Write func(storage, namespace, name string, change func(object.Object) *status.Status) (object.Object, *status.Status)

// ResourceQuota refuses what would use more of a namespace than its quotas allow, and counts what is used in their
// status (Kubernetes documentation, "Resource Quotas"; plugin/resourcequota.CheckRequest). The limits are those of the
// status: the quota controller writes them there, and counts what is deleted. Before it has come, nothing is refused.
func ResourceQuota(write Write) Plugin {
	q := &quotas{write}
	return Plugin{Name: "ResourceQuota", Validate: q.check}
}

type quotas struct{ write Write }

// account is one quota that a write is about.
type account struct {
	quota      object.Object
	hard, used amounts
}

func (q *quotas) check(a *Attributes) *status.Status {
	of := measureOf(a.Definition)
	if a.Namespace == "" || a.Operation == Delete || of == nil || !of.handles(a) {
		return nil
	}
	var accounts []*account
	var s *status.Status
	a.Objects.Each(resourceQuotas, a.Namespace, func(quota object.Object) bool {
		acc := &account{quota, amountsAt(quota, "status", "hard"), amountsAt(quota, "status", "used")}
		interesting := of.interesting(acc.hard.names())
		if len(interesting) == 0 || !inScopes(of, quota, a.Object) {
			return true
		}
		if why := of.demands(interesting, a.Object); why != "" {
			s = a.refuse("failed quota: %s: %s", quota.Name(), why)
			return false
		}
		if unknown := slices.DeleteFunc(slices.Clone(interesting), func(name string) bool { _, ok := acc.used[name]; return ok }); len(unknown) > 0 {
			s = a.refuse("status unknown for quota: %s, resources: %s", quota.Name(), strings.Join(interesting, ","))
			return false
		}
		accounts = append(accounts, acc)
		return true
	})
	if s != nil {
		return s
	}
	return q.charge(a, of, accounts)
}

// charge refuses a write that is too much for one of the quotas, or counts it in all.
func (q *quotas) charge(a *Attributes, of *measure, accounts []*account) *status.Status {
	usage := of.usage(a.Object, a)
	if negative := slices.DeleteFunc(usage.names(), func(name string) bool { return usage[name].Sign() >= 0 }); len(negative) > 0 {
		return a.refuse("quota usage is negative for resource(s): %s", strings.Join(negative, ","))
	}
	for _, acc := range accounts {
		delta := maps.Clone(usage)
		if a.Operation == Update && inScopes(of, acc.quota, a.Old) {
			for name, before := range of.usage(a.Old, a) {
				if now, ok := delta[name]; ok {
					delta[name] = now.Sub(before)
				}
			}
		}
		if s := acc.take(a, delta); s != nil {
			return s
		}
	}
	if a.DryRun {
		return nil
	}
	for _, acc := range accounts {
		if s := q.save(acc); s != nil {
			return s
		}
	}
	return nil
}

// take adds what a write uses; it refuses more than there is.
func (acc *account) take(a *Attributes, delta amounts) *status.Status {
	var over []string
	for _, name := range delta.names() {
		limit, limited := acc.hard[name]
		if !limited || delta[name].Sign() <= 0 {
			delete(delta, name)
			continue
		}
		if acc.used[name].Add(delta[name]).Cmp(limit) > 0 {
			over = append(over, name)
		}
	}
	if len(over) > 0 && a.Subresource != "status" {
		return a.refuse("exceeded quota: %s, requested: %s, used: %s, limited: %s", acc.quota.Name(),
			delta.text(over), acc.used.text(over), acc.hard.text(over))
	}
	acc.used.add(delta)
	return nil
}

// text prints some of the amounts: cpu=1,memory=1Gi.
func (a amounts) text(names []string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = name + "=" + a[name].String()
	}
	return strings.Join(parts, ",")
}

// save writes the status of a quota, if it is another one.
func (q *quotas) save(acc *account) *status.Status {
	before := amountsAt(acc.quota, "status", "used")
	if q.write == nil || before.text(before.names()) == acc.used.text(acc.used.names()) {
		return nil
	}
	_, s := q.write(resourceQuotas, acc.quota.Namespace(), acc.quota.Name(), func(quota object.Object) *status.Status {
		quota.Set(acc.used.json(), "status", "used")
		return nil
	})
	return s
}

// inScopes reports whether a quota is about an object: it is in all of the quota's scopes.
func inScopes(of *measure, quota, obj object.Object) bool {
	for _, scope := range object.Strings(quota.List("spec", "scopes")) {
		if !of.inScope(object.Object{"scopeName": scope, "operator": "Exists"}, obj) {
			return false
		}
	}
	for _, v := range quota.List("spec", "scopeSelector", "matchExpressions") {
		requirement, _ := v.(map[string]any)
		if !of.inScope(requirement, obj) {
			return false
		}
	}
	return true
}

func countKey(storage string) string { return "count/" + storage }

// must names what a container does not state.
func must(missing map[string][]string) string {
	var parts []string
	for _, name := range object.SortedKeys(missing) {
		containers := slices.Sorted(slices.Values(missing[name]))
		parts = append(parts, fmt.Sprintf("%s for: %s", name, strings.Join(slices.Compact(containers), ",")))
	}
	if len(parts) == 0 {
		return ""
	}
	return "must specify " + strings.Join(parts, "; ")
}
