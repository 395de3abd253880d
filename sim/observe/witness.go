package observe

import (
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/trace"
)

// Witness is told of everything that goes through a cluster, as it happens and under the Cluster's lock: it must not ask the
// Cluster, and is not to change what it is told of.
type Witness interface {
	// Wrote is told of a commit before any replica knows it, and of the number of its record in the trace.
	Wrote(e *commit.Commit, by *Party, record uint64)
	// Answered is told of an answer before it is sent.
	Answered(*Reply)
	// Delivered is told of an event that goes to a watch: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, of which object, and its
	// revision or that of the bookmark.
	Delivered(watch *apiserver.Exchange, eventType, key string, rev uint64)
	// Asked is told of a decision about what a user may do; byRoles says whether roles alone allow it.
	Asked(at auth.Attributes, allowed bool, byRoles func(auth.Attributes) bool)
}

// Party is who does something. It is empty where the store acts, such as when it removes what has expired.
type Party struct {
	resource.Actor
	// Exchange is the request. nil: there is none.
	Exchange *apiserver.Exchange
}

// Reply is an answer and what it answers.
type Reply struct {
	*apiserver.Exchange
	Key     string // of the object: that which the server gave it, where it did
	Code    int
	Message string // of an error
	Record  uint64 // number, in the trace, of the record with which the request began
}

// Attest begins to tell a Witness, and to observe.
func (o *Observer) Attest(w Witness) {
	o.Begin()
	o.witnesses = append(o.witnesses, w)
}

// Halt ends what a party does over and over again, once the lock is given back.
func (o *Observer) Halt(p *Party) {
	o.later = append(o.later, func() {
		if p.Own {
			_ = o.Controllers.Stop(p.Client) // those of API servers go on
			return
		}
		_ = o.Add(fault.On("create,update,patch,delete,deletecollection", "*").Client(p.Client).TooManyRequests())
	})
}

// wrote tells the witnesses of a commit.
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

// answered tells the witnesses of an answer.
func (h *hook) answered(e *apiserver.Exchange, r *trace.Record) {
	if len(h.witnesses) == 0 {
		return
	}
	reply := &Reply{Exchange: e, Key: r.Key, Code: r.Code, Message: message(e), Record: r.Cause}
	for _, w := range h.witnesses {
		w.Answered(reply)
	}
}

// delivered tells the witnesses of an event.
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

// tellReleased tells the witnesses what has been held up and goes on now. What was in a stream that broke, nobody gets.
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

// asked notifies the witnesses of a decision about what a user may do.
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

// byRoles reports whether roles alone allow what somebody asks for.
func (h *hook) byRoles(at auth.Attributes) bool {
	api := h.Servers.At(h.replica).API()
	return api.Auth.ByRoles(at, api.Registry.Reader())
}

// message is what an error says. "": there was none.
func message(e *apiserver.Exchange) string {
	if e.Failure == nil {
		return ""
	}
	return e.Failure.Message
}
