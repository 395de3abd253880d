package scenario

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// actor is a client that acts by itself.
type actor interface {
	// able returns why it cannot start now.
	able(w *World) error
	// start begins with nothing in memory.
	start(w *World)
	// crash forgets everything.
	crash(w *World)
	// step does the next thing there is to do. It reports whether there was one.
	step(w *World) bool
	// idle reports whether settle leaves it alone.
	idle() bool
	// asleep reports whether it waits for time to pass before it tries again.
	asleep() bool
	called() string
	state() ActorState
}

// cacher is an actor with a cache.
type cacher interface {
	objects(d *resource.Definition, namespace, name string) ([]object.Object, error)
}

// act carries out the operations about actors.
func (w *World) act(op *Op) error {
	name := op.Args[0]
	old := w.actor(name)
	switch op.Name {
	case "informer", "pager", "controller":
		if old != nil {
			return fmt.Errorf("there is %s already; start %s starts it again", name, name)
		}
		return w.engage(op)
	}
	if old == nil {
		var names []string
		for _, a := range w.actors {
			names = append(names, a.called())
		}
		if names == nil {
			return fmt.Errorf("there is no actor %q, nor any other; begin with informer, pager or controller", name)
		}
		return fmt.Errorf("there is no actor %q%s", name, meant(name, names))
	}
	switch op.Name {
	case "step":
		return w.stepActor(old, op)
	case "crash":
		old.crash(w)
		w.say("%s has crashed", name)
	case "start":
		if err := old.able(w); err != nil {
			return err
		}
		old.crash(w)
		old.start(w)
	}
	return nil
}

// engage starts a new actor.
func (w *World) engage(op *Op) error {
	name := op.Args[0]
	var a actor
	switch op.Name {
	case "informer":
		a = &informer{w.newReflector(name, op.Args[1], name, op)}
	case "pager":
		if !op.has("limit") {
			return fmt.Errorf("a pager reads pages: --limit N says how long they are")
		}
		p := &pager{name: name, client: w.client(name), resource: op.Args[1], op: Op{Flags: slices.Clone(op.Flags)}}
		if !op.has("namespace") {
			p.op.Flags = append(p.op.Flags, FlagValue{Name: "all-namespaces"})
		}
		a = p
	default:
		text, err := w.file(op.value("filename"))
		if err != nil {
			return err
		}
		if a, err = w.newController(name, text, op); err != nil {
			return fmt.Errorf("%s: %w", op.value("filename"), err)
		}
	}
	if err := a.able(w); err != nil {
		return err
	}
	a.start(w)
	w.actors = append(w.actors, a)
	return nil
}

// stepActor lets an actor send its next requests.
func (w *World) stepActor(a actor, op *Op) error {
	n := 1
	if len(op.Args) > 1 {
		var err error
		if n, err = strconv.Atoi(op.Args[1]); err != nil || n < 1 {
			return fmt.Errorf("step needs a number above zero, not %q", op.Args[1])
		}
	}
	if a.idle() && a.state().Kind == "informer" {
		return fmt.Errorf("an informer takes events as they come; only pagers and controllers are stepped")
	}
	for ; n > 0; n-- {
		name := a.called()
		before := w.client(name).sent
		for w.client(name).sent == before {
			if !a.step(w) {
				w.say("%s has nothing to do", name)
				return nil
			}
			w.run()
		}
	}
	return nil
}

// actor returns the actor of a name, or nil.
func (w *World) actor(name string) actor {
	for _, a := range w.actors {
		if a.called() == name {
			return a
		}
	}
	return nil
}

// settleSteps is how many things controllers may do before the clock moves on.
const settleSteps = 10_000

// settle lets all controllers work, in turn, until none has anything left to do.
func (w *World) settle() {
	for steps := 0; steps < settleSteps; {
		worked := false
		for _, a := range w.actors {
			if a.idle() {
				continue
			}
			if a.step(w) {
				worked = true
				steps++
				w.run()
			}
		}
		if !worked {
			return
		}
	}
	w.fail("the controllers have done %d things and are not done yet: they work against each other, or one does not see "+
		"what it has done", settleSteps)
}
