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

// lock is the Cluster's lock. Lock first does all work that has become due. Unlock runs the reactions of servers and controllers to
// the changes made under the lock. A function that needs the lock has the suffix Locked if a function of the same name takes the
// lock.
//
//	Lock ─▶ compactions that are due ─▶ … ─▶ what faults put off ─▶ default roles of servers that started ─▶ reconcile until nothing is due ─▶ Unlock ─▶ ask others
type lock struct {
	mu sync.Mutex
	parts
}

// parts are what Lock and Unlock work on.
type parts struct {
	schedule    *clock.Schedule
	history     *history.History
	observer    *observe.Observer
	servers     *replica.Set
	controllers *controller.Manager
	aggregator  *aggregator.Aggregator
	writeGap    time.Duration // Options.WriteGap
	bare        bool          // Options.Bare: API servers have no default roles to put back
}

// Do runs f under the lock.
func (l *lock) Do(f func()) {
	l.Lock()
	defer l.Unlock()
	f()
}

// TryDo runs f under the lock for a caller outside of the Cluster's time: nothing that is due is done before it or after it. If the
// lock is held, TryDo returns false at once and does not run f.
func (l *lock) TryDo(f func()) bool {
	if !l.mu.TryLock() {
		return false
	}
	defer l.mu.Unlock()
	f()
	return true
}

// Lock implements sync.Locker.
func (l *lock) Lock() {
	l.mu.Lock()
	l.history.CatchUp()
	l.controllers.RenewHeartbeats()
}

// timerLock locks the Cluster for a timer. Unlike lock it does not renew node heartbeats, because no client can observe them.
type timerLock struct{ *lock }

// Lock implements sync.Locker.
func (t timerLock) Lock() {
	t.mu.Lock()
	t.history.CatchUp()
}

// Unlock runs the reactions of API servers and controllers to the changes made under the lock, and releases it. Their requests to
// aggregated servers are sent after that.
func (l *lock) Unlock() {
	l.observer.After()
	_ = l.putBackPolicies() // the real server logs the error and goes on
	l.controllers.Run()
	asks := l.aggregator.TakeAsks()
	l.mu.Unlock()
	for _, ask := range asks {
		ask()
	}
}

// putBackPolicies lets each API server that has been started since the last call put back the default roles and bindings.
func (l *lock) putBackPolicies() *status.Status {
	for _, server := range l.servers.TakeStarted() {
		if l.bare {
			continue
		}
		if s := putBackPolicies(server); s != nil {
			return s
		}
	}
	return nil
}

// Unlocked calls f without the lock, in the middle of a request.
func (l *lock) Unlocked(f func()) {
	l.mu.Unlock()
	defer l.Lock()
	f()
}

// Wait returns when t of the Cluster's time has passed, or ctx ends. It is called without the lock.
func (l *lock) Wait(ctx context.Context, t time.Duration) {
	passed := make(chan struct{})
	var stop func()
	l.Do(func() { stop = l.schedule.After(t, func() { close(passed) }) })
	select {
	case <-passed:
	case <-ctx.Done():
		l.Do(stop)
	}
}

// Within returns a context that ends when t of the Cluster's time has passed. It is called without the lock.
func (l *lock) Within(t time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	var forget func()
	l.Do(func() { forget = l.schedule.After(t, func() { cancel(context.DeadlineExceeded) }) })
	return ctx, func() {
		l.Do(forget)
		cancel(nil)
	}
}

// Pause lets the time between two writes of one request pass.
func (l *lock) Pause() {
	if l.writeGap > 0 {
		l.Unlocked(func() { l.Wait(context.Background(), l.writeGap) })
	}
}
