package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/fault"
)

// carryOut does what an operation says. An error means that nothing was done.
func (w *World) carryOut(op Op) error {
	c := findCommand(op.Name)
	if c == nil {
		return fmt.Errorf("there is no command %q%s", op.Name, meant(op.Name, commandNames()))
	}
	switch c.Group {
	case Requests:
		return w.request(&op)
	case Actors:
		return w.act(&op)
	case Checks:
		return w.examine(&op)
	}
	switch op.Name {
	case "seed", "replicas", "replica":
		return w.prepare(&op)
	case "clock":
		return w.advance(op.Args[1])
	case "tick":
		return w.advance(op.Args[0])
	case "settle":
		w.run()
		w.settle()
		return nil
	case "route", "hold", "release", "jump":
		return w.place(&op)
	case "fault":
		return w.fault(op.Text)
	case "compact", "expire", "restore":
		return w.history(&op)
	case "stop":
		return w.endWatch(&op)
	case "close":
		if w.watchNamed(op.Args[0]) != nil {
			return w.endWatch(&op)
		}
	}
	return w.treat(&op)
}

// prepare sets what the cluster is made with, and makes it anew if that has changed.
func (w *World) prepare(op *Op) error {
	if w.used {
		return fmt.Errorf("%s decides what the world is made with: put it before everything else", op.Name)
	}
	before := w.options
	if err := w.plan(op); err != nil {
		return err
	}
	if before.Seed == w.options.Seed && reflect.DeepEqual(before.Replicas, w.options.Replicas) {
		return nil
	}
	if err := w.boot(); err != nil {
		w.options = before
		_ = w.boot() // it worked before
		return err
	}
	return nil
}

// plan sets the options that an operation asks for.
func (w *World) plan(op *Op) error {
	n, err := strconv.ParseUint(op.Args[0], 10, 64)
	if err != nil {
		return err
	}
	if op.Name == "seed" {
		w.options.Seed = n
		return nil
	}
	const most = 9
	if n > most {
		return fmt.Errorf("there can be %d replicas, not %d", most, n)
	}
	replicas := slices.Clone(w.options.Replicas)
	for uint64(len(replicas)) < n {
		replicas = append(replicas, sim.ReplicaOptions{})
	}
	if op.Name == "replica" {
		r := &replicas[n-1]
		for _, text := range op.Args[1:] {
			if err := setOption(r, text); err != nil {
				return err
			}
		}
	} else {
		replicas = replicas[:n]
	}
	w.options.Replicas = replicas
	return nil
}

// replica reads the number of a replica.
func (w *World) replica(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || w.cluster.Replica(n) == nil {
		return 0, fmt.Errorf("there is no replica %s: there are %d, counted from 1", text, w.cluster.Replicas())
	}
	return n, nil
}

// treat does something to a replica.
func (w *World) treat(op *Op) error {
	n, err := w.replica(op.Args[0])
	if err != nil {
		return err
	}
	r := w.cluster.Replica(n)
	switch op.Name {
	case "lag":
		if err := r.Lag(op.Args[1:]...); err != nil {
			return err
		}
	case "unready":
		d, err := time.ParseDuration(op.Args[1])
		if err != nil {
			return err
		}
		if err := r.Unready(d, op.Args[2:]...); err != nil {
			return err
		}
	case "cut":
		r.Cut()
	case "resume":
		r.Resume()
	case "restart":
		r.Restart()
	case "close":
		r.CloseWatches()
	case "stall":
		d := time.Duration(0)
		if len(op.Args) > 1 {
			if d, err = time.ParseDuration(op.Args[1]); err != nil {
				return err
			}
		}
		r.Stall(d)
	}
	w.used = true
	w.add(Frame{Kind: FaultHappened, Lane: fmt.Sprintf("replica/%d", n), Replica: n, Text: op.String()})
	return nil
}

// place says where clients are and what they see.
func (w *World) place(op *Op) error {
	c := w.client(op.Args[0])
	switch op.Name {
	case "route":
		n, err := w.replica(op.Args[1])
		if err != nil {
			return err
		}
		c.replica = n
		if err := w.cluster.Route(agent(c.name), n); err != nil {
			return err
		}
	case "hold":
		w.cluster.Hold(agent(c.name))
		c.held = true
	case "release":
		w.cluster.Release(agent(c.name))
		c.held = false
	case "jump":
		d, err := time.ParseDuration(op.Args[1])
		if err != nil {
			return err
		}
		c.jump += d
	}
	w.used = true
	w.add(Frame{Kind: FaultHappened, Lane: "client/" + c.name, Text: op.String()})
	return nil
}

// fault adds faults, or clears or releases those there are.
func (w *World) fault(text string) error {
	w.used = true
	switch text {
	case "clear":
		w.cluster.ClearFaults()
	case "release":
		w.cluster.ReleaseFaults()
	default:
		plan, err := fault.Parse(text)
		if err != nil {
			return err
		}
		if err := w.cluster.AddFaults(plan...); err != nil {
			return err
		}
	}
	w.add(Frame{Kind: FaultHappened, Lane: "store", Text: "fault " + text})
	return nil
}

// history lets revisions be forgotten, or be taken back.
func (w *World) history(op *Op) error {
	switch op.Name {
	case "compact":
		w.cluster.Compact()
	case "expire":
		w.cluster.Expire()
	case "restore":
		rev, err := strconv.ParseUint(op.Args[0], 10, 64)
		if err != nil {
			return fmt.Errorf("restore needs a revision, not %q", op.Args[0])
		}
		if err := w.cluster.Restore(rev); err != nil {
			return err
		}
		w.forgetAfter(rev)
	}
	w.used = true
	if op.Name != "compact" {
		w.add(Frame{Kind: FaultHappened, Lane: "store", Text: op.String()})
	}
	return nil
}

// forgetAfter takes away what is known of revisions that have never happened now.
func (w *World) forgetAfter(rev uint64) {
	for r := range w.commits { // order does not matter: they are deleted
		if r > rev {
			delete(w.commits, r)
		}
	}
}

// endWatch ends one watch, from the server's side or from the client's.
func (w *World) endWatch(op *Op) error {
	x := w.watchNamed(op.Args[0])
	if x == nil {
		var names []string
		for _, x := range w.watches {
			names = append(names, x.name)
		}
		if names == nil {
			return fmt.Errorf("there is no watch %q, nor any other", op.Args[0])
		}
		return fmt.Errorf("there is no watch %q%s", op.Args[0], meant(op.Args[0], names))
	}
	if op.Name == "stop" {
		w.stop(x)
	} else {
		w.end(x.exchange.Replica, x.stream)
	}
	return nil
}
