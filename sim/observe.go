package sim

import (
	"github.com/kubesim/kubesim/sim/fault"
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
