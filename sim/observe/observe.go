// Package observe observes all requests, commits and watch events of a cluster. It records the trace and applies faults.
//
//	apiserver ─ hook ─▶ Observer ◀─ Committed, Applied ─ log, servers
//	watch ──── gate ──▶    │
//	                       ├─▶ trace.Trace     records
//	                       └─▶ fault.Injector  faults ─▶ delays, held events, errors, compactions
//
// An Observer costs nothing until Begin is called.
package observe

import (
	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/replica"
	"github.com/kubesim/kubesim/sim/trace"
	"github.com/kubesim/kubesim/sim/trouble"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// Cluster contains the parts of a cluster that an Observer observes and that faults affect.
type Cluster struct {
	Log      *commit.Log
	History  *history.History
	Servers  *replica.Set
	Schedule *clock.Schedule

	Controllers trouble.Controllers
}

// Observer observes the requests, commits and watch events of a cluster. The Cluster's lock guards it.
type Observer struct {
	Cluster
	options *config.Cluster
	trace   *trace.Trace // nil until Begin
	faults  *fault.Injector
	hooks   []*hook // one per server; empty until Begin

	listeners   []Listener
	undelivered []*gate // gates with events of which the listeners have not been notified

	commit  commitMark // the newest commit
	delayed []*delayed // delayed requests and responses
	held    []*gate    // watches with an event that is held until Release
	later   []func()   // functions to call when the lock is released
}

// commitMark identifies the trace record of the newest commit.
type commitMark struct{ rev, record uint64 }

// delayed is a delayed request or response.
type delayed struct {
	run  func()
	stop func()
}

// New returns an Observer. It observes nothing until Begin is called.
func New(c Cluster, o *config.Cluster) *Observer {
	return &Observer{Cluster: c, options: o, faults: injector(o)}
}

// Begun reports whether o is observing.
func (o *Observer) Begun() bool { return o.trace != nil }

// Begin starts observing. If the Observer has already started, it does nothing.
func (o *Observer) Begin() {
	if o.Begun() {
		return
	}
	o.trace = trace.New(o.options.Records())
	for n := 1; n <= o.Servers.Len(); n++ {
		o.hooks = append(o.hooks, &hook{o, n})
		for _, w := range o.Servers.At(n).Watches("") {
			o.hooks[n-1].requestOf(w.Exchange).Watching(w.Watch)
		}
	}
}

// Hook implements replica.Listener.
func (o *Observer) Hook(n int) apiserver.Hook {
	if !o.Begun() {
		return nil
	}
	return o.hooks[n-1]
}

// Asked implements replica.Listener.
func (o *Observer) Asked(n int, at auth.Attributes, allowed bool) {
	if o.Begun() {
		o.hooks[n-1].notifyAsked(at, allowed)
	}
}

// injector returns the fault Injector that the options describe.
func injector(o *config.Cluster) *fault.Injector {
	in := fault.NewInjector(o.Seed)
	if o.Replay != nil {
		in.Follow(o.Replay)
	}
	return in
}

// Reset empties the trace, removes all faults, and restarts with the current seed.
func (o *Observer) Reset() {
	o.faults = injector(o.options)
	if !o.Begun() {
		return
	}
	o.trace.Reset()
	o.commit, o.later, o.delayed, o.held = commitMark{}, nil, nil, nil
}

// afterwards calls f when the lock is released.
func (o *Observer) afterwards(f func()) { o.later = append(o.later, f) }

// Flush runs all delayed functions immediately, because the clock of a stopped cluster does not advance.
func (o *Observer) Flush() {
	o.faults.Clear()
	list := o.delayed
	o.delayed = nil
	for _, x := range list {
		x.stop()
		x.run()
	}
	o.held = nil
}

// After runs the functions that were postponed until the lock is released.
func (o *Observer) After() {
	for len(o.later) > 0 {
		f := o.later[0]
		o.later = o.later[1:]
		f()
	}
}

// add adds r to the trace with the current time.
func (o *Observer) add(r *trace.Record) uint64 {
	r.At = o.Schedule.Now()
	return o.trace.Add(r)
}

// Committed implements commit.Listener. It is called before any replica applies the commit.
func (o *Observer) Committed(e *commit.Commit) {
	if !o.Begun() {
		return
	}
	r := commitRecord(trace.StoreCommitted, e)
	x, replica := exchangeOf(e), 0
	if e.By != nil {
		by := e.By.Actor()
		r.Client, r.User = by.Client, by.User
	}
	if q := requestOf(x); q != nil {
		r.Cause, r.Replica, replica = q.arrived, q.Replica, q.Replica
		if e.Definition != nil {
			q.commit(&r, e)
		}
	}
	r.Before, r.After = states(e)
	o.commit = commitMark{e.Rev, o.add(&r)}
	o.notifyWrote(e)
	if !o.faults.Empty() {
		o.carryOut(fault.StoreCommitted, o.commitOp(r.Verb, e, replica), x, nil)
	}
}

// Applied implements replica.Listener.
func (o *Observer) Applied(n int, e *commit.Commit) {
	if !o.Begun() {
		return
	}
	record := commitRecord(trace.ReplicaApplied, e)
	record.Replica = n
	if o.commit.rev == e.Rev {
		record.Cause = o.commit.record
	}
	o.add(&record)
	if !o.faults.Empty() {
		o.carryOut(fault.ReplicaApplied, o.commitOp(record.Verb, e, n), exchangeOf(e), nil)
	}
}

// exchangeOf returns the request that made a commit, or nil if there is none.
func exchangeOf(e *commit.Commit) *apiserver.Exchange {
	x, _ := e.By.(*apiserver.Exchange)
	return x
}

// requestOf returns the observer's data about a request. If the request arrived before the observer began, it returns nil.
func requestOf(x *apiserver.Exchange) *request {
	if x == nil {
		return nil
	}
	q, _ := x.Observation.(*request)
	return q
}

// states returns the stored bytes before and after a commit. If the object did not exist, or no replica serves its resource, they
// are nil.
func states(e *commit.Commit) (before, after []byte) {
	if it := e.Before(); it != nil {
		before = it.Bytes()
	}
	if it := e.Item(); it != nil && !e.Deleted() {
		after = it.Bytes()
	}
	return before, after
}

// commitRecord returns the trace record of a commit.
func commitRecord(site trace.Site, e *commit.Commit) trace.Record {
	r := trace.Record{Site: site, Verb: watchcache.Modified, Rev: e.Rev, Key: e.Key}
	if d := e.Definition; d != nil {
		r.What, r.Key = trace.What(d.Group, d.Resource, "", ""), e.Path
	}
	switch {
	case e.Deleted():
		r.Verb = watchcache.Deleted
	case e.Created():
		r.Verb = watchcache.Added
	}
	return r
}

var commitVerbs = map[string]string{watchcache.Added: "create", watchcache.Modified: "update", watchcache.Deleted: "delete"}

// commitOp returns a description of a commit, with which faults compare their triggers.
func (o *Observer) commitOp(verb string, e *commit.Commit, replica int) *fault.Op {
	op := &fault.Op{Commit: commitVerbs[verb], Replica: replica}
	d := e.Definition
	if d == nil {
		return op
	}
	op.Group, op.Resource, op.Namespace, op.Name = d.Group, d.Resource, e.Namespace, e.Name
	op.Object = e.Object
	if !e.Created() && !e.Deleted() {
		op.Old = e.OldObject
	}
	if x := exchangeOf(e); x != nil && x.Resource == op.Resource && x.Group == op.Group {
		op.Verb, op.Subresource, op.UserAgent, op.User, op.Spared = x.Verb, x.Subresource, x.UserAgent, x.User.Name, x.Spared
	}
	return op
}
