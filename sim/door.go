package sim

import (
	"context"
	"sync"
	"time"
)

// door is the way into a Cluster, one at a time: whoever comes in finds done what has become due, and what servers do by
// themselves after him is done before the next comes in. A function that needs the lock is called …Locked where another of
// its name takes it.
//
//	Lock ─▶ compactions that are due ─▶ … ─▶ what faults put off ─▶ reconcile until nothing is due ─▶ Unlock ─▶ ask others
type door struct {
	mu sync.Mutex
	c  *Cluster
}

// do runs f under the lock.
func (c *Cluster) do(f func()) {
	c.door.Lock()
	defer c.door.Unlock()
	f()
}

// Do is do, for those who have the door only.
func (d *door) Do(f func()) { d.c.do(f) }

// Lock is sync.Locker's.
func (d *door) Lock() {
	d.mu.Lock()
	d.c.history.CatchUp()
}

// Unlock does what the API servers do by themselves after what was done under the lock, and gives it back. What they ask
// aggregated servers for by themselves, they ask then.
func (d *door) Unlock() {
	d.c.observer.After()
	d.c.controllers.Settle()
	asks := d.c.aggregator.TakeAsks()
	d.mu.Unlock()
	for _, ask := range asks {
		ask()
	}
}

// Outside calls f without the lock, in the middle of a request.
func (d *door) Outside(f func()) {
	c := d.c
	defer c.observer.Aside()()
	defer c.controllers.Aside()()
	defer c.servers.Conversions.HoldLock()()
	d.mu.Unlock()
	defer d.Lock()
	f()
}

// Wait returns when t of the Cluster's time has passed, or ctx ends. It is called without the lock.
func (d *door) Wait(ctx context.Context, t time.Duration) {
	passed := make(chan struct{})
	var stop func()
	d.c.do(func() { stop = d.c.schedule.After(t, func() { close(passed) }) })
	select {
	case <-passed:
	case <-ctx.Done():
		d.c.do(stop)
	}
}

// Within returns a context that ends when t of the Cluster's time has passed. It is called without the lock.
func (d *door) Within(t time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	var forget func()
	d.c.do(func() { forget = d.c.schedule.After(t, func() { cancel(context.DeadlineExceeded) }) })
	return ctx, func() {
		d.c.do(forget)
		cancel(nil)
	}
}

// Pause lets the time between two writes of one request pass.
func (d *door) Pause() {
	if gap := d.c.options.WriteGap; gap > 0 {
		d.Outside(func() { d.Wait(context.Background(), gap) })
	}
}
