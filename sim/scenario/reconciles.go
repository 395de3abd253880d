package scenario

import (
	"fmt"
	"strings"

	controlplane "github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/trace"
)

// reconcileLog holds the reconciles of the control plane's controllers that do not have a frame yet, and the reconcile
// with the newest frame.
//
//	store               ■ 4046                      ■ 4047
//	controller/NAME        └─▶ reconcile, cause 4046 ──┘ the cause of its writes
type reconcileLog struct {
	reconciles []controlplane.Reconcile
	last       controlplane.Reconcile
	frame      uint64 // the frame of the last reconcile, or 0 if there was none
}

// laneOf returns the lane of a controller of the control plane.
func laneOf(controller string) string { return "controller/" + controller }

// recordReconciles starts recording the reconciles of controllers. A reconcile without an effect does not get a frame:
// every controller that is notified of a commit reconciles, and most of these reconciles do nothing.
func (w *World) recordReconciles() {
	w.reconcileLog = reconcileLog{}
	w.listenToReconciles()
}

// listenToReconciles lets the cluster's controllers report their reconciles to the World.
func (w *World) listenToReconciles() {
	if w.options.Quiet {
		return
	}
	w.cluster.Control(func(m *controlplane.Manager) {
		m.OnReconcile = func(r controlplane.Reconcile) {
			if !r.Quiet() {
				w.reconcileLog.reconciles = append(w.reconcileLog.reconciles, r)
			}
		}
	})
}

// reconciledBefore adds frames for the reconciles that began before a revision was written.
func (w *World) reconciledBefore(rev uint64) {
	l := &w.reconcileLog
	for len(l.reconciles) > 0 && l.reconciles[0].Before < rev {
		r := l.reconciles[0]
		l.reconciles = l.reconciles[1:]
		f := Frame{Kind: Reconciled, Lane: laneOf(r.Controller), RV: r.CacheRev, Cause: w.commits[r.Cause], Text: describeReconcile(&r)}
		if r.Failed != nil {
			f.Code, f.Reason = r.Failed.Code, string(r.Failed.Reason)
		}
		if r.After > r.Before { // the reconcile has written; if not, the next frame records the passage of time
			w.tickFrame()
		}
		l.last, l.frame = r, w.append(f)
	}
}

// writes returns the frame of the last reconcile if that reconcile wrote the commit r, and 0 otherwise.
func (l *reconcileLog) writes(r *trace.Record) uint64 {
	if l.frame == 0 || r.Client != l.last.Controller || r.Rev <= l.last.Before || r.Rev > l.last.After {
		return 0
	}
	return l.frame
}

// describeReconcile describes a reconcile: "default/web reads deployments.apps, pods at 4046, writes 2".
func describeReconcile(r *controlplane.Reconcile) string {
	text := strings.TrimSpace(r.Key.String())
	if len(r.Read) > 0 {
		text += fmt.Sprintf(" reads %s at %d,", strings.Join(r.Read, ", "), r.CacheRev)
	}
	switch n := r.After - r.Before; {
	case r.Failed != nil:
		text += " fails: " + r.Failed.Message
	case n == 0:
		text += " writes nothing"
	default:
		text += fmt.Sprintf(" writes %d", n)
	}
	return strings.TrimSpace(text)
}

// stepController runs the next n reconciles of a controller of the control plane. It returns false if no controller
// with that name exists.
func (w *World) stepController(name string, n int) (known bool) {
	did := 0
	w.cluster.Control(func(m *controlplane.Manager) {
		known = m.Has(name)
		for known && did < n && m.StepOf(name) {
			did++
		}
	})
	if !known {
		return false
	}
	w.used = true
	if did < n {
		w.say("%s has nothing to do", name)
	}
	w.run()
	return true
}
