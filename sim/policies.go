package sim

import (
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/replica"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// putBackPolicies creates missing default roles and bindings, and adds missing rules and subjects to existing ones, like an API
// server that starts with existing data. Admission does not run, because the webhooks that it could call are not available yet. It
// returns the first error.
func putBackPolicies(server *replica.Server) *status.Status {
	api, policies := server.API().Registry.WithoutAdmission(), boot.Policies(server.Minor(), server.RoleGates())
	for _, step := range []func(*registry.Registry, *resource.Definition, object.Object) *status.Status{createFromLegacy, putBack} {
		for _, expected := range policies {
			if s := step(api, server.Definition(expected.Storage), expected.Object); s != nil {
				return s
			}
		}
	}
	return nil
}

// createFromLegacy creates a missing default role or binding from the existing one that granted the same rights in older releases.
// If the object exists, or there is no such older one, it does nothing.
func createFromLegacy(api *registry.Registry, d *resource.Definition, expected object.Object) *status.Status {
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
	q := registry.Loopback(nil, d, "", expected.Name())
	q.Verb = "create"
	_, s := api.Create(q, primed)
	return s
}

// putBack creates a default role or binding, or adds the missing rules and subjects to an existing one. It does nothing if the
// namespace of the object does not exist.
func putBack(api *registry.Registry, d *resource.Definition, expected object.Object) *status.Status {
	namespace, name, objects := expected.Namespace(), expected.Name(), api.Reader()
	if namespace != "" && objects.Get("namespaces", "", namespace) == nil {
		return nil
	}
	q := registry.Loopback(nil, d, namespace, name)
	q.Verb = "create"
	if existing := objects.Item(d.Storage, namespace, name); existing != nil {
		changed, recreate := auth.Reconcile(existing.Shared(), expected)
		switch {
		case changed == nil:
			return nil
		case !recreate:
			q.Verb = "update"
			_, s := api.Update(q, registry.Change{Kind: registry.Put, Make: func(object.Object) (object.Object, *status.Status) { return changed, nil }})
			return s
		}
		if _, s := api.Delete(registry.Loopback(nil, d, namespace, name), registry.DeleteOptions{}); s != nil {
			return s
		}
	}
	_, s := api.Create(q, expected.Copy())
	return s
}
