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

// AddFaults adds faults after the existing ones. It refuses all of them if one of them can never happen.
func (c *Cluster) AddFaults(faults ...fault.Fault) (err error) {
	c.do(func() { err = c.observer.Add(faults...) })
	return err
}

// ClearFaults takes all faults away and releases what they hold.
func (c *Cluster) ClearFaults() { c.do(c.observer.Clear) }

// ReleaseFaults sends the watch events that a fault holds.
func (c *Cluster) ReleaseFaults() { c.do(c.observer.Release) }

// Faults returns the current faults as text, each with its progress. fault.Parse reads it.
func (c *Cluster) Faults() string { return under(c, c.observer.Faults) }

// FaultDecisions returns the decisions about faults, and how many older decisions were forgotten.
func (c *Cluster) FaultDecisions() (list []fault.Decision, forgotten uint64) {
	c.do(func() { list, forgotten = c.observer.Decisions() })
	return list, forgotten
}

// Trace returns a copy of the trace. It is empty if Options.Trace disables it.
func (c *Cluster) Trace() *trace.Log { return under(c, c.observer.Trace) }

// TryTrace is Trace without advancing the Cluster: no work that is due is done first. It returns nil if the Cluster is locked.
func (c *Cluster) TryTrace() (l *trace.Log) {
	c.lock.TryDo(func() { l = c.observer.Trace() })
	return l
}

// TraceHeader returns the description of the run for a trace that is not complete yet.
func (c *Cluster) TraceHeader() trace.Header { return under(c, c.observer.Header) }

// TraceSince returns the records after number n that are still there, and the number of the newest. After a Reset the numbers start
// over.
func (c *Cluster) TraceSince(n uint64) (records []trace.Record, newest uint64) {
	c.do(func() { records, newest = c.observer.Since(n) })
	return records, newest
}

// FollowTrace returns a channel that is signalled when there are new records, until stop is called. A Cluster that no request
// reaches has no new records.
func (c *Cluster) FollowTrace() (more <-chan struct{}, stop func()) {
	var unfollow func()
	c.do(func() { more, unfollow = c.observer.Follow() })
	return more, func() { c.do(unfollow) }
}

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
