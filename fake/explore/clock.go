package explore

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake/chance"
)

// draws lets what the runtime draws hang on a seed and on how much has happened at a server, and on nothing else: what the
// process has drawn besides does not matter then.
type draws struct {
	seed        uint64
	n           atomic.Uint64 // how much has happened
	real        atomic.Int64  // when that was, in real time
	interrupter atomic.Int64  // and chance.Interrupter then
	disturbed   atomic.Bool   // the process was kept waiting, so that the runtime may have interrupted a goroutine
}

// next is called when something happens.
func (d *draws) next() {
	now, looked := int64(chance.Real()), int64(chance.Interrupter())
	last, had := d.real.Swap(now), d.interrupter.Swap(looked)
	if last != 0 && now-last > int64(chance.Interrupts)*9/10 && looked != had {
		d.disturbed.Store(true)
	}
	activity.Add(1)
	chance.Seed(d.seed<<32 + d.n.Add(1))
}

// lateMost is how much later than asked for a lateClock is, at most.
const lateMost = 1000 * time.Nanosecond

// lateClock is the server's clock in a run. Its functions run a little later than they should, by an amount that the seed
// decides: what the server does at a time then never falls together with what a client does at that time, whose order would be
// the runtime's choice.
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
