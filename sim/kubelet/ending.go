package kubelet

import (
	"slices"
	"time"
)

// end terminates all containers, with the sidecars after the other containers. Each ends in response to its signal or when its
// grace period expires.
func (w *worker) end() {
	until := w.now.Add(w.grace())
	if deleted, err := time.Parse(time.RFC3339, w.pod.DeletionTimestamp()); err == nil && deleted.After(w.now) {
		until = deleted
	}
	if w.rec.Ending.IsZero() {
		w.rec.Ending = w.now
	}
	if w.rec.Until.IsZero() || until.Before(w.rec.Until) {
		w.rec.Until = until
	}
	w.again = time.Time{}
	for _, c := range w.containers {
		if c.run.State == creating {
			c.run.abort()
		}
		if c.run.State == running && c.run.Stopping.IsZero() && !c.sidecar {
			w.stop(c, "", w.rec.Until)
		}
		w.elapse(c)
	}
	for _, c := range slices.Backward(w.containers) {
		if !c.sidecar || c.run.State != running {
			continue
		}
		if w.others(c) {
			w.at(w.rec.Until)
			continue
		}
		if c.run.Stopping.IsZero() {
			w.stop(c, "", w.rec.Until)
		}
		w.elapse(c)
	}
	for _, c := range w.containers {
		if c.run.State == running {
			w.at(c.run.Due)
			if w.rec.Until.Before(c.run.Due) {
				c.run.killAt(w.rec.Until)
				w.at(w.rec.Until)
			}
		}
	}
}

// others reports whether another container that must end before the given sidecar is still running. These are all containers that
// are not sidecars, and the later sidecars.
func (w *worker) others(than *container) bool {
	after := false
	for _, c := range w.containers {
		if c == than {
			after = true
			continue
		}
		if c.run.State == running && (!c.sidecar || after) {
			return true
		}
	}
	return false
}

// grace returns the grace period within which the pod's containers must end.
func (w *worker) grace() time.Duration {
	seconds, ok := w.pod.DeletionGracePeriodSeconds()
	if !ok {
		seconds = w.pod.Int64("spec", "terminationGracePeriodSeconds")
	}
	return time.Duration(max(seconds, 1)) * time.Second
}

// deadline returns the time when the pod exceeds activeDeadlineSeconds, or zero if it does not have that field or has not
// started.
func (w *worker) deadline() time.Time {
	seconds, ok := w.pod.Int("spec", "activeDeadlineSeconds")
	started, err := time.Parse(time.RFC3339, w.pod.String("status", "startTime"))
	if !ok || err != nil {
		return time.Time{}
	}
	return started.Add(time.Duration(seconds) * time.Second)
}

func (w *worker) atDeadline() {
	if w.rec.Overdue || w.done() {
		return
	}
	if seconds, ok := w.pod.Int("spec", "activeDeadlineSeconds"); ok && !w.pod.Has("status", "startTime") {
		w.at(w.now.Add(time.Duration(seconds) * time.Second)) // the pod starts now
		return
	}
	w.at(w.deadline())
}

// overdue ends a pod that has been active for too long (kubelet.activeDeadlineHandler). It reports whether the pod is overdue.
func (w *worker) overdue() bool {
	if at := w.deadline(); !w.rec.Overdue && (at.IsZero() || w.now.Before(at) || w.failed() || w.done()) {
		return false
	}
	if !w.rec.Overdue {
		w.rec.Overdue = true
		w.event(nil, "Normal", "DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
	}
	w.end()
	return true
}
