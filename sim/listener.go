package sim

import (
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/observe"
	"github.com/kubesim/kubesim/sim/replica"
	"github.com/kubesim/kubesim/sim/resource"
)

// AddListener registers w: it is notified of every commit, answer, event and decision. It is not registered with forks.
func (c *Cluster) AddListener(w observe.Listener) {
	c.do(func() { c.observer.AddListener(w) })
}

// StopActorLocked stops an actor that repeats itself without end, so that time can go on: a controller is stopped, and any other client's
// writes get 429 from now on. A listener calls it, under the Cluster's lock; it takes effect when the lock is released.
func (c *Cluster) StopActorLocked(p *observe.Actor) { c.observer.StopActor(p) }

// Inspect calls f with the newest state of the store and the Definitions of its objects, without a request. The Cluster's lock is
// held: f must not send requests to the Cluster.
func (c *Cluster) Inspect(f func(*mvcc.View, Definitions)) {
	c.do(func() { f(c.log.Newest(), replica.Leading{Set: c.servers}) })
}

// DefinitionsLocked returns the Definitions of Inspect, for a listener, which runs under the Cluster's lock.
func (c *Cluster) DefinitionsLocked() Definitions { return replica.Leading{Set: c.servers} }

// Definitions finds the definitions of stored and served resources.
type Definitions interface {
	// Definition returns the hub definition of a storage name, or nil.
	Definition(storage string) *resource.Definition
	// Resources returns the served resources, in the versions and the order that discovery prefers.
	Resources() []*resource.Definition
}

// AllowedByRoles reports for each of a user's questions whether roles alone allow it, whichever authorizers Options configure, and
// which rules they give the user, by namespace; the key "" is all namespaces.
func (c *Cluster) AllowedByRoles(user auth.User, questions []auth.Attributes, namespaces []string) (allowed []bool, rules map[string][]auth.Rule) {
	c.do(func() {
		api := c.servers.At(1).API()
		rules = map[string][]auth.Rule{}
		for _, at := range questions {
			allowed = append(allowed, api.Auth.ByRoles(at, api.Registry.Reader()))
		}
		for _, namespace := range namespaces {
			rules[namespace] = api.Auth.Granted(user, namespace, api.Registry.Reader())
		}
	})
	return allowed, rules
}
