package observe

import (
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/trace"
)

// Listener is notified of all commits, answers, events and authorization decisions of a cluster as they happen. Its methods run under
// the Cluster's lock: they must not call the Cluster, and must not change their arguments.
type Listener interface {
	// Wrote is called for each commit before any replica receives it. record is the number of its record in the trace.
	Wrote(e *commit.Commit, by *Actor, record uint64)
	// Answered is called for each answer before it is sent.
	Answered(*Reply)
	// Delivered is called for each event that is sent to a watch. eventType is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, key names
	// the object, and rev is the revision of the object or the bookmark.
	Delivered(watch *apiserver.Exchange, eventType, key string, rev uint64)
	// Asked is called for each authorization decision. byRoles reports whether roles alone allow a request.
	Asked(at auth.Attributes, allowed bool, byRoles func(auth.Attributes) bool)
}

// Actor is the author of a change. It is empty if the store itself acts, such as when it removes expired objects.
type Actor struct {
	resource.Actor
	// Exchange is the request, or nil if there is none.
	Exchange *apiserver.Exchange
}

// Reply is an answer together with its request.
type Reply struct {
	*apiserver.Exchange
	Key     string // of the object, with a generated name if there is one
	Code    int
	Message string // of an error
	Record  uint64 // number, in the trace, of the record with which the request began
}

// AddListener registers a Listener and begins to observe.
func (o *Observer) AddListener(w Listener) {
	o.Begin()
	o.listeners = append(o.listeners, w)
}

// StopActor stops an actor's repeated writes as soon as the lock is released.
func (o *Observer) StopActor(p *Actor) {
	o.afterwards(func() {
		if p.Own {
			_ = o.Controllers.Stop(p.Client) // controllers of API servers cannot be stopped
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

// notifyAnswered notifies the listeners of an answer.
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

// notifyReleased notifies the listeners of events in streams that are no longer held. Events in a broken stream are dropped, because no
// client receives them.
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
	at.By = nil // which is not to be kept
	if q := requestOf(e); q != nil && !allowed {
		refused := at
		q.refused = &refused
	}
	for _, w := range h.listeners {
		w.Asked(at, allowed, h.byRoles)
	}
}

// byRoles reports whether roles alone allow a request.
func (h *hook) byRoles(at auth.Attributes) bool {
	api := h.Servers.At(h.replica).API()
	return api.Auth.ByRoles(at, api.Registry.Reader())
}

// message returns the message of a request's error, or "" if there was none.
func message(e *apiserver.Exchange) string {
	if e.Failure == nil {
		return ""
	}
	return e.Failure.Message
}
