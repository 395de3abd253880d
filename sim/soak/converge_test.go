package soak

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/scenario"
)

// TestConverge checks that clients that retry until a definite result end with the same objects, regardless of
// disturbances.
func TestConverge(t *testing.T) {
	t.Parallel()
	troubled := 0
	for seed := uint64(1); seed <= 8; seed++ {
		is := is.New(t)
		c := Swarm(seed, 40)
		c.Clients, c.Replicas, c.Calm = 3, 3, 1
		calm, err := converge(c, nil)
		is.NoErr(err)
		all := slices.DeleteFunc(Generate(Config{Seed: seed, Ops: 150, Clients: 3, Replicas: 3, Names: c.Names, Work: c.Work,
			Trouble: c.Trouble, Calm: 1, Faults: 8}), func(o scenario.Op) bool { return o.Async || o.Name == "stop" })
		rough, err := converge(c, all)
		is.NoErr(err)
		is.Equal(len(calm.Violations)+len(rough.Violations), 0) // no promise is broken either
		is.Equal(calm.Semantic, rough.Semantic)                 // the resulting objects are the same
		if calm.Hash != rough.Hash && len(rough.History.Calls) > len(calm.History.Calls) {
			troubled++
		}
	}
	is.New(t).True(troubled >= 4) // requests had to be retried because of disturbances
}

// converge runs tasks that commute. Each client has its own objects, sends one request at a time, and repeats it until
// the response is definite, like a controller. One disturbance occurs per round; then all disturbances end. The
// resulting objects must not depend on the disturbances: Result.Semantic is always the same. converge returns an error
// if a client does not finish in time.
func converge(c Config, trouble []scenario.Op) (*Result, error) {
	r, err := begin(Options{Config: c, Ops: trouble})
	if err != nil {
		return nil, err
	}
	clients := make([]*errands, c.Clients)
	for i := range clients {
		clients[i] = &errands{todo: errandsOf(c, i+1)}
	}
	limit := len(trouble) + 20*c.Ops + 200 // the maximum number of rounds; a task takes a few if there are no disturbances
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
	return r.result(), nil
}

// errands are the tasks of one client.
type errands struct {
	todo    []scenario.Op
	pending *checker.Call
	moves   int // the runner's moves when the request was sent
}

// errandsOf draws the tasks of a client. The names of its objects contain the client's name, and the result of a task
// does not depend on its time.
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

// step handles the response to the last request and sends the next one.
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
