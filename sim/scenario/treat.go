package scenario

import (
	"fmt"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim"
)

// replicaCommands are what can be done to a replica.
var replicaCommands = []Command{
	{Name: "lag", Usage: "N [RESOURCE …]", Help: "stop a replica from learning of commits", Example: "lag 2 pods",
		Group: Worldly, Args: []Arg{Replica, Resource}, needs: 1, more: true,
		run: treat(func(r *sim.Replica, op *Op) error { return r.Lag(op.Args[1:]...) })},
	{Name: "cut", Usage: "N", Help: "take the store out of a replica's reach", Example: "cut 2",
		Group: Worldly, Args: []Arg{Replica}, needs: 1,
		run: treat(func(r *sim.Replica, _ *Op) error { r.Cut(); return nil })},
	{Name: "resume", Usage: "N", Help: "end lag and cut of a replica", Example: "resume 2",
		Group: Worldly, Args: []Arg{Replica}, needs: 1,
		run: treat(func(r *sim.Replica, _ *Op) error { r.Resume(); return nil })},
	{Name: "restart", Usage: "N", Help: "restart a replica: its watches end, its caches are filled anew", Example: "restart 1",
		Group: Worldly, Args: []Arg{Replica}, needs: 1,
		run: treat(func(r *sim.Replica, _ *Op) error { r.Restart(); return nil })},
	{Name: "unready", Usage: "N DURATION [RESOURCE …]", Example: "unready 1 30s pods",
		Help:  "let a replica fill its watch caches anew for so long: watches end, and begin with 429",
		Group: Worldly, Args: []Arg{Replica, Duration, Resource}, needs: 2, more: true,
		run: treat(func(r *sim.Replica, op *Op) error {
			d, err := time.ParseDuration(op.Args[1])
			if err != nil {
				return err
			}
			return r.Unready(d, op.Args[2:]...)
		})},
	{Name: "stall", Usage: "N [DURATION]", Help: "silence a replica's open watches; after the duration they break", Example: "stall 1 45s",
		Group: Worldly, Args: []Arg{Replica, Duration}, needs: 1,
		run: treat(func(r *sim.Replica, op *Op) (err error) {
			d := time.Duration(0)
			if len(op.Args) > 1 {
				if d, err = time.ParseDuration(op.Args[1]); err != nil {
					return err
				}
			}
			r.Stall(d)
			return nil
		})},
}

// treat does something to the replica that the first argument names.
func treat(do func(r *sim.Replica, op *Op) error) func(*World, *Op) error {
	return func(w *World, op *Op) error {
		n, err := w.replica(op.Args[0])
		if err != nil {
			return err
		}
		if err := do(w.cluster.Replica(n), op); err != nil {
			return err
		}
		w.happened(op, fmt.Sprintf("replica/%d", n), n)
		return nil
	}
}

// replica reads the number of a replica.
func (w *World) replica(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || w.cluster.Replica(n) == nil {
		return 0, fmt.Errorf("there is no replica %s: there are %d, counted from 1", text, w.cluster.Replicas())
	}
	return n, nil
}
