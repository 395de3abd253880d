package scenario

import (
	"fmt"
	"strconv"

	"github.com/kubesim/kubesim/sim/trouble"

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

// actorCommands start clients that act by themselves, and say when they do.
var actorCommands = []Command{
	{Name: "informer", Usage: "NAME RESOURCE", Help: "start a client that lists, watches and keeps a cache", Example: "informer pods pods",
		Group: Actors, Flags: actorFlags, Args: []Arg{Word, Resource}, needs: 2, check: checkRead, run: engage(newInformer)},
	{Name: "pager", Usage: "NAME RESOURCE",
		Help: "start a client that reads a list page by page, one each step", Example: "pager reader pods --limit 2",
		Group: Actors, Flags: actorFlags, Args: []Arg{Word, Resource}, needs: 2, check: checkRead, run: engage(newPager)},
	{Name: "controller", Usage: "NAME -f RULES", Help: "start a client that acts on what its informers show", Example: "controller op -f rules.yaml",
		Group: Actors, Flags: []string{"filename", "namespace"}, Args: []Arg{Word}, needs: 1, check: checkController,
		run: engage(newController)},
	{Name: "step", Usage: "NAME [N]", Help: "let a pager or controller send its next N requests, or a controller of the control plane do N things", Example: "step op 2",
		Group: Actors, Args: []Arg{ActorOrController, Number}, needs: 1, run: stepNext},
	{Name: "crash", Usage: "NAME", Help: "let an actor, or a controller of the control plane, lose all it has in memory", Example: "crash op",
		Group: Actors, Args: []Arg{ActorOrController}, needs: 1, run: actOr(trouble.Crash, func(w *World, a actor, _ *Op) error {
			a.crash(w)
			w.say("%s has crashed", a.called())
			return nil
		})},
	{Name: "start", Usage: "NAME", Help: "start an actor, or a controller of the control plane, again", Example: "start op",
		Group: Actors, Args: []Arg{ActorOrController}, needs: 1, run: actOr(trouble.Start, func(w *World, a actor, _ *Op) error {
			if err := a.able(w); err != nil {
				return err
			}
			a.crash(w)
			a.start(w)
			return nil
		})},
}

func checkController(op *Op, at int) error {
	if !op.has("filename") {
		return wrong(at+1, "controller needs its rules: controller %s -f rules.yaml", op.arg(0))
	}
	return nil
}

// act does something to the actor that the first argument names.
func act(do func(w *World, a actor, op *Op) error) func(*World, *Op) error {
	return func(w *World, op *Op) error {
		name := op.Args[0]
		if a := w.actor(name); a != nil {
			return do(w, a, op)
		}
		var names []string
		for _, a := range w.actors {
			names = append(names, a.called())
		}
		return unknown("actor", name, names, "; begin with informer, pager or controller")
	}
}

// actOr is act, or does something to a controller of the control plane that the first argument names.
func actOr(k *trouble.Kind, do func(w *World, a actor, op *Op) error) func(*World, *Op) error {
	return func(w *World, op *Op) error {
		if w.actor(op.Args[0]) == nil {
			if known, err := w.controls(k, op); known {
				return err
			}
		}
		return act(do)(w, op)
	}
}

// engage starts a new actor.
func engage(make func(w *World, op *Op) (actor, error)) func(*World, *Op) error {
	return func(w *World, op *Op) error {
		if name := op.Args[0]; w.actor(name) != nil {
			return fmt.Errorf("there is %s already; start %s starts it again", name, name)
		}
		a, err := make(w, op)
		if err == nil {
			err = a.able(w)
		}
		if err != nil {
			return err
		}
		a.start(w)
		w.actors = append(w.actors, a)
		return nil
	}
}

// stepNext lets an actor, or a controller of the control plane, do the next things.
func stepNext(w *World, op *Op) error {
	n, err := 1, error(nil)
	if len(op.Args) > 1 {
		if n, err = strconv.Atoi(op.Args[1]); err != nil || n < 1 {
			return fmt.Errorf("step needs a number above zero, not %q", op.Args[1])
		}
	}
	if w.actor(op.Args[0]) == nil && w.stepController(op.Args[0], n) {
		return nil
	}
	return act(func(w *World, a actor, _ *Op) error { return w.stepActor(a, n) })(w, op)
}

// stepActor lets an actor send its next n requests.
func (w *World) stepActor(a actor, n int) error {
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
