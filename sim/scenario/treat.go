package scenario

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/kubesim/kubesim/sim/trouble"
)

// replicaCommands are the commands that disturb a replica, except close, which can also close a single watch.
var replicaCommands = func() (list []Command) {
	for _, k := range trouble.Kinds {
		if k == trouble.Close || !k.OfReplicas() {
			continue
		}
		who, arg := "N", Replica
		if k.OfControllers() {
			who, arg = "N|CONTROLLER", ReplicaOrController
		}
		c := Command{Name: k.Name, Usage: who, Help: k.Help, Example: k.Example, Group: Worldly, Args: []Arg{arg}, needs: 1,
			run: applyTrouble(k)}
		switch {
		case k.NeedsDuration():
			c.Usage, c.Args, c.needs = c.Usage+" DURATION", append(c.Args, Duration), 2
		case k.Duration != "":
			c.Usage, c.Args = c.Usage+" [DURATION]", append(c.Args, Duration)
		}
		if k.Resources {
			c.Usage, c.Args, c.more = c.Usage+" [RESOURCE …]", append(c.Args, Resource), true
		}
		list = append(list, c)
	}
	return list
}()

// applyTrouble returns a run function that applies a disturbance to the replica or the controller that the first
// argument names.
func applyTrouble(k *trouble.Kind) func(*World, *Op) error {
	return func(w *World, op *Op) error {
		if k.OfControllers() {
			if known, err := w.controls(k, op); known || !k.OfReplicas() {
				return cmp.Or(err, w.unknownController(op.Args[0], known))
			}
		}
		n, err := w.replica(op.Args[0])
		if err != nil {
			return err
		}
		t, err := k.Parse(op.Args)
		if err == nil {
			err = t.Do(w.cluster.Replica(n))
		}
		if err != nil {
			return err
		}
		w.addControlFrame(op, fmt.Sprintf("replica/%d", n), n)
		return nil
	}
}

// replica parses the number of a replica. It returns an error if there is no such replica.
func (w *World) replica(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || w.cluster.Replica(n) == nil {
		return 0, fmt.Errorf("there is no replica %s: the number of replicas is %d", text, w.cluster.Replicas())
	}
	return n, nil
}
