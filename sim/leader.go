package sim

import (
	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
)

// leader is the replica whose controllers do the work: the first one that knows everything, else the first.
func (c *Cluster) leader() *Replica {
	for _, r := range c.replicas {
		if !r.lagsAll && !r.unreachable && len(r.lagging) == 0 {
			return r
		}
	}
	return c.replicas[0]
}

// ownBackend is a replica as its own controllers see it: the store is always within reach.
type ownBackend struct{ backend }

// Reachable is registry.Backend's.
func (ownBackend) Reachable() bool { return true }

// hub is the leader's definition of what is stored under a name.
func (c *Cluster) hub(storage string) *resource.Definition { return c.leader().profile.hubs[storage] }

// loopback is a request of the server to itself.
func (c *Cluster) loopback(d *resource.Definition, namespace, name string) *registry.Request {
	return &registry.Request{Definition: d, Namespace: namespace, Name: name, Manager: server.FieldManager, Warn: func(string) {},
		User: server.User()}
}

// own is the registry without admission.
func (c *Cluster) own() *registry.Registry { return c.leader().own }

// leading is the leader as controllers see it.
type leading struct{ c *Cluster }

func (x leading) Registry() *registry.Registry { return x.c.own() }

func (x leading) Definition(storage string) *resource.Definition {
	return backend{x.c.leader()}.Definition(storage)
}

func (x leading) Minor() string { return x.c.leader().profile.set.Minor() }
