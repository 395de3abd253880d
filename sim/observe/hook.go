package observe

import (
	"strings"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/trace"
	"github.com/kubesim/kubesim/sim/watchcache"
	"github.com/kubesim/kubesim/sim/wire"
)

// hook is the observer at one replica.
type hook struct {
	*Observer
	replica int
}

// request is what the observer remembers of a request.
type request struct {
	trace.Record        // what all of its records have in common
	arrived      uint64 // number of the first one
	numbers      fault.Numbers

	refused *auth.Attributes // the last question about its user's rights that was answered with no; nil: there is none

	// What the request has written of its object: what is there after its last commit and was there before its first.
	after, before *resource.Item
	wrote         bool
	made          string // key of what it has written
}

// commit takes in a commit that the request has made.
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

// written makes what the request has written the objects of an op.
func (q *request) written(op *fault.Op) {
	if !q.wrote {
		return
	}
	op.Object, op.Old = q.after.Object, nil
	if q.before != nil && (q.after != q.before || q.Verb != "delete") {
		op.Old = q.before.Object
	}
}

// subresourceOf returns the part of a What from its slash on.
func subresourceOf(resource string) string {
	_, sub, ok := strings.Cut(resource, "/")
	if !ok {
		return ""
	}
	return "/" + sub
}

// requestOf returns what is known of a request; of one that arrived before anybody looked, what can still be told.
func (h *hook) requestOf(e *apiserver.Exchange) *request {
	if q := known(e); q != nil {
		return q
	}
	q := &request{Record: trace.Record{Replica: h.replica, Client: e.UserAgent, User: e.User.Name, Verb: e.Verb,
		What: trace.What(e.Group, e.Resource, e.Subresource, e.Path), Key: trace.Key(e.Namespace, e.Name), Spared: e.Spared}}
	e.Data = q
	return q
}

// record begins a record about a request.
func (h *hook) record(site trace.Site, e *apiserver.Exchange) trace.Record {
	q := h.requestOf(e)
	r := q.Record
	r.Site, r.Cause = site, q.arrived
	return r
}

// op is what a fault compares with its trigger.
func (h *hook) op(e *apiserver.Exchange) *fault.Op {
	return &fault.Op{Verb: e.Verb, Path: e.Path, Group: e.Group, Resource: e.Resource, Subresource: e.Subresource,
		Namespace: e.Namespace, Name: e.Name, UserAgent: e.UserAgent, User: e.User.Name, Replica: h.replica,
		Spared: e.Spared, Object: e.Object, Old: e.Stored, Numbers: h.requestOf(e).numbers}
}

// Arrived implements apiserver.Hook.
func (h *hook) Arrived(e *apiserver.Exchange) apiserver.Verdict {
	r := h.record(trace.RequestArrived, e)
	h.requestOf(e).arrived = h.add(&r)
	if h.faults.Empty() {
		return apiserver.Verdict{}
	}
	h.requestOf(e).numbers = h.faults.Arrive(h.op(e))
	return h.carryOut(fault.RequestArrived, h.op(e), e, nil).Verdict
}

// Decided implements apiserver.Hook.
func (h *hook) Decided(e *apiserver.Exchange) *status.Status {
	r := h.record(trace.RequestDecided, e)
	h.add(&r)
	if h.faults.Empty() {
		return nil
	}
	return h.carryOut(fault.RequestDecided, h.op(e), e, nil).Instead
}

// Validated implements apiserver.Hook.
func (h *hook) Validated(e *apiserver.Exchange, obj object.Object, old *resource.Item) *status.Status {
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
	return h.carryOut(fault.RequestValidated, op, e, nil).Instead
}

// Answered implements apiserver.Hook.
func (h *hook) Answered(e *apiserver.Exchange, a *apiserver.Answer) apiserver.Verdict {
	if h.faults.Empty() {
		return apiserver.Verdict{}
	}
	op := h.op(e)
	op.Failed, op.Stream = a.Code >= 300, a.Watch != nil
	h.requestOf(e).written(op)
	return h.carryOut(fault.RequestAnswered, op, e, a).Verdict
}

// Sent implements apiserver.Hook.
func (h *hook) Sent(e *apiserver.Exchange, a *apiserver.Answer) {
	r := h.record(trace.RequestAnswered, e)
	r.Code = a.Code
	h.explain(&r, e)
	h.add(&r)
	h.answered(e, &r)
}

// explain adds to the record of an answer the name that a new object got, what an error says, what was warned of, and what is
// missing where something is.
func (h *hook) explain(r *trace.Record, e *apiserver.Exchange) {
	q := h.requestOf(e)
	if q.Verb == "create" && q.after != nil {
		r.Key = q.made
	}
	if r.Text = message(e); r.Text == "" {
		r.Text = strings.Join(e.Warnings(), "; ")
	}
	switch r.Code {
	case wire.StatusNotFound:
		if resource := e.Unserved(); resource != "" {
			r.Hint = "no CustomResourceDefinition that is loaded serves " + resource
		}
	case wire.StatusForbidden:
		if q.refused != nil && q.refused.Verb != "" {
			r.Hint = "the rule that is missing: " + auth.Needed(*q.refused).String()
		}
	}
}

// Watching implements apiserver.Hook.
func (h *hook) Watching(e *apiserver.Exchange, w *watchcache.Watch) {
	g := &gate{h: h, e: e, w: w}
	w.Gate = g.pass
}
