package sim

import (
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// reconcileLocked creates missing default roles and bindings, and adds missing rules and subjects to existing ones, as API servers do
// that start over existing data. Admission is not asked: nothing is there yet that could answer.
func (c *Cluster) reconcileLocked() *status.Status {
	first := c.servers.First()
	api := *first.API().Registry
	api.Admission = nil
	policies := boot.Policies(first.Minor())
	for _, reconcile := range []func(*registry.Registry, *resource.Definition, object.Object) *status.Status{c.primePolicyLocked, c.reconcilePolicyLocked} {
		for _, expected := range policies {
			if s := reconcile(&api, first.Definition(expected.Storage), expected.Object); s != nil {
				return s
			}
		}
	}
	return nil
}

// primePolicyLocked creates a missing default role or binding from the one that older releases had its contents in.
func (c *Cluster) primePolicyLocked(api *registry.Registry, d *resource.Definition, expected object.Object) *status.Status {
	name := auth.Origin(expected)
	if name == "" || api.Reader().Get(d.Storage, "", expected.Name()) != nil {
		return nil
	}
	origin := api.Reader().Get(d.Storage, "", name)
	if origin == nil {
		return nil
	}
	primed := auth.Prime(origin, expected)
	if primed == nil {
		return nil
	}
	q := registry.Loopback(d, "", expected.Name())
	q.Verb = "create"
	_, s := api.Create(q, primed)
	return s
}

func (c *Cluster) reconcilePolicyLocked(api *registry.Registry, d *resource.Definition, expected object.Object) *status.Status {
	namespace, name, objects := expected.Namespace(), expected.Name(), api.Reader()
	if namespace != "" && objects.Get("namespaces", "", namespace) == nil {
		return nil
	}
	q := registry.Loopback(d, namespace, name)
	q.Verb = "create"
	existing := objects.Get(d.Storage, namespace, name)
	if existing != nil {
		changed, anew := auth.Reconcile(existing, expected)
		switch {
		case changed == nil:
			return nil
		case !anew:
			q.Verb = "update"
			_, s := api.Update(q, registry.Change{Kind: registry.Put, Make: func(object.Object) (object.Object, *status.Status) { return changed, nil }})
			return s
		}
		if _, s := api.Delete(registry.Loopback(d, namespace, name), registry.DeleteOptions{}); s != nil {
			return s
		}
	}
	_, s := api.Create(q, expected)
	return s
}
