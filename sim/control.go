package sim

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/controller"
)

const (
	// rest is the time for which nothing must become due before the controllers count as settled. It is less than the 15 s between
	// two checks of an autoscaler, and more than the delay before a retry that can succeed.
	rest = 10 * time.Second
	// settleMax is the maximum time that controllers may take to settle.
	settleMax = 10 * time.Minute
	// settleQuiet is the time without writes after which controllers count as settled, although they still retry. For example, the
	// namespace controller retries as long as an object in a deleted namespace has a finalizer.
	settleQuiet = time.Minute
)

// Control calls f with the manager of the Cluster's controllers, for example to inspect their pending work, to stop, delay or crash
// one of them, or to determine the order in which they run. The Cluster's lock is held: f must not send requests to the Cluster.
func (c *Cluster) Control(f func(*controller.Manager)) {
	c.do(func() { f(c.controllers) })
}

// Settle lets controllers run, and advances the clock, until nothing is due within the next ten seconds, except for periodic upkeep
// such as node heartbeats, or until no controller has written anything for a minute. It advances a clock.Manual, and waits for any
// other clock. If the controllers do not settle within ten minutes, Settle returns an error that names the remaining items. If ctx is
// done first, it returns the error of ctx.
func (c *Cluster) Settle(ctx context.Context) error {
	for began := c.clock.Now(); ; {
		moving := c.Moving()
		now := c.clock.Now()
		switch {
		case len(moving) == 0:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case moving[0].At.After(now) && now.Sub(c.lastEffect(began)) >= settleQuiet:
			return nil
		case now.Sub(began) > settleMax || !moving[0].At.After(now):
			return unsettled(moving, now.Sub(began))
		}
		c.pass(ctx, moving[0].At.Sub(now))
	}
}

// lastEffect returns the time of the last reconcile that has written something, but not before a given time.
func (c *Cluster) lastEffect(since time.Time) time.Time {
	if wrote := under(c, c.controllers.Wrote); wrote.After(since) {
		return wrote
	}
	return since
}

// Moving lets controllers process everything that is due, including items that are waiting for a step. It returns the items that
// are due within the next ten seconds, earliest first, except for periodic upkeep. If an item is still due now, the controllers
// will never settle.
func (c *Cluster) Moving() (moving []controller.Waiting) {
	c.do(func() {
		c.controllers.ReconcileAll()
		moving = c.controllers.Moving(rest)
	})
	return moving
}

// pass advances a clock.Manual by d, or waits until d has passed.
func (c *Cluster) pass(ctx context.Context, d time.Duration) {
	if k, ok := c.clock.(*clock.Manual); ok {
		k.Advance(d)
		return
	}
	c.lock.Wait(ctx, d)
}

// unsettled returns an error that names the items which are still due.
func unsettled(moving []controller.Waiting, after time.Duration) error {
	const named = 10
	var text []string
	for _, w := range moving[:min(len(moving), named)] {
		text = append(text, w.Item.String())
	}
	if n := len(moving) - named; n > 0 {
		text = append(text, fmt.Sprintf("%d more", n))
	}
	return fmt.Errorf("controllers have not settled in %s: the remaining work is %s", after, strings.Join(text, ", "))
}
