// Package deadline limits the duration of a request.
//
//	the client's context ───────────┐
//	                                ├─▶ Err, checked before each commit; Context, for operations that wait
//	a time on the Cluster's clock ──┘
//
// In kube-apiserver, a request may take 60 s (--request-timeout), or less if the client requests that with ?timeout=, and a write
// of one object may take 34 s (k8s.io/apiserver: filters.WithRequestDeadline, handlers.requestTimeoutUpperBound). A request commits
// nothing after its client has disconnected or its deadline has passed.
package deadline

import (
	"context"
	"time"
)

// Clock is the clock for deadlines, such as a clock.Schedule. Functions passed to After run with the Cluster's lock held.
type Clock interface {
	Now() time.Time
	After(d time.Duration, f func()) (stop func())
}

// Deadline limits the duration of one request. If it is nil or zero, there is no limit. The Cluster's lock guards it.
type Deadline struct {
	clock   Clock
	client  context.Context
	started time.Time
	limit   time.Duration // 0 means no limit

	ctx    context.Context // result of Context; nil until its first call
	cancel context.CancelCauseFunc
	stop   func() // the timer of ctx
	ended  []func()
}

// Begin returns the Deadline of a request that begins now and may take limit. If limit is 0, there is no limit. If client is not
// nil, the request must also end when that context is done.
func Begin(clock Clock, client context.Context, limit time.Duration) Deadline {
	if client == nil {
		client = context.Background()
	}
	return Deadline{clock: clock, client: client, started: clock.Now(), limit: limit}
}

// Shorten reduces the limit of the request, which is counted from the request's beginning. It has no effect after Context has been
// called.
func (d *Deadline) Shorten(limit time.Duration) {
	if d.ctx == nil && (d.limit == 0 || limit < d.limit) {
		d.limit = limit
	}
}

// Err returns the reason why the request must end now: the error of the client's context, or context.DeadlineExceeded if the limit
// is exceeded. If the request may continue, Err returns nil.
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

// Over reports whether the request has exceeded its limit, whether or not its client is still connected.
func (d *Deadline) Over() bool { return d != nil && d.limit != 0 && d.Passed(d.limit) }

// Passed reports whether the request has taken t or longer.
func (d *Deadline) Passed(t time.Duration) bool { return d.clock.Now().Sub(d.started) >= t }

// Left returns the remaining time of the request. If there is no limit, ok is false.
func (d *Deadline) Left() (left time.Duration, ok bool) {
	if d == nil || d.limit == 0 {
		return 0, false
	}
	return d.limit - d.clock.Now().Sub(d.started), true
}

// Context returns a context that is done when the request must end: when the client's context is done or, with the cause
// context.DeadlineExceeded, when the limit is exceeded. End releases the context.
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

// OnOver calls f when the limit of the request is exceeded, unless End is called first.
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

// End releases the resources of Context and OnOver. It may be called more than once.
func (d *Deadline) End() {
	if d.stop != nil {
		d.stop()
	}
	if d.cancel != nil {
		d.cancel(nil)
	}
}
