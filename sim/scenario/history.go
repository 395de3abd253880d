package scenario

import (
	"fmt"
	"strconv"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
)

// historyCommands let revisions be forgotten, or be taken back.
var historyCommands = []Command{
	{Name: "record", Help: "keep what clients do and see from here on, for expect promises kept", Example: "record",
		Group: Worldly, run: (*World).startRecording},
	{Name: "compact", Help: "let the store forget all revisions before now", Example: "compact",
		Group: Worldly, run: func(w *World, _ *Op) error {
			w.used = true
			w.cluster.Compact()
			return nil
		}},
	{Name: "expire", Help: "let the store and every watch cache forget all history", Example: "expire",
		Group: Worldly, run: func(w *World, op *Op) error {
			w.cluster.Expire()
			w.happened(op, "store", 0)
			return nil
		}},
	{Name: "restore", Usage: "REVISION", Help: "take the store back to a revision, as from a backup", Example: "restore 4007",
		Group: Worldly, Args: []Arg{Word}, needs: 1, run: (*World).restore},
	{Name: "fork", Help: "go on in a fork of the cluster: open watches and requests that wait stay behind", Example: "fork",
		Group: Worldly, run: func(w *World, op *Op) error { return w.move(op, forked) }},
	{Name: "reload", Help: "go on as from an archive of the cluster: open watches and requests that wait stay behind", Example: "reload",
		Group: Worldly, run: func(w *World, op *Op) error { return w.move(op, reloaded) }},
}

func forked(c *sim.Cluster) (*sim.Cluster, error)   { return c.Fork(), nil }
func reloaded(c *sim.Cluster) (*sim.Cluster, error) { return sim.Load(c.State(), nil) }

// move goes on with another cluster that is as the one so far.
func (w *World) move(op *Op, to func(*sim.Cluster) (*sim.Cluster, error)) error {
	if len(w.actors) > 0 {
		return fmt.Errorf("%s leaves the timers of %s behind: do it in a world without actors", op.Name, w.actors[0].called())
	}
	c, err := to(w.cluster)
	if err != nil {
		return err
	}
	w.cluster, w.clock = c, c.Clock().(*clock.Manual)
	if w.recording != nil {
		c.OnCommit(w.committing)
	}
	for _, x := range w.watches {
		if x.state == "" {
			x.state = "left behind"
			x.call.ended()
		}
	}
	for _, c := range w.waiting {
		c.ended()
	}
	w.waiting = nil
	w.happened(op, "store", 0)
	return nil
}

func (w *World) restore(op *Op) error {
	rev, err := strconv.ParseUint(op.Args[0], 10, 64)
	if err != nil {
		return fmt.Errorf("restore needs a revision, not %q", op.Args[0])
	}
	if err := w.cluster.Restore(rev); err != nil {
		return err
	}
	w.forgetAfter(rev)
	w.happened(op, "store", 0)
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
