package sim

import (
	"strings"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/trace"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// observer is what sees everything that goes through a Cluster: it keeps the trace and carries out the faults. A Cluster
// without trace and faults has none.
//
//	apiserver ─ hook ─▶ observer ◀─ committed, applied ─ Cluster, Replica
//	watch ──── gate ──▶    │
//	                       ├─▶ trace.Trace     what happened
//	                       └─▶ fault.Injector  what goes wrong ─▶ delays, held events, errors, compactions
type observer struct {
	c      *Cluster
	trace  *trace.Trace
	faults *fault.Injector

	current *apiserver.Exchange // the request that is being served, if one is
	server  int                 // its replica
	commit  commitMark          // the newest commit
	delayed []*delayed          // requests and answers that wait
	held    []*gate             // watches with an event that waits for Release
	later   []func()            // what is done when the lock is given back
}

// commitMark finds the record of the newest commit again.
type commitMark struct{ rev, record uint64 }

// delayed is a request or an answer that waits.
type delayed struct {
	run  func()
	stop func()
}

// observe returns the observer, and begins to observe when there is none. The lock is held.
func (c *Cluster) observe() *observer {
	if c.observer != nil {
		return c.observer
	}
	o := &observer{c: c, trace: trace.New(c.options.Trace), faults: c.injector()}
	c.observer = o
	for i, r := range c.replicas {
		h := hook{o, i + 1}
		r.server.Hook = h
		for _, w := range r.watches("") {
			if e, ok := w.Owner.(*apiserver.Exchange); ok {
				h.Watching(e, w)
			}
		}
	}
	return o
}

// injector returns what decides about faults.
func (c *Cluster) injector() *fault.Injector {
	in := fault.NewInjector(c.seed)
	if c.options.Replay != nil {
		in.Follow(c.options.Replay)
	}
	return in
}

// begin begins anew after a Reset.
func (o *observer) begin() {
	o.trace.Reset()
	o.faults = o.c.injector()
	o.current, o.commit, o.later = nil, commitMark{}, nil
}

// add records r at the present.
func (o *observer) add(r trace.Record) uint64 {
	r.At = o.c.now()
	return o.trace.Add(r)
}

// hook is the observer at one replica.
type hook struct {
	*observer
	replica int
}

// visit is what the observer remembers of a request.
type visit struct {
	trace.Record        // what all of its records have in common
	arrived      uint64 // number of the first one

	// What the request has written of its object: what is there after its last commit and was there before its first.
	after, before *resource.Item
	wrote         bool
}

// commit takes in a commit that the request has made.
func (v *visit) commit(r *trace.Record, e *commit.Commit) {
	if r.What != strings.TrimSuffix(v.What, subresourceOf(v.What)) || v.Key != r.Key && v.Verb != "create" {
		return
	}
	if !v.wrote {
		v.before = e.Before()
	}
	v.after, v.wrote = v.before, true
	if !e.Deleted() {
		v.after = e.Item()
	}
}

// written makes what the request has written the objects of an op.
func (v *visit) written(op *fault.Op) {
	if !v.wrote {
		return
	}
	op.Object, op.Old = v.after.Object, nil
	if v.before != nil && (v.after != v.before || v.Verb != "delete") {
		op.Old = v.before.Object
	}
}

// subresourceOf returns the part of a What from its slash on.
func subresourceOf(what string) string {
	_, sub, ok := strings.Cut(what, "/")
	if !ok {
		return ""
	}
	return "/" + sub
}

// visit returns what is known of a request; of one that arrived before anybody looked, what can still be told.
func (h hook) visit(e *apiserver.Exchange) *visit {
	if v, ok := e.Data.(*visit); ok {
		return v
	}
	v := &visit{Record: trace.Record{Replica: h.replica, Client: e.UserAgent, User: e.User, Verb: e.Verb,
		What: what(e.Group, e.Resource, e.Subresource, e.Path), Key: key(e.Namespace, e.Name)}}
	e.Data = v
	return v
}

// record begins a record about a request.
func (h hook) record(site trace.Site, e *apiserver.Exchange) trace.Record {
	v := h.visit(e)
	r := v.Record
	r.Site, r.Cause = site, v.arrived
	return r
}

// op is what a fault compares with its trigger.
func (h hook) op(e *apiserver.Exchange) *fault.Op {
	return &fault.Op{Verb: e.Verb, Path: e.Path, Group: e.Group, Resource: e.Resource, Subresource: e.Subresource,
		Namespace: e.Namespace, Name: e.Name, UserAgent: e.UserAgent, User: e.User, Replica: h.replica,
		Object: e.Object, Old: e.Stored}
}

// Arrived is apiserver.Hook's.
func (h hook) Arrived(e *apiserver.Exchange, serve func(*status.Status)) {
	h.visit(e).arrived = h.add(h.record(trace.RequestArrived, e))
	if h.faults.Empty() {
		serve(nil)
		return
	}
	wait, instead := h.carryOut(fault.RequestArrived, h.op(e), e)
	h.delay(wait, func() { serve(instead) })
}

// Decided is apiserver.Hook's.
func (h hook) Decided(e *apiserver.Exchange) *status.Status {
	h.current, h.server = e, h.replica
	h.add(h.record(trace.RequestDecided, e))
	if h.faults.Empty() {
		return nil
	}
	_, instead := h.carryOut(fault.RequestDecided, h.op(e), e)
	return instead
}

// Validated is apiserver.Hook's.
func (h hook) Validated(e *apiserver.Exchange, obj object.Object, old *resource.Item) *status.Status {
	if h.faults.Empty() {
		return nil
	}
	op := h.op(e)
	op.Object, op.Old = func() object.Object { return obj }, nil
	if op.Name == "" {
		op.Name = obj.Name()
	}
	if old != nil {
		op.Old = old.Object
	}
	_, instead := h.carryOut(fault.RequestValidated, op, e)
	return instead
}

// Answered is apiserver.Hook's.
func (h hook) Answered(e *apiserver.Exchange, a *apiserver.Answer, send func(*apiserver.Answer)) {
	if h.current == e {
		h.current = nil
	}
	if h.faults.Empty() {
		h.send(e, a, send)
		return
	}
	op := h.op(e)
	op.Failed, op.Stream = a.Code >= 300, a.Watch != nil
	h.visit(e).written(op)
	wait, instead := h.carryOutAnswer(op, e, a)
	if instead != nil {
		if a.Stream != nil {
			_ = a.Stream.Close() // nobody reads it
		}
		a = e.Fail(instead)
	}
	h.delay(wait, func() { h.send(e, a, send) })
}

func (h hook) send(e *apiserver.Exchange, a *apiserver.Answer, send func(*apiserver.Answer)) {
	r := h.record(trace.RequestAnswered, e)
	r.Code = a.Code
	h.add(r)
	send(a)
}

// Watching is apiserver.Hook's.
func (h hook) Watching(e *apiserver.Exchange, w *watchcache.Watch) {
	g := &gate{h: h, e: e, w: w}
	w.Gate = g.pass
}

// committed is told of a commit before any replica knows it.
func (o *observer) committed(e *commit.Commit) {
	r := commitRecord(trace.StoreCommitted, e)
	if o.current != nil {
		r.Cause, r.Replica, r.Client = o.mark(o.current), o.server, o.current.UserAgent
		if v, ok := o.current.Data.(*visit); ok && e.Definition != nil {
			v.commit(&r, e)
		}
	}
	o.commit = commitMark{e.Rev, o.add(r)}
	if !o.faults.Empty() {
		o.carryOut(fault.StoreCommitted, o.commitOp(e, o.server), o.current)
	}
}

// applied is told that a replica knows a commit; its watches do not, yet.
func (o *observer) applied(r *Replica, e *commit.Commit) {
	n := 1
	for i := range o.c.replicas {
		if o.c.replicas[i] == r {
			n = i + 1
		}
	}
	record := commitRecord(trace.ReplicaApplied, e)
	record.Replica = n
	if o.commit.rev == e.Rev {
		record.Cause = o.commit.record
	}
	o.add(record)
	if !o.faults.Empty() {
		o.carryOut(fault.ReplicaApplied, o.commitOp(e, n), o.current)
	}
}

// commitRecord is what a trace says of a commit.
func commitRecord(site trace.Site, e *commit.Commit) trace.Record {
	r := trace.Record{Site: site, Verb: watchcache.Modified, Rev: e.Rev, Key: e.Key}
	switch {
	case e.Deleted():
		r.Verb = watchcache.Deleted
	case e.Created():
		r.Verb = watchcache.Added
	}
	if it := e.Item(); it != nil {
		r.What, r.Key = what(e.Definition.Group, e.Definition.Resource, "", ""), key(it.Namespace, it.Name)
	}
	return r
}

// mark is the number of the record with which a request began.
func (o *observer) mark(e *apiserver.Exchange) uint64 {
	if v, ok := e.Data.(*visit); ok {
		return v.arrived
	}
	return 0
}

var commitVerbs = map[string]string{watchcache.Added: "create", watchcache.Modified: "update", watchcache.Deleted: "delete"}

func (o *observer) commitOp(e *commit.Commit, replica int) *fault.Op {
	op := &fault.Op{Commit: commitVerbs[commitRecord(trace.StoreCommitted, e).Verb], Replica: replica}
	d, it := e.Definition, e.Item()
	if it == nil {
		return op
	}
	op.Group, op.Resource, op.Namespace, op.Name = d.Group, d.Resource, it.Namespace, it.Name
	op.Object = it.Object
	if !e.Created() && !e.Deleted() {
		op.Old = func() object.Object { return e.Before().Object() }
	}
	if x := o.current; x != nil && x.Resource == op.Resource && x.Group == op.Group {
		op.Verb, op.Subresource, op.UserAgent, op.User = x.Verb, x.Subresource, x.UserAgent, x.User
	}
	return op
}

// definition returns the hub definition of the objects under a key, or nil.
func (o *observer) definition(key string) *resource.Definition {
	return definitions{o.c}.Definition(commit.Storage(key))
}

// what names a resource as a trace does: deployments.apps/status, or a path.
func what(group, resource, subresource, path string) string {
	if resource == "" {
		return path
	}
	if group != "" {
		resource += "." + group
	}
	if subresource != "" {
		resource += "/" + subresource
	}
	return resource
}

func key(namespace, name string) string {
	if namespace == "" || name == "" {
		return namespace + name
	}
	return namespace + "/" + name
}
