package soak

import (
	"fmt"
	"math/rand/v2"

	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/scenario"
)

// Converge has clients do errands that commute, each client with objects of its own and one request at a time, and each
// request again and again until its answer is definite, as controllers do. Meanwhile trouble happens, one per round; then
// everything heals. Whatever happened, the same has become of the objects: Result.Semantic does not depend on trouble. An
// error says who was not done in time.
func Converge(c Config, trouble []scenario.Op) (*Result, error) {
	r, err := begin(Options{Config: c, Ops: trouble})
	if err != nil {
		return nil, err
	}
	clients := make([]*errands, c.Clients)
	for i := range clients {
		clients[i] = &errands{todo: errandsOf(c, i+1)}
	}
	limit := len(trouble) + 20*c.Ops + 200 // rounds; one errand takes a few when nothing is wrong
	for round, left := 0, true; left; round++ {
		switch {
		case round < len(trouble):
			err = r.do(trouble[round], 0)
		case round == len(trouble):
			err = r.say("heal")
		case round > limit:
			err = fmt.Errorf("soak: %s: not done after %d rounds", c, round)
		}
		left = round < len(trouble)
		for _, e := range clients {
			if err == nil {
				err = e.step(r)
			}
			left = left || len(e.todo) > 0
		}
		if err == nil {
			err = r.say("pause 1s")
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.settle(); err != nil {
		return nil, err
	}
	return r.result()
}

// errands are what one client has to do.
type errands struct {
	todo    []scenario.Op
	pending *checker.Call
	moves   int // of the runner when it was sent
}

// errandsOf draws the errands of a client: its objects have its name in theirs, and nothing that it does depends on when
// it is done.
func errandsOf(c Config, client int) []scenario.Op {
	r := rand.New(rand.NewPCG(c.Seed, uint64(client)))
	kinds := []string{"configmaps", "leases.coordination.k8s.io", "clusterroles.rbac.authorization.k8s.io", "widgets.example.com"}
	var out []scenario.Op
	for n := range c.Ops {
		resource, namespace := pick(r, kinds), ""
		o := newRequest("", fmt.Sprint("c", client), resource, fmt.Sprintf("c%d-o%d", client, r.IntN(c.Names)))
		if !resources[resource].cluster {
			namespace = pick(r, namespaces)
			o.flag("namespace", namespace)
		}
		o.Name = pick(r, []string{"create", "create", "patch", "apply", "delete"})
		switch label := fmt.Sprint("l", r.IntN(3)); o.Name {
		case "create":
			o.put(o.Name, resource, namespace, label, n)
		case "patch":
			o.patch("merge", "", label, n)
		case "apply":
			o.apply(resource, namespace, label, n, true)
		}
		out = append(out, o.Op)
	}
	return out
}

// step looks at the answer to the last request and sends the next one.
func (e *errands) step(r *runner) error {
	if c := e.pending; c != nil {
		if c.Returned == 0 && e.moves == r.moves {
			return nil
		}
		e.pending = nil
		again := c.Unknown() || c.Code == 429 || c.Code == 409 && c.Reason == "Conflict"
		if !again {
			e.todo = e.todo[1:]
		}
	}
	if len(e.todo) == 0 {
		return nil
	}
	h := r.world.History()
	err := r.do(e.todo[0], len(h.Calls)+1)
	e.pending, e.moves = h.Calls[len(h.Calls)-1], r.moves
	return err
}
