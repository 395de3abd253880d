package oracle

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/clock"
)

// Never makes a test fail if a state occurs. found is called now and after every commit, and returns an error if the
// state is present. The test fails only once, and the failure contains the write, its client and its diff. The state
// must not occur even for an instant: found is called before any client can observe the commit.
//
//	srv.Never("two leaders", func(view fake.View) error {
//		if n := len(view.List("leases.coordination.k8s.io", "")); n > 1 {
//			return fmt.Errorf("there are %d leases", n)
//		}
//		return nil
//	})
//
// found is called with the server's lock held, so it must use only the View and must not send requests to the server.
func (o *Oracles) Never(name string, found func(View) error) {
	o.observer.begun().check("never "+name, found)
}

// Always makes a test fail if a condition is violated. holds is called now and after every commit, and returns an error
// if the condition is violated. Always is the opposite of Never.
func (o *Oracles) Always(name string, holds func(View) error) {
	o.observer.begun().check("always "+name, holds)
}

// check adds a check of each commit. If the current state already fails the check, it reports that failure instead.
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

// Eventually waits until holds returns nil, while controllers run. It fails if the wait takes longer than the given
// time on the server's clock. It advances a manual clock from one timer to the next. With any other clock it waits,
// which takes no real time in a bubble. In a test that began with RunT, an error ends the test.
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

// await waits until holds returns nil, but no longer than the given time. It returns the last error of holds. more
// receives a value after each commit.
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

// awaitManual is like await, but advances a manual clock.
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
