package observe

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/trace"
	"github.com/kubesim/kubesim/sim/wire"
)

// Add appends faults to the existing ones and starts observing. If one of them can never occur, it returns an error and adds none.
func (o *Observer) Add(faults ...fault.Fault) error {
	for _, f := range faults {
		if a := f.Action(); a.Replica > o.Servers.Len() {
			return fmt.Errorf("fault: %s: there is no replica %d", f, a.Replica)
		}
	}
	o.Begin()
	return o.faults.Add(o.Schedule.Now(), faults...)
}

// Clear removes all faults and releases the events that they are holding.
func (o *Observer) Clear() {
	o.faults.Clear()
	o.Release()
}

// Faults returns the current faults and their statistics as text, which fault.Parse can parse.
func (o *Observer) Faults() string { return o.faults.String() }

// Decisions returns the most recent decisions about faults, and the number of older decisions that were dropped.
func (o *Observer) Decisions() (list []fault.Decision, forgotten uint64) {
	return o.faults.Decisions()
}

// faulty is something that faults can affect: a request, its response, or a commit without a request.
type faulty struct {
	cluster
	apiserver.Verdict // the outcome that faults choose
	op                *fault.Op
	answer            *apiserver.Answer // nil until there is a response
}

// Fail implements fault.Request and fault.Reply.
func (x *faulty) Fail(a fault.Action) { x.Instead = failure(a, x.op) }

// Answer implements fault.Request.
func (x *faulty) Answer(a fault.Action) { x.Object = a.Object }

// Delay implements fault.Request and fault.Reply.
func (x *faulty) Delay(a fault.Action) { x.Wait += a.Wait }

// Truncate implements fault.Reply.
func (x *faulty) Truncate(a fault.Action) { x.answer.Lost = max(x.answer.Body.Len()-a.Bytes, 0) }

// carryOut applies the faults that occur at a point. For a commit without a request, e is nil. Until a response is about to be
// sent, answer is nil.
func (o *Observer) carryOut(p fault.Point, op *fault.Op, e *apiserver.Exchange, answer *apiserver.Answer) *faulty {
	x := &faulty{cluster: cluster{o: o}, op: op, answer: answer}
	if q := requestOf(e); q != nil && p != fault.RequestArrived && p != fault.RequestAnswered {
		x.busy = q.Replica
	}
	for _, f := range o.faults.At(p, op, o.Schedule.Now()) {
		o.note(f, op, e)
		if answer != nil {
			f.DoAnswer(x)
		} else {
			f.DoRequest(x)
		}
	}
	return x
}

// note records in the trace that a fault occurred.
func (o *Observer) note(f fault.Fired, op *fault.Op, e *apiserver.Exchange) {
	r := &trace.Record{Site: trace.Fault, Replica: op.Replica, Text: f.Fault,
		What: trace.What(op.Group, op.Resource, op.Subresource, op.Path), Key: trace.Key(op.Namespace, op.Name)}
	if e != nil {
		r.Client = e.UserAgent
		if q := requestOf(e); q != nil {
			r.Cause = q.arrived
		}
	}
	o.add(r)
}

// cluster implements fault.Cluster. Compactions and lagging replicas take effect at once. All other disturbances of a replica are
// delayed until the lock is released, because the commit that triggers them is still being processed.
type cluster struct {
	o    *Observer
	busy int // replica that is processing the request, or 0
}

func (c cluster) Compact(fault.Action) { c.o.History.Compact() }

func (c cluster) Expire(fault.Action) { c.o.History.Expire() }

func (c cluster) Treat(a fault.Action) {
	if a.Controller != "" {
		c.control(a)
		return
	}
	r, t := c.o.Servers.At(a.Replica), a.Trouble()
	if r == nil {
		return
	}
	do := func() {
		if err := t.Do(r); err != nil {
			c.o.add(&trace.Record{Site: trace.Fault, Replica: a.Replica, Text: a.String() + ": " + err.Error()})
		}
	}
	if a.Kind == fault.Lag || a.Kind == fault.Cut && c.busy != a.Replica {
		do()
		return
	}
	c.o.afterwards(do)
}

// control applies a disturbance to a controller. It does so at once, because the disturbance does not affect the controller's
// current step.
func (c cluster) control(a fault.Action) {
	if err := a.Trouble().Control(c.o.Controllers); err != nil {
		c.o.add(&trace.Record{Site: trace.Fault, Text: a.String() + ": " + err.Error()})
	}
}

// failure returns the error response of an action. If the real server has a message for the reason, it uses that. The message of an
// internal error mentions kubesim.
func failure(a fault.Action, op *fault.Op) *status.Status {
	resource := status.Resource{Group: op.Group, Resource: op.Resource}
	if a.Kind == fault.Error {
		return &status.Status{Code: a.Code, Reason: status.Reason(a.Reason), Message: a.Message, Details: &status.Details{
			Name: op.Name, Group: op.Group, Kind: op.Resource, RetryAfterSeconds: a.RetryAfter}}
	}
	var s *status.Status
	switch a.Reason {
	case fault.Conflict:
		s = status.Conflict(resource, op.Name, status.OptimisticLock)
	case fault.NotFound:
		s = status.NotFound(resource, op.Name)
	case fault.Expired:
		s = status.Expired(expired(op.Verb))
	case fault.Gone:
		s = status.Expired(expired(op.Verb))
		s.Reason = status.ReasonGone
	case fault.TooManyRequests:
		s = status.TooManyRequests(status.Overloaded, 0)
	case fault.Unavailable:
		s = status.Unavailable("the server is currently unable to handle the request")
	case fault.Timeout:
		s = status.Timeout("request did not complete within requested timeout - context deadline exceeded", 0)
	default:
		s = status.Internal(errors.New("fault injected by kubesim"))
	}
	if a.RetryAfter > 0 {
		if s.Details == nil {
			s.Details = &status.Details{}
		}
		s.Details.RetryAfterSeconds = a.RetryAfter
	}
	if s.Code == 0 {
		s.Code = wire.StatusInternalServerError
	}
	return s
}

func expired(verb string) string {
	if verb == "watch" {
		return status.ExpiredWatch
	}
	return status.ExpiredList
}

// delay calls f after d on the Cluster's clock.
func (o *Observer) delay(d time.Duration, f func()) {
	x := &delayed{run: f}
	x.stop = o.Schedule.After(d, func() {
		o.delayed = slices.DeleteFunc(slices.Clone(o.delayed), func(other *delayed) bool { return other == x })
		f()
	})
	o.delayed = append(o.delayed, x)
}
