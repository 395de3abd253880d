package admission

import (
	"maps"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// resourceQuotas is the storage name of ResourceQuotas.
const resourceQuotas = "resourcequotas"

// Write applies a change to an object and stores the result without further admission. The first argument is the author of the
// write. Plugins use it to record usage.
type Write func(by resource.Author, storage, namespace, name string, change func(object.Object) *status.Status) (object.Object, *status.Status)

// resourceQuota rejects writes that would exceed a quota of their namespace, and adds the usage of all other writes to
// the quotas' status (Kubernetes documentation, "Resource Quotas"; plugin/resourcequota.CheckRequest). It uses the limits
// in the status, which the quota controller sets. Until then the quota has no effect. The controller also subtracts the
// usage of deleted objects.
//
//	object ─ meter ─▶ amounts used ───────────────┐
//	quota  ─ meter ─▶ account: limits, used so far ┴▶ rejected, or used in the quota's status
func resourceQuota(write Write, config []LimitedResource) Step {
	return func(a *Attributes) *status.Status {
		m := a.Definition.Meter()
		if a.Namespace == "" || m == nil || !charges(m, a) {
			return nil
		}
		l := limited(config, m, a)
		accounts, s := openAccounts(m, a, &l)
		if s == nil && len(accounts) > 0 {
			s = chargeAll(m, a, accounts)
		}
		if s != nil || a.DryRun {
			return s
		}
		for _, acc := range accounts {
			if s := acc.save(a.By, write); s != nil {
				return s
			}
		}
		return nil
	}
}

// charges reports whether a write may increase the usage of a quota.
func charges(m *resource.Meter, a *Attributes) bool {
	switch a.Operation {
	case Create:
		return a.Subresource == ""
	case Update:
		return m.Updates != nil && m.Updates(a.Context, a.Object, a.Old)
	}
	return false
}

// account is a quota that applies to a write.
type account struct {
	quota      object.Object
	hard, used resource.Amounts
	charged    bool // used has changed
}

// openAccounts returns an account for each quota that applies to the object. It returns an error if a quota has no usage in its
// status yet, or if the object lacks fields that a quota requires. It removes the amounts that the quotas cover from l, and returns
// an error if any remain.
func openAccounts(m *resource.Meter, a *Attributes, l *limits) (accounts []*account, _ *status.Status) {
	for _, quota := range a.Objects.All(resourceQuotas, a.Namespace) {
		acc := &account{quota: quota, hard: resource.AmountsAt(quota, "status", "hard"), used: resource.AmountsAt(quota, "status", "used")}
		var limits []string
		known := true
		for _, name := range acc.hard.Names() {
			if m.Measures(a.Context, name) {
				_, counted := acc.used[name]
				limits, known = append(limits, name), known && counted
			}
		}
		l.inScopes(matching(m, resource.Scopes(quota), a.Object))
		if len(limits) == 0 || !m.Within(resource.Scopes(quota), a.Object) {
			continue
		}
		if m.Demands != nil {
			if why := m.Demands(limits, a.Object); why != "" {
				return nil, a.refuse("failed quota: %s: %s", quota.Name(), why)
			}
		}
		if !known {
			return nil, a.refuse("status unknown for quota: %s, resources: %s", quota.Name(), strings.Join(limits, ","))
		}
		l.covered(limits)
		accounts = append(accounts, acc)
	}
	return accounts, l.uncovered(a)
}

// chargeAll adds the usage of a write to the accounts, or rejects the write if it exceeds one of them.
func chargeAll(m *resource.Meter, a *Attributes, accounts []*account) *status.Status {
	uses := m.Amounts(a.Context, a.Object)
	more := uses
	if a.Operation == Update {
		more = uses.Less(m.Amounts(a.Context, a.Old))
	}
	for _, acc := range accounts {
		charge := uses
		if a.Operation == Update && m.Within(resource.Scopes(acc.quota), a.Old) { // the old object is already counted in this quota
			charge = more
		}
		if s := acc.charge(a, charge); s != nil {
			return s
		}
	}
	return nil
}

// charge adds the usage of a write, or rejects the write if the sum exceeds the limit. It ignores decreases, which the quota
// controller records.
func (acc *account) charge(a *Attributes, uses resource.Amounts) *status.Status {
	sum := maps.Clone(acc.used)
	var over []string
	for _, name := range uses.Names() {
		limit, limited := acc.hard[name]
		if !limited || uses[name].Sign() <= 0 {
			continue
		}
		sum[name], acc.charged = sum[name].Add(uses[name]), true
		if sum[name].Cmp(limit) > 0 {
			over = append(over, name)
		}
	}
	if len(over) > 0 && a.Subresource != "status" {
		return a.refuse("exceeded quota: %s, requested: %s, used: %s, limited: %s", acc.quota.Name(),
			uses.Text(over), acc.used.Text(over), acc.hard.Text(over))
	}
	acc.used = sum
	return nil
}

// save writes the usage to the status of the quota.
func (acc *account) save(by resource.Author, write Write) *status.Status {
	if !acc.charged {
		return nil
	}
	_, s := write(by, resourceQuotas, acc.quota.Namespace(), acc.quota.Name(), func(quota object.Object) *status.Status {
		quota.Set(acc.used.JSON(), "status", "used")
		return nil
	})
	return s
}
