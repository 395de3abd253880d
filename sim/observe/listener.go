package observe

import (
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/trace"
)

// Listener is notified of all commits, responses, watch events and authorization decisions of a cluster as they happen. Its methods
// are called with the Cluster's lock held. They must not call the Cluster and must not modify their arguments.
type Listener interface {
	// Wrote is called for each commit before any replica receives it. record is the number of its record in the trace.
	Wrote(e *commit.Commit, by *Actor, record uint64)
	// Answered is called for each response before it is sent.
	Answered(*Reply)
	// Delivered is called for each event that is sent to a watch. eventType is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, key
	// identifies the object, and rev is the revision of the object or bookmark.
	Delivered(watch *apiserver.Exchange, eventType, key string, rev uint64)
	// Asked is called for each authorization decision. byRoles reports whether RBAC alone would allow a request.
	Asked(at auth.Attributes, allowed bool, byRoles func(auth.Attributes) bool)
}

// Actor is the author of a change. If the store itself makes the change, for example when it removes expired objects, the Actor is
// empty.
type Actor struct {
	resource.Actor
	// Exchange is the request, or nil if there is none.
	Exchange *apiserver.Exchange
}

// Reply is a response and its request.
type Reply struct {
	*apiserver.Exchange
	Key     string // of the object, including a generated name
	Code    int
	Message string // error message
	Record  uint64 // number of the request's first trace record
}

// AddListener registers a Listener and starts observing.
func (o *Observer) AddListener(w Listener) {
	o.Begin()
	o.listeners = append(o.listeners, w)
}

// StopActor prevents further writes by an actor that repeats its writes. It takes effect when the lock is released.
func (o *Observer) StopActor(p *Actor) {
	o.afterwards(func() {
		if p.Own {
			_ = o.Controllers.Stop(p.Client) // the API servers' own controllers cannot be stopped
			return
		}
		_ = o.Add(fault.On("create,update,patch,delete,deletecollection", "*").Client(p.Client).TooManyRequests())
	})
}

// notifyWrote notifies the listeners of a commit.
func (o *Observer) notifyWrote(e *commit.Commit) {
	if len(o.listeners) == 0 || e.Definition == nil {
		return
	}
	if len(o.undelivered) > 0 {
		o.notifyReleased()
	}
	by := &Actor{Exchange: exchangeOf(e)}
	if e.By != nil {
		by.Actor = e.By.Actor()
	}
	for _, w := range o.listeners {
		w.Wrote(e, by, o.commit.record)
	}
}

// notifyAnswered notifies the listeners of a response.
func (h *hook) notifyAnswered(e *apiserver.Exchange, r *trace.Record) {
	if len(h.listeners) == 0 {
		return
	}
	reply := &Reply{Exchange: e, Key: r.Key, Code: r.Code, Message: message(e), Record: r.Cause}
	for _, w := range h.listeners {
		w.Answered(reply)
	}
}

// notifyDelivered notifies the listeners of an event.
func (g *gate) notifyDelivered(r *trace.Record) {
	if len(g.q.h.listeners) == 0 {
		return
	}
	if g.w.Held() {
		if g.undelivered = append(g.undelivered, *r); len(g.undelivered) == 1 {
			g.q.h.undelivered = append(g.q.h.undelivered, g)
		}
		return
	}
	g.notify(r)
}

func (g *gate) notify(r *trace.Record) {
	for _, w := range g.q.h.listeners {
		w.Delivered(g.q.e, r.Verb, r.Key, r.Rev)
	}
}

// notifyReleased notifies the listeners of the events in streams that are no longer held. For a broken stream it drops the events,
// because no client receives them.
func (o *Observer) notifyReleased() {
	held := o.undelivered
	o.undelivered = nil
	for _, g := range held {
		switch {
		case g.w.Broken() != nil:
			g.undelivered = nil
		case g.w.Held():
			o.undelivered = append(o.undelivered, g)
		default:
			for i := range g.undelivered {
				g.notify(&g.undelivered[i])
			}
			g.undelivered = nil
		}
	}
}

// notifyAsked notifies the listeners of an authorization decision.
func (h *hook) notifyAsked(at auth.Attributes, allowed bool) {
	e, _ := at.By.(*apiserver.Exchange)
	at.By = nil // the request must not be retained
	if q := requestOf(e); q != nil && !allowed {
		refused := at
		q.refused = &refused
	}
	for _, w := range h.listeners {
		w.Asked(at, allowed, h.byRoles)
	}
}

// byRoles reports whether RBAC alone would allow a request.
func (h *hook) byRoles(at auth.Attributes) bool {
	api := h.Servers.At(h.replica).API()
	return api.Auth.ByRoles(at, api.Registry.Reader())
}

// message returns the error message in the response to a request. If the request succeeded, it returns "".
func message(e *apiserver.Exchange) string {
	if e.Failure == nil {
		return ""
	}
	return e.Failure.Message
}
