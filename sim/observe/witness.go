package observe

import (
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/trace"
)

// Witness is notified of all commits, answers, events and authorization decisions of a cluster as they happen. Its methods run under
// the Cluster's lock: they must not call the Cluster, and must not change their arguments.
type Witness interface {
	// Wrote is called for each commit before any replica receives it. record is the number of its record in the trace.
	Wrote(e *commit.Commit, by *Party, record uint64)
	// Answered is called for each answer before it is sent.
	Answered(*Reply)
	// Delivered is called for each event that is sent to a watch. eventType is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, key names
	// the object, and rev is the revision of the object or the bookmark.
	Delivered(watch *apiserver.Exchange, eventType, key string, rev uint64)
	// Asked is called for each authorization decision. byRoles reports whether roles alone allow a request.
	Asked(at auth.Attributes, allowed bool, byRoles func(auth.Attributes) bool)
}

// Party is the author of a change. It is empty if the store itself acts, such as when it removes expired objects.
type Party struct {
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

// Attest registers a Witness and begins to observe.
func (o *Observer) Attest(w Witness) {
	o.Begin()
	o.witnesses = append(o.witnesses, w)
}

// Halt stops a party's repeated writes as soon as the lock is released.
func (o *Observer) Halt(p *Party) {
	o.later = append(o.later, func() {
		if p.Own {
			_ = o.Controllers.Stop(p.Client) // controllers of API servers cannot be stopped
			return
		}
		_ = o.Add(fault.On("create,update,patch,delete,deletecollection", "*").Client(p.Client).TooManyRequests())
	})
}

// wrote notifies the witnesses of a commit.
func (o *Observer) wrote(e *commit.Commit) {
	if len(o.witnesses) == 0 || e.Definition == nil {
		return
	}
	if len(o.untold) > 0 {
		o.tellReleased()
	}
	by := &Party{Exchange: exchangeOf(e)}
	if e.By != nil {
		by.Actor = e.By.Actor()
	}
	for _, w := range o.witnesses {
		w.Wrote(e, by, o.commit.record)
	}
}

// answered notifies the witnesses of an answer.
func (h *hook) answered(e *apiserver.Exchange, r *trace.Record) {
	if len(h.witnesses) == 0 {
		return
	}
	reply := &Reply{Exchange: e, Key: r.Key, Code: r.Code, Message: message(e), Record: r.Cause}
	for _, w := range h.witnesses {
		w.Answered(reply)
	}
}

// delivered notifies the witnesses of an event.
func (g *gate) delivered(r *trace.Record) {
	if len(g.q.h.witnesses) == 0 {
		return
	}
	if g.w.Held() {
		if g.untold = append(g.untold, *r); len(g.untold) == 1 {
			g.q.h.untold = append(g.q.h.untold, g)
		}
		return
	}
	g.tell(r)
}

func (g *gate) tell(r *trace.Record) {
	for _, w := range g.q.h.witnesses {
		w.Delivered(g.q.e, r.Verb, r.Key, r.Rev)
	}
}

// tellReleased notifies the witnesses of events in streams that are no longer held. Events in a broken stream are dropped, because no
// client receives them.
func (o *Observer) tellReleased() {
	held := o.untold
	o.untold = nil
	for _, g := range held {
		switch {
		case g.w.Broken() != nil:
			g.untold = nil
		case g.w.Held():
			o.untold = append(o.untold, g)
		default:
			for i := range g.untold {
				g.tell(&g.untold[i])
			}
			g.untold = nil
		}
	}
}

// asked notifies the witnesses of an authorization decision.
func (h *hook) asked(at auth.Attributes, allowed bool) {
	e, _ := at.By.(*apiserver.Exchange)
	at.By = nil // which is not to be kept
	if q := known(e); q != nil && !allowed {
		refused := at
		q.refused = &refused
	}
	for _, w := range h.witnesses {
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
