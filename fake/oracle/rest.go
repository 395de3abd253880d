package oracle

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/observe"
)

const (
	// restWithin is the time in which clients must come to rest. They are at rest after restFor without writes.
	restWithin, restFor = 10 * time.Minute, 30 * time.Second
	// restSamples is the maximum number of unexpected writes shown in a failure.
	restSamples = 3
)

// quiet counts the writes of clients. It ignores leases, which are renewed forever, and writes without a request: those
// of the simulator's own controllers and kubelets, and of the store.
type quiet struct {
	n       int
	samples []*Write
}

func (q *quiet) wrote(e *commit.Commit, by *observe.Actor, record uint64) {
	if e.Definition == nil || e.Storage == "leases.coordination.k8s.io" || by.Exchange == nil {
		return
	}
	if q.n++; len(q.samples) < restSamples {
		q.samples = append(q.samples, newWrite(e, by, record))
	}
}

// AtRest asserts that nothing is written for d unless something changes: no controller conflicts with a default, with
// another controller, or with itself. Before that, clients have at most ten minutes of the server's clock to come to
// rest. Renewals of leases and writes of the simulator's controllers and kubelets do not count. AtRest advances a
// manual clock. With any other clock it waits, which takes no real time in a bubble.
//
//	srv.AtRest(t, 24*time.Hour)
func (o *Oracles) AtRest(t TB, d time.Duration) {
	t.Helper()
	w := o.observer.begun()
	q := w.watchWrites()
	defer w.unwatchWrites(q)
	for began := w.cluster.Clock().Now(); ; {
		w.pass(restFor)
		seen := w.counted(q)
		if seen.n == 0 {
			break
		}
		if w.cluster.Clock().Now().Sub(began) > restWithin {
			Errorf(t)("kubesim: not at rest: there are still writes after %s%s", restWithin, seen)
			return
		}
	}
	w.pass(d)
	if seen := w.counted(q); seen.n > 0 {
		Errorf(t)("kubesim: not at rest: %d writes in %s without an external change%s", seen.n, d, seen)
	}
}

// counted returns the count so far and resets it.
func (w *Observer) counted(q *quiet) *quiet {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := *q
	*q = quiet{}
	return &seen
}

// String describes some of the writes.
func (q *quiet) String() string {
	var b strings.Builder
	for _, w := range q.samples {
		fmt.Fprintf(&b, "\n    %s  %s\n%s", stamp(w.At), w, indented(w.Diff(), "        "))
	}
	return b.String()
}

// errGoesOn is returned to await so that it waits until its deadline.
var errGoesOn = errors.New("time goes on")

// pass waits for d.
func (w *Observer) pass(d time.Duration) {
	_ = w.await(d, nil, func() error { return errGoesOn }) // the condition never holds
}

func (w *Observer) watchWrites() *quiet {
	q := &quiet{}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quiet = append(w.quiet, q)
	return q
}

func (w *Observer) unwatchWrites(q *quiet) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, x := range w.quiet {
		if x == q {
			w.quiet = append(w.quiet[:i:i], w.quiet[i+1:]...)
			return
		}
	}
}
