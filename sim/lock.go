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

// lock is the Cluster's lock. Lock first processes everything that has become due. Unlock runs the reactions of servers and
// controllers to the changes made under the lock. A function that requires the lock has the suffix Locked if a function of the same
// name acquires it.
//
//	Lock ─▶ due compactions ─▶ … ─▶ effects that faults delayed ─▶ default roles of restarted servers ─▶ reconcile until nothing is due ─▶ Unlock ─▶ checks of aggregated servers
//
// If the cluster has a Progress, other requests are served after every hundred reconciles. The reconciling goroutine then also
// performs the reconciles that these requests cause.
type lock struct {
	mu sync.Mutex
	parts
	reconciling bool // a goroutine reconciles until nothing is due; it may have released the lock
	closed      bool
}

// parts contains the parts of the Cluster that Lock and Unlock use.
type parts struct {
	schedule    *clock.Schedule
	history     *history.History
	observer    *observe.Observer
	servers     *replica.Set
	controllers *controller.Manager
	aggregator  *aggregator.Aggregator
	writeGap    time.Duration // Options.WriteGap
	bare        bool          // Options.Bare: API servers do not restore default roles
}

// Do runs f with the lock held.
func (l *lock) Do(f func()) {
	l.Lock()
	defer l.Unlock()
	f()
}

// TryDo runs f with the lock held, but does not process anything that is due, neither before nor after f. It is for callers that
// must not affect the simulation. If the lock is already held, TryDo immediately returns false, without running f.
func (l *lock) TryDo(f func()) bool {
	if !l.mu.TryLock() {
		return false
	}
	defer l.mu.Unlock()
	f()
	return true
}

// yield calls f when no request is being processed. It does not process anything that is due.
func (l *lock) yield(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
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

// Unlock implements sync.Locker. It runs the reactions of API servers and controllers to the changes made under the lock, releases
// the lock, and then sends requests to aggregated servers.
func (l *lock) Unlock() {
	l.observer.After()
	_ = l.putBackPolicies() // the real server only logs the error
	l.reconcile()
	asks := l.aggregator.TakeAsks()
	l.mu.Unlock()
	for _, ask := range asks {
		ask()
	}
}

// reconcile runs the controllers until nothing is due, unless another goroutine does so already.
func (l *lock) reconcile() {
	if l.reconciling {
		return
	}
	l.reconciling = true
	l.controllers.Run(l.letOthers)
	l.reconciling = false
}

// letOthers releases the lock for waiting requests. It returns false if the Cluster was closed in the meantime.
func (l *lock) letOthers() bool {
	l.mu.Unlock()
	l.mu.Lock() // a sync.Mutex is handed over to a goroutine that has waited for more than a millisecond
	l.history.CatchUp()
	return !l.closed
}

// close makes a reconciling goroutine return the next time it would release the lock.
func (l *lock) close() { l.closed = true }

// putBackPolicies restores the default roles and bindings of each API server that was restarted since the last call. It returns the
// first error. If several servers have one minor version, only the first can find something to restore.
func (l *lock) putBackPolicies() *status.Status {
	minor := ""
	for _, server := range l.servers.TakeStarted() {
		if l.bare || server.Minor() == minor {
			continue
		}
		minor = server.Minor()
		if s := putBackPolicies(server); s != nil {
			return s
		}
	}
	return nil
}

// Unlocked calls f without the lock during a request.
func (l *lock) Unlocked(f func()) {
	l.mu.Unlock()
	defer l.Lock()
	f()
}

// Wait waits until t has passed on the Cluster's clock or ctx is done. It is called without the lock.
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

// Within returns a context that is done when t has passed on the Cluster's clock. It is called without the lock.
func (l *lock) Within(t time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	var forget func()
	l.Do(func() { forget = l.schedule.After(t, func() { cancel(context.DeadlineExceeded) }) })
	return ctx, func() {
		l.Do(forget)
		cancel(nil)
	}
}

// Pause waits for the configured time between two writes of one request.
func (l *lock) Pause() {
	if l.writeGap > 0 {
		l.Unlocked(func() { l.Wait(context.Background(), l.writeGap) })
	}
}
