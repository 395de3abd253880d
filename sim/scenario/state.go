package scenario

import (
	"time"

	"github.com/kubesim/kubesim/sim/scenario/actor"
)

// ClientState is the state of a client.
type ClientState struct {
	Name     string
	Replica  int // that its requests reach
	Held     bool
	Jump     time.Duration // its clock against the cluster's
	Requests int           // that it has sent
	RV       string        // of its last answer
	Token    string        // of its last page, "" if no other follows
	Actor    *ActorState   // nil if it only does operations
}

// ActorState is the state of an informer, a pager or a controller.
type ActorState = actor.State

// Clients returns all clients, in the order in which they appeared.
func (w *World) Clients() []ClientState {
	out := make([]ClientState, len(w.names))
	for i, name := range w.names {
		c := w.clients[name]
		out[i] = ClientState{Name: name, Replica: max(c.replica, 1), Held: c.held, Jump: c.jump, Requests: c.sent, RV: c.rv,
			Token: c.token}
		if a := w.actor(name); a != nil {
			s := a.State()
			out[i].Actor = &s
		}
	}
	return out
}

// Actors returns the actors, in the order in which they were started first.
func (w *World) Actors() []ActorState {
	out := make([]ActorState, len(w.actors))
	for i, a := range w.actors {
		out[i] = a.State()
	}
	return out
}
