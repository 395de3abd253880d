// Package deadline limits the duration of a request.
//
//	the client's context ───────────┐
//	                                ├─▶ Err, asked before each commit; Context, given to whatever waits
//	a time on the Cluster's clock ──┘
//
// kube-apiserver gives a request 60 s (--request-timeout), or less if the client asks for that with ?timeout=, and a write of one
// object 34 s (k8s.io/apiserver: filters.WithRequestDeadline, handlers.requestTimeoutUpperBound). A request commits nothing after
// its client has gone away or its time is over.
package deadline

import (
	"context"
	"time"
)

// Clock is the clock that deadlines go by, such as a clock.Schedule. Functions given to After run with the Cluster's lock held.
type Clock interface {
	Now() time.Time
	After(d time.Duration, f func()) (stop func())
}

// Deadline ends one request. A nil Deadline and the zero value never end. The Cluster's lock guards it.
type Deadline struct {
	clock   Clock
	client  context.Context
	started time.Time
	limit   time.Duration // 0 means no limit

	ctx    context.Context // what Context returns; nil before the first call
	cancel context.CancelCauseFunc
	stop   func() // the timer of ctx
	ended  []func()
}

// Begin returns the Deadline of a request that begins now and may take limit, or any time if limit is 0. It ends with client, too,
// unless that is nil.
func Begin(clock Clock, client context.Context, limit time.Duration) Deadline {
	if client == nil {
		client = context.Background()
	}
	return Deadline{clock: clock, client: client, started: clock.Now(), limit: limit}
}

// Shorten limits the duration of the request, counted from its beginning, to limit. It has no effect after Context was called.
func (d *Deadline) Shorten(limit time.Duration) {
	if d.ctx == nil && (d.limit == 0 || limit < d.limit) {
		d.limit = limit
	}
}

// Err returns why the request has to end now: the error of the client's context, context.DeadlineExceeded when its time is over,
// else nil.
func (d *Deadline) Err() error {
	switch {
	case d == nil || d.client == nil:
		return nil
	case d.client.Err() != nil:
		return d.client.Err()
	case d.Over():
		return context.DeadlineExceeded
	}
	return nil
}

// Over reports whether the time of the request is over, whatever its client does.
func (d *Deadline) Over() bool { return d != nil && d.limit != 0 && d.Passed(d.limit) }

// Passed reports whether the request has taken at least as long as t.
func (d *Deadline) Passed(t time.Duration) bool { return d.clock.Now().Sub(d.started) >= t }

// Left returns how much time the request has left. ok is false if it may take any time.
func (d *Deadline) Left() (left time.Duration, ok bool) {
	if d == nil || d.limit == 0 {
		return 0, false
	}
	return d.limit - d.clock.Now().Sub(d.started), true
}

// Context returns a context that ends when the request has to: with the client's, or with context.DeadlineExceeded as its cause when
// the time is over. End releases it.
func (d *Deadline) Context() context.Context {
	if d == nil || d.client == nil {
		return context.Background()
	}
	if d.ctx == nil {
		d.ctx, d.cancel = context.WithCancelCause(d.client)
		d.arm()
	}
	return d.ctx
}

// OnOver calls f when the time of the request is over, unless End is called before.
func (d *Deadline) OnOver(f func()) {
	d.ended = append(d.ended, f)
	d.arm()
}

// arm starts the timer.
func (d *Deadline) arm() {
	if left, ok := d.Left(); ok && d.stop == nil {
		d.stop = d.clock.After(left, d.over)
	}
}

func (d *Deadline) over() {
	if d.cancel != nil {
		d.cancel(context.DeadlineExceeded)
	}
	for _, f := range d.ended {
		f()
	}
}

// End releases what Context and OnOver have begun. It may be called more than once.
func (d *Deadline) End() {
	if d.stop != nil {
		d.stop()
	}
	if d.cancel != nil {
		d.cancel(nil)
	}
}
