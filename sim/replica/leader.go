package replica

import (
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// Leading is the leader as controllers see it: their store is always within reach.
type Leading struct{ *Set }

// Registry implements controller.Server: its writes skip admission.
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

// Serves is aggregator.Servers': whether the leader itself serves a version.
func (s *Set) Serves(group, version string) bool { return s.Leader().api.Table.Serves(group, version) }

// Reader implements aggregator.Servers: it reads the currently stored objects.
func (s *Set) Reader() registry.Reader { return s.Leader().own.Reader() }

// labelTokenUse labels the Secret of a token with the day of its use, as the API server does before it carries out the request
// (pkg/serviceaccount.legacyValidator). It ignores errors.
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
