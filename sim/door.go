package sim

import (
	"context"
	"sync"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/aggregator"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/observe"
	"github.com/kubesim/kubesim/sim/replica"
	"github.com/kubesim/kubesim/sim/status"
)

// door is the way into a Cluster, one at a time: whoever comes in finds done what has become due, and what servers do by
// themselves after him is done before the next comes in. A function that needs the lock is called …Locked where another of
// its name takes it.
//
//	Lock ─▶ compactions that are due ─▶ … ─▶ what faults put off ─▶ default roles of servers that started ─▶ reconcile until nothing is due ─▶ Unlock ─▶ ask others
type door struct {
	mu sync.Mutex
	parts
}

// parts are what is caught up with and done at the door.
type parts struct {
	schedule    *clock.Schedule
	history     *history.History
	observer    *observe.Observer
	servers     *replica.Set
	controllers *controller.Manager
	aggregator  *aggregator.Aggregator
	gap         time.Duration // Options.WriteGap
	bare        bool          // Options.Bare: API servers have no default roles to put back
}

// Do runs f under the lock.
func (d *door) Do(f func()) {
	d.Lock()
	defer d.Unlock()
	f()
}

// Peek runs f under the lock for somebody who is not in the Cluster's time: nothing is caught up with, and nothing done after it.
// It does not wait: false, and f did not run, if somebody has the lock.
func (d *door) Peek(f func()) bool {
	if !d.mu.TryLock() {
		return false
	}
	defer d.mu.Unlock()
	f()
	return true
}

// Lock is sync.Locker's.
func (d *door) Lock() {
	d.mu.Lock()
	d.history.CatchUp()
	d.controllers.Beat()
}

// timed is the door as timers come in: nobody looks who would have to see that hearts beat.
type timed struct{ *door }

// Lock is sync.Locker's.
func (t timed) Lock() {
	t.mu.Lock()
	t.history.CatchUp()
}

// Unlock does what the API servers do by themselves after what was done under the lock, and gives it back. What they ask
// aggregated servers for by themselves, they ask then.
func (d *door) Unlock() {
	d.observer.After()
	_ = d.putBackPolicies() // the real server logs the error and goes on
	d.controllers.Run()
	asks := d.aggregator.TakeAsks()
	d.mu.Unlock()
	for _, ask := range asks {
		ask()
	}
}

// putBackPolicies lets each API server that has been started since the last call put back the default roles and bindings.
func (d *door) putBackPolicies() *status.Status {
	for _, server := range d.servers.TakeStarted() {
		if d.bare {
			continue
		}
		if s := putBackPolicies(server); s != nil {
			return s
		}
	}
	return nil
}

// Outside calls f without the lock, in the middle of a request.
func (d *door) Outside(f func()) {
	defer d.observer.Aside()()
	defer d.controllers.Aside()()
	defer d.servers.Conversions.HoldLock()()
	d.mu.Unlock()
	defer d.Lock()
	f()
}

// Wait returns when t of the Cluster's time has passed, or ctx ends. It is called without the lock.
func (d *door) Wait(ctx context.Context, t time.Duration) {
	passed := make(chan struct{})
	var stop func()
	d.Do(func() { stop = d.schedule.After(t, func() { close(passed) }) })
	select {
	case <-passed:
	case <-ctx.Done():
		d.Do(stop)
	}
}

// Within returns a context that ends when t of the Cluster's time has passed. It is called without the lock.
func (d *door) Within(t time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	var forget func()
	d.Do(func() { forget = d.schedule.After(t, func() { cancel(context.DeadlineExceeded) }) })
	return ctx, func() {
		d.Do(forget)
		cancel(nil)
	}
}

// Pause lets the time between two writes of one request pass.
func (d *door) Pause() {
	if d.gap > 0 {
		d.Outside(func() { d.Wait(context.Background(), d.gap) })
	}
}
