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
	// rest is the time in which nothing may be due if controllers are to count as settled: less than the 15 s between two checks of
	// an autoscaler, and more than the pause before a retry that can succeed.
	rest = 10 * time.Second
	// settleMax is the time in which controllers have to settle.
	settleMax = 10 * time.Minute
)

// Control calls f with the manager of the Cluster's controllers: to inspect their pending work, to stop, delay or crash one of
// them, or to decide in which order they run. The Cluster's lock is held: f must not send requests to the Cluster.
func (c *Cluster) Control(f func(*controller.Manager)) {
	c.do(func() { f(c.controllers) })
}

// Settle lets controllers work, and time pass, until they have nothing to do for the next ten seconds, upkeep such as the
// heartbeats of nodes aside. It advances a clock.Manual and waits for any other clock. If the controllers do not settle within ten
// minutes, the error names the remaining items. If ctx ends first, Settle returns its error.
func (c *Cluster) Settle(ctx context.Context) error {
	for began := c.clock.Now(); ; {
		moving := c.Moving()
		now := c.clock.Now()
		switch {
		case len(moving) == 0:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case now.Sub(began) > settleMax || !moving[0].At.After(now):
			return unsettled(moving, now.Sub(began))
		}
		c.pass(ctx, moving[0].At.Sub(now))
	}
}

// Moving lets controllers do everything that is due, including items that wait for a step, and returns the items that are due in
// the next ten seconds, upkeep aside: the earliest first. An item that is still due now will never come to rest.
func (c *Cluster) Moving() (moving []controller.Waiting) {
	c.do(func() {
		c.controllers.ReconcileAll()
		moving = c.controllers.Moving(rest)
	})
	return moving
}

// pass lets time pass.
func (c *Cluster) pass(ctx context.Context, d time.Duration) {
	if k, ok := c.clock.(*clock.Manual); ok {
		k.Advance(d)
		return
	}
	c.lock.Wait(ctx, d)
}

// unsettled returns the error that names the remaining items.
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
