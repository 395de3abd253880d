package scenario

import (
	"slices"
	"time"

	controlplane "github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/scenario/actor"
	"github.com/kubesim/kubesim/sim/scenario/condition"
)

// timeCommands advance the clock and let clients and controllers act.
var timeCommands = []Command{
	{Name: "clock", Usage: "advance DURATION", Help: "let time pass", Example: "clock advance 5m",
		Group: Worldly, Args: []Arg{Word, Duration}, needs: 2, Words: []Choice{{"advance", "let time pass"}}, check: checkClock,
		run: func(w *World, op *Op) error { return w.advance(op.Args[1]) }},
	{Name: "tick", Usage: "DURATION|next|quiet|settled",
		Help: "let time pass: for a duration, to the next timer, until no client waits, or until controllers have settled", Example: "tick next",
		Group: Worldly, Args: []Arg{Word}, needs: 1, check: checkTick,
		Words: []Choice{{"next", "to the next timer"}, {"quiet", "until no client waits"},
			{"settled", "until controllers of the control plane have no work for ten seconds"}, {"15s", ""}, {"1m", ""}, {"5m", ""}},
		run: func(w *World, op *Op) error { return w.advance(op.Args[0]) }},
	{Name: "pause", Usage: "DURATION", Help: "let time pass while clients do not read; they read all events at the end", Example: "pause 5m",
		Group: Worldly, Args: []Arg{Duration}, needs: 1, run: (*World).pause},
	{Name: "settle", Help: "let all controllers work until no work is left, without letting time pass", Example: "settle",
		Group: Worldly, run: func(w *World, _ *Op) error {
			w.cluster.Control(func(m *controlplane.Manager) { m.ReconcileAll() })
			w.run()
			w.settle()
			return nil
		}},
}

func checkClock(op *Op, at int) error {
	if op.Args[0] != "advance" {
		return wrong(at, "a clock can only advance: clock advance 5m")
	}
	return nil
}

func checkTick(op *Op, at int) error {
	d, err := time.ParseDuration(op.Args[0])
	if op.Args[0] != "next" && op.Args[0] != "quiet" && op.Args[0] != "settled" && !condition.IsVariable(op.Args[0]) && (err != nil || d < 0) {
		return wrong(at, "tick takes a duration such as 5m, next, quiet or settled; not %q", op.Args[0])
	}
	return nil
}

// pause advances the clock by a duration in one step. Clients do not read events until the end.
func (w *World) pause(op *Op) error {
	d, err := time.ParseDuration(op.Args[0])
	w.used = true
	w.clock.Advance(d)
	return err
}

// advance advances the clock by a duration, or to "next", "quiet" or "settled".
func (w *World) advance(text string) error {
	w.used = true
	w.run()
	w.settle()
	switch text {
	case "next":
		if next, ok := w.clock.Next(); ok {
			w.moveTo(next)
		} else {
			w.say("nothing is going to happen by itself")
		}
		return nil
	case "quiet":
		w.rest()
		return nil
	case "settled":
		w.moveUntilSettled()
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	w.moveTo(w.clock.Now().Add(d))
	return nil
}

// moveTo advances the clock to t. It stops at every timer, handles everything that results, and steps the controllers.
func (w *World) moveTo(t time.Time) {
	for {
		next, ok := w.clock.Next()
		if !ok || next.After(t) {
			break
		}
		w.instant(next)
	}
	if t.After(w.clock.Now()) {
		w.instant(t)
	}
}

func (w *World) instant(t time.Time) {
	if w.options.Progress != nil {
		w.options.Progress.Moved(t)
	}
	w.clock.AdvanceTo(t)
	w.run()
	w.settle()
}

// rest advances the clock until no request and no actor is waiting, but not by more than an hour.
func (w *World) rest() {
	until := w.clock.Now().Add(time.Hour)
	for w.pending() {
		if !w.moveOn(until) {
			w.say("a client still waits")
			return
		}
	}
}

// moveOn advances the clock to the next timer. It returns false if there is no timer before or at until.
func (w *World) moveOn(until time.Time) bool {
	next, ok := w.clock.Next()
	if !ok || next.After(until) {
		return false
	}
	w.moveTo(next)
	return true
}

// pending reports whether a client is waiting for a response or an actor is waiting to retry.
func (w *World) pending() bool {
	return len(w.waiting) > 0 || slices.ContainsFunc(w.actors, actor.Actor.IsAsleep)
}
