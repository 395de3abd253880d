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
	for _, expected := range boot.Policies(first.Minor()) {
		d := first.Definition(expected.Storage)
		if s := c.reconcilePolicyLocked(&api, d, expected.Object); s != nil {
			return s
		}
	}
	return nil
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
