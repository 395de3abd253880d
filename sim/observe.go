package sim

import (
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/observe"
	"github.com/kubesim/kubesim/sim/replica"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/trace"
)

// AddFaults appends faults to the existing ones. If one of them can never occur, it returns an error and adds none.
func (c *Cluster) AddFaults(faults ...fault.Fault) (err error) {
	c.do(func() { err = c.observer.Add(faults...) })
	return err
}

// ClearFaults removes all faults and releases the events that they are holding.
func (c *Cluster) ClearFaults() { c.do(c.observer.Clear) }

// ReleaseFaults sends the watch events that faults are holding.
func (c *Cluster) ReleaseFaults() { c.do(c.observer.Release) }

// Faults returns the current faults and their statistics as text, which fault.Parse can parse.
func (c *Cluster) Faults() string { return under(c, c.observer.Faults) }

// FaultDecisions returns the most recent decisions about faults, and the number of older decisions that were dropped.
func (c *Cluster) FaultDecisions() (list []fault.Decision, forgotten uint64) {
	c.do(func() { list, forgotten = c.observer.Decisions() })
	return list, forgotten
}

// Trace returns a copy of the trace. It is empty if Options.Trace disables it.
func (c *Cluster) Trace() *trace.Log { return under(c, c.observer.Trace) }

// TryTrace is like Trace, but does not process anything that is due. If the Cluster is locked, it returns nil.
func (c *Cluster) TryTrace() (l *trace.Log) {
	c.lock.TryDo(func() { l = c.observer.Trace() })
	return l
}

// TraceHeader returns the header of the trace so far.
func (c *Cluster) TraceHeader() trace.Header { return under(c, c.observer.Header) }

// TraceSince returns the retained records after number n, and the number of the newest record. Reset restarts the numbering.
func (c *Cluster) TraceSince(n uint64) (records []trace.Record, newest uint64) {
	c.do(func() { records, newest = c.observer.Since(n) })
	return records, newest
}

// FollowTrace returns a channel that receives a signal when there are new records, until stop is called. New records exist only
// after requests.
func (c *Cluster) FollowTrace() (more <-chan struct{}, stop func()) {
	var unfollow func()
	c.do(func() { more, unfollow = c.observer.Follow() })
	return more, func() { c.do(unfollow) }
}

// AddListener registers a listener. It is notified of every commit, response, watch event and authorization decision, but not of
// those in forks.
func (c *Cluster) AddListener(w observe.Listener) {
	c.do(func() { c.observer.AddListener(w) })
}

// StopActorLocked stops an actor whose writes would otherwise repeat forever, so that the clock can advance. A controller is
// stopped, and further writes of any other client get 429. It is called by a listener, with the Cluster's lock held, and takes
// effect when the lock is released.
func (c *Cluster) StopActorLocked(p *observe.Actor) { c.observer.StopActor(p) }

// Inspect calls f with the newest state of the store and the Definitions of its objects, without a request. The Cluster's lock is
// held: f must not send requests to the Cluster.
func (c *Cluster) Inspect(f func(*mvcc.View, Definitions)) {
	c.do(func() { f(c.log.Newest(), replica.Leading{Set: c.servers}) })
}

// DefinitionsLocked returns the Definitions that Inspect uses. It is for listeners, because these are called with the Cluster's
// lock held.
func (c *Cluster) DefinitionsLocked() Definitions { return replica.Leading{Set: c.servers} }

// Definitions looks up the definitions of stored and served resources.
type Definitions interface {
	// Definition returns the hub definition of a storage name, or nil.
	Definition(storage string) *resource.Definition
	// Resources returns the served resources, each in its preferred version, in discovery order.
	Resources() []*resource.Definition
}

// AllowedByRoles reports, for each question about a user, whether RBAC alone would allow it, regardless of the configured
// authorizers. It also returns the rules that RBAC grants the user in each of the namespaces; the namespace "" stands for all of
// them.
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
