package observe

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/trace"
	"github.com/kubesim/kubesim/sim/watchcache"
	"github.com/kubesim/kubesim/sim/wire"
)

// hook observes one replica.
type hook struct {
	*Observer
	replica int
}

// request is the observer's data about a request. It implements apiserver.Observation.
type request struct {
	h            *hook
	e            *apiserver.Exchange
	trace.Record        // fields that all of its records share
	arrived      uint64 // number of its first record
	numbers      fault.Numbers

	gate *gate // gate of the watch that it opened

	refused *auth.Attributes // last denied authorization request of its user, if any

	// The state of the object that the request wrote: after the last commit of the request, and before its first commit.
	after, before *resource.Item
	wrote         bool
	made          string // key of the object that it wrote
}

// commit updates the states of the written object after a commit of the request. It ignores commits of other objects.
func (q *request) commit(r *trace.Record, e *commit.Commit) {
	if r.What != strings.TrimSuffix(q.What, subresourceOf(q.What)) || q.Key != r.Key && q.Verb != "create" {
		return
	}
	if !q.wrote {
		q.before = e.Before()
	}
	q.after, q.wrote, q.made = q.before, true, r.Key
	if !e.Deleted() {
		q.after = e.Item()
	}
}

// written sets the objects in op to the states of the written object before and after the request.
func (q *request) written(op *fault.Op) {
	if !q.wrote {
		return
	}
	op.Object, op.Old = q.after.Object, nil
	if q.before != nil && (q.after != q.before || q.Verb != "delete") {
		op.Old = q.before.Object
	}
}

// subresourceOf returns the subresource in a record's What, with a slash before it, or "".
func subresourceOf(resource string) string {
	_, sub, ok := strings.Cut(resource, "/")
	if !ok {
		return ""
	}
	return "/" + sub
}

// requestOf returns the observer's data about a request. If the request arrived before the observer began, requestOf creates it
// from the Exchange.
func (h *hook) requestOf(e *apiserver.Exchange) *request {
	if q := requestOf(e); q != nil {
		return q
	}
	q := &request{h: h, e: e, Record: trace.Record{Replica: h.replica, Client: e.UserAgent, User: e.User.Name, Verb: e.Verb,
		What: trace.What(e.Group, e.Resource, e.Subresource, e.Path), Key: trace.Key(e.Namespace, e.Name), Spared: e.Spared}}
	e.Observation = q
	return q
}

// Observe implements apiserver.Hook.
func (h *hook) Observe(e *apiserver.Exchange) apiserver.Observation { return h.requestOf(e) }

// record returns a new trace record for the request.
func (q *request) record(site trace.Site) trace.Record {
	r := q.Record
	r.Site, r.Cause = site, q.arrived
	return r
}

// op returns a description of the request, with which faults compare their triggers.
func (q *request) op() *fault.Op {
	e := q.e
	return &fault.Op{Verb: e.Verb, Path: e.Path, Group: e.Group, Resource: e.Resource, Subresource: e.Subresource,
		Namespace: e.Namespace, Name: e.Name, UserAgent: e.UserAgent, User: e.User.Name, Replica: q.h.replica,
		Spared: e.Spared, Object: e.Object, Old: e.Stored, Numbers: q.numbers}
}

// Arrived implements apiserver.Observation.
func (q *request) Arrived() apiserver.Verdict {
	r := q.record(trace.RequestArrived)
	q.arrived = q.h.add(&r)
	if q.h.faults.Empty() {
		return apiserver.Verdict{}
	}
	q.numbers = q.h.faults.Arrive(q.op())
	return q.h.carryOut(fault.RequestArrived, q.op(), q.e, nil).Verdict
}

// Decided implements apiserver.Observation.
func (q *request) Decided() *status.Status {
	r := q.record(trace.RequestDecided)
	q.h.add(&r)
	if q.h.faults.Empty() {
		return nil
	}
	return q.h.carryOut(fault.RequestDecided, q.op(), q.e, nil).Instead
}

// Validated implements apiserver.Observation.
func (q *request) Validated(obj object.Object, old *resource.Item) *status.Status {
	if q.h.faults.Empty() {
		return nil
	}
	op := q.op()
	op.Object, op.Old = func() object.Object { return obj }, nil
	if op.Name == "" {
		op.Name = obj.Name()
	}
	if old != nil {
		op.Old = old.Object
	}
	return q.h.carryOut(fault.RequestValidated, op, q.e, nil).Instead
}

// Answered implements apiserver.Observation.
func (q *request) Answered(a *apiserver.Answer) apiserver.Verdict {
	if q.h.faults.Empty() {
		return apiserver.Verdict{}
	}
	op := q.op()
	op.Failed, op.Stream = a.Code >= 300, a.Watch != nil
	q.written(op)
	return q.h.carryOut(fault.RequestAnswered, op, q.e, a).Verdict
}

// Sent implements apiserver.Observation.
func (q *request) Sent(a *apiserver.Answer) {
	r := q.record(trace.RequestAnswered)
	r.Code = a.Code
	q.explain(&r)
	q.h.add(&r)
	q.h.notifyAnswered(q.e, &r)
}

// explain adds details to the record of a response: the name of a created object, the error message, the warnings, and a hint about
// a missing rule or definition.
func (q *request) explain(r *trace.Record) {
	if q.Verb == "create" && q.after != nil {
		r.Key = q.made
	}
	if r.Text = message(q.e); r.Text == "" {
		r.Text = strings.Join(q.e.Warnings(), "; ")
	}
	switch r.Code {
	case wire.StatusNotFound:
		if resource := q.e.Unserved(); resource != "" {
			r.Hint = "no CustomResourceDefinition that is loaded serves " + resource
		}
	case wire.StatusForbidden:
		if q.refused != nil && q.refused.Verb != "" {
			r.Hint = "the missing rule: " + auth.Needed(*q.refused).String()
		}
	}
}

// Watching implements apiserver.Observation.
func (q *request) Watching(w *watchcache.Watch) { q.gate = &gate{q: q, w: w} }

// Pass implements apiserver.Observation.
func (q *request) Pass(_ *watchcache.Watch, n watchcache.Notice, frame codec.Text) bool {
	return q.gate.pass(n, frame)
}

// Delay implements apiserver.Observation.
func (q *request) Delay(d time.Duration, f func()) { q.h.delay(d, f) }
