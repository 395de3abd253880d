package soak

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/kubesim/kubesim/sim/checker"
)

// Converge has clients do errands that commute, each client with objects of its own and one request at a time, and each
// request again and again until its answer is definite, as controllers do. Meanwhile trouble happens, one per round; then
// everything heals. Whatever happened, the same has become of the objects: Result.Semantic does not depend on trouble. An
// error says who was not done in time.
func Converge(c Config, trouble []Op) (*Result, error) {
	r := newRunner(Options{Config: c, Ops: trouble})
	if err := r.begin(); err != nil {
		return nil, err
	}
	clients := make([]*errands, c.Clients)
	for i := range clients {
		clients[i] = &errands{client: fmt.Sprint("c", i+1), todo: errandsOf(c, i+1)}
	}
	limit := len(trouble) + 20*c.Ops + 200 // rounds; one errand takes a few when nothing is wrong
	for round, left := 0, true; left; round++ {
		switch {
		case round < len(trouble):
			if err := r.happen(trouble[round]); err != nil {
				return nil, fmt.Errorf("soak: %s: %w", trouble[round], err)
			}
		case round == len(trouble):
			r.heal()
		case round > limit:
			return nil, fmt.Errorf("soak: %s: not done after %d rounds", c, round)
		}
		left = round < len(trouble)
		for _, e := range clients {
			left = e.step(r) || left
		}
		r.step++
		r.clock.Advance(time.Second)
	}
	r.settle()
	return r.result(), nil
}

// errands are what one client has to do.
type errands struct {
	client  string
	todo    []Op
	pending *checker.Call
	n       int // of the errand
	moves   int // of the runner when it was sent
}

// errandsOf draws the errands of a client: its objects have its name in theirs, and nothing that it does depends on when
// it is done.
func errandsOf(c Config, client int) []Op {
	r := rand.New(rand.NewPCG(c.Seed, uint64(client)))
	kinds := []string{"configmaps", "leases.coordination.k8s.io", "clusterroles.rbac.authorization.k8s.io", "widgets.example.com"}
	var out []Op
	for range c.Ops {
		resource := pick(r, kinds)
		key := fmt.Sprintf("c%d-o%d", client, r.IntN(c.Names))
		if resources[resource].namespaced {
			key = pick(r, namespaces) + "/" + key
		}
		o := Op{Client: fmt.Sprint("c", client), Verb: pick(r, []string{"create", "create", "patch", "apply", "delete"}),
			Words: []string{resource, key}, Args: map[string]string{"label": fmt.Sprint("l", r.IntN(3))}}
		if o.Verb == "apply" {
			o.Args["force"] = ""
		}
		if o.Verb == "delete" {
			o.Args = map[string]string{}
		}
		out = append(out, o)
	}
	return out
}

// step looks at the answer to the last request and sends the next one. It reports whether anything is left to do.
func (e *errands) step(r *runner) bool {
	if c := e.pending; c != nil {
		if c.Returned == 0 && e.moves == r.moves {
			return true
		}
		e.pending = nil
		again := c.Unknown() || c.Code == 429 || c.Code == 409 && c.Reason == "Conflict"
		if !again {
			e.todo, e.n = e.todo[1:], e.n+1
		}
	}
	if len(e.todo) == 0 {
		return false
	}
	q := Make(e.todo[0], r.memory[e.client], e.n, 0)
	r.call(e.client, len(r.history.Calls)+1, q)
	e.pending, e.moves = q.Call, r.moves
	return true
}
