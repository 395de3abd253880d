package explore

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake/chance"
)

// draws makes the random choices of the runtime depend only on a seed and on the number of events at a server. Earlier
// random choices of the process do not matter.
type draws struct {
	seed      uint64
	n         atomic.Uint64 // the number of events
	real      atomic.Int64  // the real time of the last event
	disturbed atomic.Bool   // so much real time has passed between two events that the runtime may have preempted a goroutine
}

// next counts an event at the server and seeds the runtime's random choices again.
func (d *draws) next() {
	now := chance.Real()
	if last := d.real.Swap(int64(now)); last != 0 && now-time.Duration(last) > chance.Interrupts*9/10 {
		d.disturbed.Store(true)
	}
	activity.Add(1)
	showProgress(now)
	chance.Seed(d.seed<<32 + d.n.Add(1))
}

// lateMost is the maximum delay of timers of a lateClock.
const lateMost = 1000 * time.Nanosecond

// lateClock is the server's clock in a run. It delays each timer function by a small random time, which depends on the
// seed. Otherwise the server and a client could act at the same instant, in an order that depends on the runtime.
type lateClock struct {
	clock.System
	draws *draws

	mu   sync.Mutex
	rand *rand.Rand
}

func newLateClock(d *draws) *lateClock {
	return &lateClock{draws: d, rand: rand.New(rand.NewPCG(d.seed, 0x6c617465))}
}

// AfterFunc implements clock.Clock.
func (c *lateClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	c.mu.Lock()
	late := time.Duration(1 + c.rand.Int64N(int64(lateMost)))
	c.mu.Unlock()
	return c.System.AfterFunc(d+late, func() {
		c.draws.next()
		f()
	})
}
