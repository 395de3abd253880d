package scenario

import (
	"fmt"
	"strconv"

	"github.com/kubesim/kubesim/sim/scenario/actor"
	"github.com/kubesim/kubesim/sim/trouble"
)

// actorCommands are the commands that start, step and crash actors, which are clients that act on their own.
var actorCommands = []Command{
	{Name: "informer", Usage: "NAME RESOURCE", Help: "start a client that lists, watches and keeps a cache", Example: "informer pods pods",
		Group: Actors, Flags: actorFlags, Args: []Arg{Word, Resource}, needs: 2, check: checkRead, run: engage(newInformer)},
	{Name: "pager", Usage: "NAME RESOURCE",
		Help: "start a client that reads a list page by page, one each step", Example: "pager reader pods --limit 2",
		Group: Actors, Flags: actorFlags, Args: []Arg{Word, Resource}, needs: 2, check: checkRead, run: engage(newPager)},
	{Name: "controller", Usage: "NAME -f RULES", Help: "start a client that acts on the caches of its informers", Example: "controller op -f rules.yaml",
		Group: Actors, Flags: []string{"filename", "namespace"}, Args: []Arg{Word}, needs: 1, check: checkController,
		run: engage(newController)},
	{Name: "step", Usage: "NAME [N]", Help: "let a pager or controller send its next N requests, or a controller of the control plane do N reconciles", Example: "step op 2",
		Group: Actors, Args: []Arg{ActorOrController, Number}, needs: 1, run: stepNext},
	{Name: "crash", Usage: "NAME", Help: "crash an actor, or a controller of the control plane, which loses its memory", Example: "crash op",
		Group: Actors, Args: []Arg{ActorOrController}, needs: 1, run: actOr(trouble.Crash, func(w *World, a actor.Actor, _ *Op) error {
			a.Crash()
			w.say("%s has crashed", a.State().Name)
			return nil
		})},
	{Name: "start", Usage: "NAME", Help: "start an actor, or a controller of the control plane, again", Example: "start op",
		Group: Actors, Args: []Arg{ActorOrController}, needs: 1, run: actOr(trouble.Start, func(w *World, a actor.Actor, _ *Op) error {
			if err := a.Able(); err != nil {
				return err
			}
			a.Crash()
			a.Start()
			return nil
		})},
}

func checkController(op *Op, at int) error {
	if !op.has("filename") {
		return wrong(at+1, "controller needs its rules: controller %s -f rules.yaml", op.arg(0))
	}
	return nil
}

// act returns a run function that looks up the actor named by the first argument and calls do with it. If there is no such actor,
// the run function returns an error.
func act(do func(w *World, a actor.Actor, op *Op) error) func(*World, *Op) error {
	return func(w *World, op *Op) error {
		name := op.Args[0]
		if a := w.actor(name); a != nil {
			return do(w, a, op)
		}
		var names []string
		for _, a := range w.actors {
			names = append(names, a.State().Name)
		}
		return unknown("actor", name, names, "; begin with informer, pager or controller")
	}
}

// actOr is like act. If the first argument names a controller of the control plane instead of an actor, it applies the
// disturbance k to that controller.
func actOr(k *trouble.Kind, do func(w *World, a actor.Actor, op *Op) error) func(*World, *Op) error {
	return func(w *World, op *Op) error {
		if w.actor(op.Args[0]) == nil {
			if known, err := w.controls(k, op); known {
				return err
			}
		}
		return act(do)(w, op)
	}
}

// sourceOf builds an actor's Source from the arguments and flags of an operation. It also creates the actor's client.
func (w *World) sourceOf(op *Op) actor.Source {
	name := w.client(op.Args[0]).name
	return actor.Source{Name: name, Resource: op.arg(1), Namespace: op.value("namespace"), Labels: op.value("selector"),
		Fields: op.value("field-selector"), PageSize: op.value("limit"), ListWatch: op.has("list-watch")}
}

func newInformer(w *World, op *Op) (actor.Actor, error) {
	return actor.NewInformer(host{w}, w.sourceOf(op)), nil
}

func newPager(w *World, op *Op) (actor.Actor, error) {
	if !op.has("limit") {
		return nil, fmt.Errorf("a pager reads pages: set their size with --limit N")
	}
	return actor.NewPager(host{w}, w.sourceOf(op)), nil
}

func newController(w *World, op *Op) (actor.Actor, error) {
	file := op.value("filename")
	text, err := w.file(file)
	if err != nil {
		return nil, err
	}
	var a actor.Actor
	rules, err := ParseRules(text)
	if err == nil {
		a, err = actor.NewController(host{w}, rules, w.sourceOf(op))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return a, nil
}

// Rules are the rules of a controller.
type Rules = actor.Rules

// ParseRules parses the rules of a controller.
func ParseRules(text string) (*Rules, error) { return actor.ParseRules(text, checkRuleLine) }

// checkRuleLine returns an error if a line is not a request that a rule may send.
func checkRuleLine(line string) error {
	op, err := Parse(line)
	if err != nil {
		return fmt.Errorf("do %s: %w", line, err)
	}
	if c := FindCommand(op.Name); c.Group != Requests || op.Name == "watch" || op.has("as") {
		return fmt.Errorf("do %s: a rule sends its requests itself: neither %s nor --as is allowed", line, op.Name)
	}
	return nil
}

// engage returns a run function that creates an actor with make and starts it. If make fails or the actor cannot start, nothing
// changes.
func engage(make func(w *World, op *Op) (actor.Actor, error)) func(*World, *Op) error {
	return func(w *World, op *Op) error {
		if name := op.Args[0]; w.actor(name) != nil {
			return fmt.Errorf("%s already exists; start %s starts it again", name, name)
		}
		a, err := make(w, op)
		if err == nil {
			err = a.Able()
		}
		if err != nil {
			return err
		}
		a.Start()
		w.actors = append(w.actors, a)
		return nil
	}
}

// stepNext runs the next steps of an actor or of a controller of the control plane.
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
	return act(func(w *World, a actor.Actor, _ *Op) error { return w.stepActor(a, n) })(w, op)
}

// stepActor steps an actor until it has sent n requests or has nothing left to do. It returns an error if the actor is an informer,
// which is never stepped.
func (w *World) stepActor(a actor.Actor, n int) error {
	if a.IsIdle() && a.State().Kind == "informer" {
		return fmt.Errorf("an informer handles events when they arrive; only pagers and controllers are stepped")
	}
	for ; n > 0; n-- {
		name := a.State().Name
		before := w.client(name).sent
		for w.client(name).sent == before {
			if !a.Step() {
				w.say("%s has nothing to do", name)
				return nil
			}
			w.run()
		}
	}
	return nil
}

// actor returns the actor with the given name, or nil.
func (w *World) actor(name string) actor.Actor {
	for _, a := range w.actors {
		if a.State().Name == name {
			return a
		}
	}
	return nil
}

// settleSteps is the maximum number of steps of controllers in one settle.
const settleSteps = 10_000

// settle steps all controllers in turn until none has work left.
func (w *World) settle() {
	for steps := 0; steps < settleSteps; {
		worked := false
		for _, a := range w.actors {
			if a.IsIdle() {
				continue
			}
			if a.Step() {
				worked = true
				steps++
				w.run()
			}
		}
		if !worked {
			return
		}
	}
	w.fail("the controllers have done %d reconciles and are not done yet: they work against each other, or one does not see its own writes", settleSteps)
}
