package scenario

import "time"

// ClientState is what a client is like.
type ClientState struct {
	Name     string
	Replica  int // that its requests reach
	Held     bool
	Jump     time.Duration // its clock against the cluster's
	Requests int           // that it has sent
	RV       string        // of its last answer
	Token    string        // of its last page, "" if no other follows
	Actor    *ActorState   // nil: it does what operations say
}

// ActorState is what an informer, a pager or a controller is like.
type ActorState struct {
	Name     string
	Kind     string // informer, pager or controller
	Resource string // of a controller: all that it watches
	State    string // a few words
	Synced   bool   // its caches have been filled
	RV       string // that its cache has
	Keys     []string
	Queue    []string // of a controller: what it has yet to look at
}

// Clients returns all clients, in the order in which they appeared.
func (w *World) Clients() []ClientState {
	out := make([]ClientState, len(w.names))
	for i, name := range w.names {
		c := w.clients[name]
		out[i] = ClientState{Name: name, Replica: max(c.replica, 1), Held: c.held, Jump: c.jump, Requests: c.sent, RV: c.rv,
			Token: c.token}
		if a := w.actor(name); a != nil {
			s := a.state()
			out[i].Actor = &s
		}
	}
	return out
}

// Actors returns the actors, in the order in which they were started first.
func (w *World) Actors() []ActorState {
	out := make([]ActorState, len(w.actors))
	for i, a := range w.actors {
		out[i] = a.state()
	}
	return out
}
