package scenario

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim"
)

func (w *World) fork(op *Op) error {
	return w.move(op, func(c *sim.Cluster) (*sim.Cluster, error) { return c.Fork(), nil })
}

func (w *World) reload(op *Op) error {
	return w.move(op, func(c *sim.Cluster) (*sim.Cluster, error) { return sim.Load(c.State(), nil) })
}

// move replaces the World's cluster with the result of to, a function that must return a cluster in the same state.
func (w *World) move(op *Op, to func(*sim.Cluster) (*sim.Cluster, error)) error {
	if len(w.actors) > 0 {
		return fmt.Errorf("%s would lose the timers of %s: use it in a world without actors", op.Name, w.actors[0].State().Name)
	}
	c, err := to(w.cluster)
	if err != nil {
		return err
	}
	w.goOn(c)
	w.waiting = nil
	w.recordReconciles()
	if w.recording != nil {
		c.OnCommit(w.committing)
		w.recording.moved()
	}
	for _, x := range w.watches {
		if x.state == "" {
			x.state = "left behind"
		}
	}
	w.addControlFrame(op, "store", 0)
	return nil
}

// heal ends faults, holds and the disturbances of replicas. It then advances the clock by a minute, because no
// connection or read is delayed for longer than that.
func (w *World) heal(op *Op) error {
	w.cluster.ClearFaults()
	for n := 1; n <= w.cluster.Replicas(); n++ {
		w.cluster.Replica(n).Resume()
	}
	for _, name := range slices.Sorted(maps.Keys(w.clients)) {
		w.cluster.Release(w.agent(name))
		w.clients[name].held = false
	}
	w.cluster.ReleaseFaults()
	w.addControlFrame(op, "store", 0)
	for range 4 {
		w.clock.Advance(15 * time.Second)
		w.run()
	}
	w.healed = true
	return nil
}
