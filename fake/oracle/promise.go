package oracle

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/clock"
)

// Never makes a test fail if a state occurs: found is called now and after every commit, and returns an error for that state. The test
// fails once, and the failure describes the write, its client and its diff. The state must not occur even for an instant, so it counts
// before any client could observe the commit.
//
//	srv.Never("two leaders", func(view fake.View) error {
//		if n := len(view.List("leases.coordination.k8s.io", "")); n > 1 {
//			return fmt.Errorf("there are %d leases", n)
//		}
//		return nil
//	})
//
// found is called under the server's lock, so it must use only the View and send no requests to the server.
func (o *Oracles) Never(name string, found func(View) error) {
	o.observer.begun().check("never "+name, found)
}

// Always makes a test fail if a condition does not hold: holds is called now and after every commit, and returns an error if the
// condition is violated. It is Never for the opposite condition.
func (o *Oracles) Always(name string, holds func(View) error) {
	o.observer.begun().check("always "+name, holds)
}

// check adds a check of each commit, unless the present state already fails it.
func (w *Observer) check(name string, check func(View) error) {
	p := &promise{name: name, wrote: check}
	if err := w.Inspect(check); err != nil {
		w.mu.Lock()
		w.fail(0, fmt.Sprintf("%s: %v\n    from the beginning", name, err))
		w.mu.Unlock()
		return
	}
	w.promise(p)
}

// Eventually lets time pass until holds returns nil, and fails if it has not within a time of the server's clock. Meanwhile controllers
// work. A manual clock is advanced from one timer to the next. Any other clock is waited for, which takes no real time in a bubble. In
// a test that began with RunT an error ends the test.
//
//	srv.Eventually("the site is gone", time.Minute, func(view fake.View) error { … })
func (o *Oracles) Eventually(name string, within time.Duration, holds func(View) error) error {
	w := o.observer.begun()
	more := make(chan struct{}, 1)
	w.mu.Lock()
	w.written = append(w.written, more)
	w.mu.Unlock()
	defer w.forget(more)
	err := w.await(within, more, func() error { return w.Inspect(holds) })
	if err == nil {
		return nil
	}
	err = fmt.Errorf("kubesim: eventually %s: not after %s: %w", name, within, err)
	if w.test != nil {
		w.test.Fatalf("%v", err)
	}
	return err
}

func (w *Observer) forget(c chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, x := range w.written {
		if x == c {
			w.written = append(w.written[:i:i], w.written[i+1:]...)
			return
		}
	}
}

// await lets time pass until holds returns nil. If that takes too long, it returns the last error of holds. more is signalled at each
// commit.
func (w *Observer) await(within time.Duration, more <-chan struct{}, holds func() error) error {
	if c, ok := w.cluster.Clock().(*clock.Manual); ok {
		return awaitManual(c, within, holds)
	}
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for {
		err := holds()
		if err == nil {
			return nil
		}
		select {
		case <-more:
		case <-deadline.C:
			return holds()
		}
	}
}

// awaitManual is await for a manual clock, which it advances.
func awaitManual(c *clock.Manual, within time.Duration, holds func() error) error {
	end := c.Now().Add(within)
	for {
		err := holds()
		now := c.Now()
		if err == nil || !now.Before(end) {
			return err
		}
		if next, ok := c.Next(); ok && next.Before(end) {
			c.Advance(max(next.Sub(now), 0))
			continue
		}
		c.Advance(end.Sub(now))
	}
}
