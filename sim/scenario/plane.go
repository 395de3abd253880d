package scenario

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	controlplane "github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/autoscaling"
	"github.com/kubesim/kubesim/sim/trouble"
)

// planeCommands control the control plane's own controllers: which ones run, when they reconcile, and how they fail.
// They do not control the controllers that a scenario defines by rules.
var planeCommands = func() []Command {
	list := []Command{
		{Name: "controllers", Usage: "*|NAME …", Help: "run controllers of kube-controller-manager; must come first",
			Example: "controllers replicaset-controller deployment-controller", Group: Worldly, Args: []Arg{Word},
			Words: []Choice{{"*", "all of them"}}, needs: 1, more: true, plan: (*Options).setControllers, run: (*World).prepare},
		{Name: "nodes", Usage: "N", Help: "set the number of nodes, whose kubelets run pods; must come first", Example: "nodes 3", Group: Worldly,
			Args: []Arg{Number}, needs: 1, plan: (*Options).setNodes, run: (*World).prepare},
		{Name: "classes", Help: "create a default StorageClass and a default IngressClass; must come first", Example: "classes", Group: Worldly,
			plan: func(o *Options, _ *Op) error { o.Classes = true; return nil }, run: (*World).prepare},
		{Name: "stepped", Usage: "yes|no", Help: "let controllers wait for reconcile and settle", Example: "stepped yes", Group: Worldly,
			Args: []Arg{Word}, Words: []Choice{{"yes", "they wait"}, {"no", "they work by themselves"}}, needs: 1, check: checkStepped,
			run: plane(func(m *controlplane.Manager, op *Op) error { m.Stepped = op.Args[0] == "yes"; return nil })},
		{Name: "shuffle", Help: "let the seed decide the order of controllers", Example: "shuffle", Group: Worldly,
			run: plane(func(m *controlplane.Manager, _ *Op) error { m.Shuffle(); return nil })},
		{Name: "reconcile", Usage: "[N]", Help: "let controllers do one reconcile, or N", Example: "reconcile 3", Group: Worldly,
			Args: []Arg{Number}, run: plane(reconcile)},
		{Name: "metric", Usage: "NAME VALUE|none [KIND/NAME]", Help: "set a metric for autoscalers: of objects, of pods such as Pod/web-*, or an external one",
			Example: "metric cpu 250m Pod/web-*", Group: Worldly, Flags: []string{"namespace"}, Args: []Arg{Word, Word, Word}, needs: 2,
			run: plane(setMetric)},
	}
	k := trouble.Slow
	return append(list, Command{Name: k.Name, Usage: "CONTROLLER DURATION", Help: k.Help, Example: k.Example, Group: Worldly,
		Args: []Arg{Controller, Duration}, needs: 2, run: applyTrouble(k)})
}()

func checkStepped(op *Op, at int) error {
	if v := op.Args[0]; v != "yes" && v != "no" {
		return wrong(at, "stepped takes yes or no, not %q", v)
	}
	return nil
}

// setControllers sets the controllers that run.
func (o *Options) setControllers(op *Op) error {
	o.Controllers = op.Args
	return nil
}

// setNodes sets the number of nodes.
func (o *Options) setNodes(op *Op) (err error) {
	o.Nodes, err = strconv.Atoi(op.Args[0])
	return err
}

// plane returns the run function of a command that acts on the Manager of the controllers. The function calls do with
// that Manager.
func plane(do func(m *controlplane.Manager, op *Op) error) func(*World, *Op) error {
	return func(w *World, op *Op) (err error) {
		w.cluster.Control(func(m *controlplane.Manager) { err = do(m, op) })
		if err == nil {
			w.addControlFrame(op, "store", 0)
			w.run()
		}
		return err
	}
}

func reconcile(m *controlplane.Manager, op *Op) error {
	n := 1
	if len(op.Args) > 0 {
		n, _ = strconv.Atoi(op.Args[0]) // cannot fail: Parse has checked the number
	}
	for ; n > 0; n-- {
		if !m.Step() {
			return fmt.Errorf("controllers have no work now")
		}
	}
	return nil
}

// setMetric sets the value of a metric. The value applies until the metric is set again (see autoscaling.Metric).
func setMetric(m *controlplane.Manager, op *Op) error {
	r, err := m.Reconciler(autoscaling.Name)
	if err != nil {
		return err
	}
	x := autoscaling.Metric{Namespace: cmp.Or(op.value("namespace"), "default"), Name: op.Args[0], Value: op.Args[1], Object: op.arg(2)}
	if x.Value == "none" {
		x.Value = ""
	}
	return r.(*autoscaling.Controller).Set(x)
}

// moveUntilSettled advances the clock until the controllers have had no work for ten seconds.
func (w *World) moveUntilSettled() {
	for until := w.clock.Now().Add(settleTime); ; {
		moving := w.cluster.Moving()
		w.run()
		w.settle()
		switch now := w.clock.Now(); {
		case len(moving) == 0:
			return
		case now.After(until) || !moving[0].At.After(now):
			w.fail("controllers have not settled in %s: the remaining work is %s", settleTime, moving[0].Item)
			return
		}
		w.moveTo(moving[0].At)
	}
}

// settleTime is the maximum time by which moveUntilSettled advances the clock.
const settleTime = 10 * time.Minute

// Controllers returns the names of the control plane's controllers and of the kubelets.
func (w *World) Controllers() (names []string) {
	w.cluster.Control(func(m *controlplane.Manager) { names = m.Names() })
	return names
}

// unknownController returns the error for an unknown controller of the control plane, or nil if known is true.
func (w *World) unknownController(name string, known bool) error {
	if known {
		return nil
	}
	return unknown("controller", name, w.Controllers(), "; the command controllers says which run")
}

// controls applies a disturbance to a controller of the control plane. known is false if no controller with that name
// exists.
func (w *World) controls(k *trouble.Kind, op *Op) (known bool, err error) {
	w.cluster.Control(func(m *controlplane.Manager) {
		if known = m.Has(op.Args[0]); known {
			var t trouble.Trouble
			if t, err = k.Parse(op.Args); err == nil {
				err = t.Control(m)
			}
		}
	})
	if known && err == nil {
		w.addControlFrame(op, laneOf(op.Args[0]), 0)
	}
	return known, err
}
