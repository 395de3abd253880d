package fake

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/kubesim/kubesim/clock"
)

// lateMost is how much later than asked for a lateClock is, at most.
const lateMost = 1000 * time.Nanosecond

// lateClock is the server's clock in a run. Its functions run a little later than they should, by an amount that the seed
// decides: what the server does at a time then never falls together with what a client does at that time, whose order would be
// the runtime's choice.
type lateClock struct {
	clock.System
	due func() // called before each function

	mu   sync.Mutex
	rand *rand.Rand
}

func newLateClock(seed uint64, due func()) *lateClock {
	return &lateClock{due: due, rand: rand.New(rand.NewPCG(seed, 0x6c617465))}
}

// AfterFunc is clock.Clock's.
func (c *lateClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	c.mu.Lock()
	late := time.Duration(1 + c.rand.Int64N(int64(lateMost)))
	c.mu.Unlock()
	return c.System.AfterFunc(d+late, func() {
		c.due()
		f()
	})
}
