package oracle

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/clock"
)

// Never says what must not be: found is asked now and after every commit, and returns an error when it sees it. Then the test
// fails, once, with what it was that was written, by whom, and its diff. The commit need not have reached anybody yet: not even
// for an instant may it be.
//
//	srv.Never("two leaders", func(view fake.View) error {
//		if n := len(view.List("leases.coordination.k8s.io", "")); n > 1 {
//			return fmt.Errorf("there are %d leases", n)
//		}
//		return nil
//	})
//
// found is called under the server's lock: it must not ask the server, only the View.
func (o *Oracles) Never(name string, found func(View) error) {
	o.witness.begun().check("never "+name, found)
}

// Always says what must be: holds is asked now and after every commit, and returns an error when it is not so. It is Never, said
// the other way round.
func (o *Oracles) Always(name string, holds func(View) error) {
	o.witness.begun().check("always "+name, holds)
}

// check begins to check each commit, if what is stored now passes.
func (w *Witness) check(name string, check func(View) error) {
	p := &promise{name: name, wrote: check}
	if err := w.Look(check); err != nil {
		w.mu.Lock()
		w.fail(0, fmt.Sprintf("%s: %v\n    from the beginning", name, err))
		w.mu.Unlock()
		return
	}
	w.promise(p)
}

// Eventually lets time pass until holds returns nil, and fails when it has not after a time of the server's clock. Meanwhile
// controllers work: a manual clock moves from one timer to the next, any other is waited for, in a bubble without taking time.
// In a test that began with RunT an error ends the test.
//
//	srv.Eventually("the site is gone", time.Minute, func(view fake.View) error { … })
func (o *Oracles) Eventually(name string, within time.Duration, holds func(View) error) error {
	w := o.witness.begun()
	more := make(chan struct{}, 1)
	w.mu.Lock()
	w.written = append(w.written, more)
	w.mu.Unlock()
	defer w.forget(more)
	err := w.await(within, more, func() error { return w.Look(holds) })
	if err == nil {
		return nil
	}
	err = fmt.Errorf("kubesim: eventually %s: not after %s: %w", name, within, err)
	if w.test != nil {
		w.test.Fatalf("%v", err)
	}
	return err
}

func (w *Witness) forget(c chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, x := range w.written {
		if x == c {
			w.written = append(w.written[:i:i], w.written[i+1:]...)
			return
		}
	}
}

// await lets time pass until holds returns nil, and returns its last error when that took too long. more is signalled when
// somebody has written.
func (w *Witness) await(within time.Duration, more <-chan struct{}, holds func() error) error {
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

// awaitManual is await where time stands still unless it is moved.
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
