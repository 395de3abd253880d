package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/http"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/trace"
)

// AddFaults puts faults behind those there are. It refuses all of them when one can never happen.
func (c *Cluster) AddFaults(faults ...fault.Fault) error {
	c.door.Lock()
	defer c.door.Unlock()
	for _, f := range faults {
		if a := f.Action(); a.Replica > len(c.replicas) {
			return fmt.Errorf("fault: %s: there is no replica %d", f, a.Replica)
		}
	}
	return c.observe().faults.Add(c.now(), faults...)
}

// ClearFaults takes all faults away and releases what they hold.
func (c *Cluster) ClearFaults() {
	c.door.Lock()
	defer c.door.Unlock()
	if o := c.observer; o != nil {
		o.faults.Clear()
		o.release()
	}
}

// ReleaseFaults lets go the watch events that a fault holds.
func (c *Cluster) ReleaseFaults() {
	c.door.Lock()
	defer c.door.Unlock()
	if c.observer != nil {
		c.observer.release()
	}
}

// Faults returns the faults there are as text, each with what has become of it. fault.Parse reads it.
func (c *Cluster) Faults() string {
	c.door.Lock()
	defer c.door.Unlock()
	if c.observer == nil {
		return ""
	}
	return c.observer.faults.String()
}

// FaultDecisions returns what was decided about faults, and how many older decisions were forgotten.
func (c *Cluster) FaultDecisions() (list []fault.Decision, forgotten uint64) {
	c.door.Lock()
	defer c.door.Unlock()
	if c.observer == nil {
		return nil, 0
	}
	return c.observer.faults.Decisions()
}

// carryOut decides at a point and carries out what is decided. It returns how long the request is to wait, and the error
// it gets then. e is the request, nil for a commit that none made.
func (o *observer) carryOut(p fault.Point, op *fault.Op, e *apiserver.Exchange) (wait time.Duration, instead *status.Status) {
	for _, f := range o.faults.At(p, op, o.c.now()) {
		o.note(f, op, e)
		switch f.Kind {
		case fault.Fail:
			instead = failure(f.Action, op)
		case fault.DelayRequest:
			wait += f.Wait
		default:
			o.control(f.Action)
		}
	}
	return wait, instead
}

// carryOutAnswer is carryOut for an answer.
func (o *observer) carryOutAnswer(op *fault.Op, e *apiserver.Exchange, a *apiserver.Answer) (wait time.Duration, instead *status.Status) {
	for _, f := range o.faults.At(fault.RequestAnswered, op, o.c.now()) {
		o.note(f, op, e)
		switch f.Kind {
		case fault.CommitThenFail:
			instead = failure(f.Action, op)
		case fault.DelayAnswer:
			wait += f.Wait
		case fault.Truncate:
			a.Lost = max(len(a.Body)-f.Bytes, 0)
		}
	}
	return wait, instead
}

// note records that a fault happened.
func (o *observer) note(f fault.Fired, op *fault.Op, e *apiserver.Exchange) {
	r := trace.Record{Site: trace.Fault, Replica: op.Replica, Text: f.Fault,
		What: what(op.Group, op.Resource, op.Subresource, op.Path), Key: key(op.Namespace, op.Name)}
	if e != nil {
		r.Cause, r.Client = o.mark(e), e.UserAgent
	}
	o.add(r)
}

// control carries out what is about the Cluster. Histories are forgotten and replicas lag at once; what else is done to a
// replica is done when the lock is given back, because the commit that triggers it is not done with.
func (o *observer) control(a fault.Action) {
	c := o.c
	switch a.Kind {
	case fault.Compact:
		c.history.Compact()
	case fault.Expire:
		c.history.Expire()
	}
	r := c.Replica(a.Replica)
	switch {
	case r == nil:
	case a.Kind == fault.Lag && a.Resource == "":
		_ = r.lag() // cannot fail without names
	case a.Kind == fault.Lag:
		if err := r.lag(a.Resource); err != nil {
			o.add(trace.Record{Site: trace.Fault, Replica: a.Replica, Text: a.String() + ": " + err.Error()})
		}
	case a.Kind == fault.Cut && (o.current == nil || o.server != a.Replica):
		r.cut()
	case a.Kind == fault.Cut:
		o.later = append(o.later, r.cut)
	case a.Kind == fault.Resume:
		o.later = append(o.later, r.resume)
	case a.Kind == fault.Restart:
		o.later = append(o.later, r.restart)
	}
}

// failure is the error that an action answers with. The texts are those of the real server where it has one for the
// reason; those it gives for internal trouble say what injected them.
func failure(a fault.Action, op *fault.Op) *status.Status {
	resource := status.Resource{Group: op.Group, Resource: op.Resource}
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
		s = status.TooManyRequests("Too many requests, please try again later.", 0)
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
		s.Code = http.StatusInternalServerError
	}
	return s
}

func expired(verb string) string {
	if verb == "watch" {
		return status.ExpiredWatch
	}
	return status.ExpiredList
}

// delay runs f after d, or at once.
func (o *observer) delay(d time.Duration, f func()) {
	if d <= 0 {
		f()
		return
	}
	x := &delayed{run: f}
	x.stop = o.c.schedule.After(d, func() {
		for i := range o.delayed {
			if o.delayed[i] == x {
				o.delayed = append(o.delayed[:i:i], o.delayed[i+1:]...)
				break
			}
		}
		f()
	})
	o.delayed = append(o.delayed, x)
}

// flush lets everything that waits happen now: nobody waits for a Cluster that has ended.
func (o *observer) flush() {
	o.faults.Clear()
	list := o.delayed
	o.delayed = nil
	for _, x := range list {
		x.stop()
		x.run()
	}
	o.held = nil
}

// after does what had to wait until the lock is given back.
func (o *observer) after() {
	o.current = nil
	for len(o.later) > 0 {
		f := o.later[0]
		o.later = o.later[1:]
		f()
	}
}
