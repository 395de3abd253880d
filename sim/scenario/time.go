package scenario

import (
	"time"
)

// advance lets time pass: a duration, "next" or "quiet".
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
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	w.moveTo(w.clock.Now().Add(d))
	return nil
}

// moveTo moves the clock to t. At each instant at which something happens, all that follows from it happens, and the
// controllers work.
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
	w.clock.AdvanceTo(t)
	w.run()
	w.settle()
}

// rest lets time pass until no request and no actor waits for it, at most for an hour.
func (w *World) rest() {
	until := w.clock.Now().Add(time.Hour)
	for w.pending() {
		next, ok := w.clock.Next()
		if !ok || next.After(until) {
			w.say("somebody still waits")
			return
		}
		w.moveTo(next)
	}
}

// pending reports whether somebody waits for time to pass: a client for an answer, an actor to try again.
func (w *World) pending() bool {
	if len(w.waiting) > 0 {
		return true
	}
	for _, a := range w.actors {
		if a.asleep() {
			return true
		}
	}
	return false
}

// after lets f be done by a client when d has passed, unless stop is called before.
func (w *World) after(d time.Duration, f func()) (stop func()) {
	t := w.clock.AfterFunc(d, func() { w.due = append(w.due, f) })
	return func() { t.Stop() }
}
