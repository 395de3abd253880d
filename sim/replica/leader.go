package replica

import (
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// Leading implements controller.Server with the leader, for which the store is always reachable.
type Leading struct{ *Set }

// Registry implements controller.Server. Its writes skip admission.
func (x Leading) Registry() *registry.Registry { return x.Leader().own }

// Admitted implements controller.Server.
func (x Leading) Admitted() *registry.Registry { return x.Leader().admitted }

// Definition implements controller.Server.
func (x Leading) Definition(storage string) *resource.Definition {
	return x.Leader().Definition(storage)
}

// Minor implements controller.Server.
func (x Leading) Minor() string { return x.Leader().Minor() }

// Served implements controller.Server.
func (x Leading) Served(group, storage string) *resource.Definition {
	for _, d := range x.Leader().profile.served {
		if d.Group == group && d.Storage == storage {
			return d
		}
	}
	return nil
}

// OfKind implements controller.Server.
func (x Leading) OfKind(kind schema.GVK) *resource.Definition {
	return x.Leader().api.Table.OfKind(kind)
}

// Resources implements controller.Server.
func (x Leading) Resources() []*resource.Definition { return x.Leader().api.Discovery.Preferred() }

// Serves implements aggregator.Servers. It reports whether the leader itself serves a version.
func (s *Set) Serves(group, version string) bool { return s.Leader().api.Table.Serves(group, version) }

// Reader implements aggregator.Servers.
func (s *Set) Reader() registry.Reader { return s.Leader().own.Reader() }

// labelTokenUse adds the date on which a token was used to the labels of its Secret. Like the real API server, it does so before
// the request is executed, and it ignores errors (pkg/serviceaccount.legacyValidator).
func (s *Set) labelTokenUse(use token.Use) {
	if use == (token.Use{}) {
		return
	}
	leader := s.Leader()
	_, _ = leader.own.Update(registry.Loopback(nil, leader.Definition("secrets"), use.Namespace, use.Name), registry.Change{Kind: registry.Patch,
		Make: func(live object.Object) (object.Object, *status.Status) {
			live.Set(use.Day, "metadata", "labels", token.LastUsedLabel)
			return live, nil
		}})
}
