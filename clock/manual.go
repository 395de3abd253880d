package clock

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Manual is a clock that is moved only by Advance, AdvanceTo and Step.
//
// Timers fire in the order of their deadlines, and those with equal deadlines in the order in which they were set. A ticker is set
// again each time it fires. While a timer fires, Now is its deadline.
//
// A callback of AfterFunc runs during the call that moves the time. The clock holds no lock then, so the callback may call any
// method of the clock. A nested Advance takes effect at once: it fires the due timers and moves the time before it returns, and
// then the outer Advance continues from that time. Advances from several goroutines interleave. Time never goes back.
//
// A channel timer with a duration of zero or less fires when it is set. A callback with such a duration waits for the next Advance
// (Advance(0) suffices) or Step; if AfterFunc ran it, it could deadlock on a lock that its caller holds.
//
// It is safe for concurrent use. Use NewManual to create one.
type Manual struct {
	mu    sync.Mutex
	now   time.Time
	queue []*timer // pending timers in the order in which they fire
	sets  uint64   // number of times that a timer was set
}

var _ Clock = (*Manual)(nil)

// NewManual returns a clock with the time start. It keeps start's time zone.
func NewManual(start time.Time) *Manual {
	return &Manual{now: start.Round(0)} // remove the monotonic reading
}

// Now returns the current time of the clock.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Since returns the time that has passed since t.
func (m *Manual) Since(t time.Time) time.Duration { return m.Now().Sub(t) }

// NewTimer returns a timer that sends the time on its channel once, after d.
func (m *Manual) NewTimer(d time.Duration) Timer {
	return m.start(&timer{clock: m, channel: make(chan time.Time, 1)}, d)
}

// NewTicker returns a ticker that sends the time on its channel every d. It panics if d is not positive.
func (m *Manual) NewTicker(d time.Duration) Ticker {
	if d <= 0 {
		panic(fmt.Sprintf("clock: NewTicker(%v): the interval is not above zero", d))
	}
	return ticker{m.start(&timer{clock: m, channel: make(chan time.Time, 1), period: d}, d)}
}

// AfterFunc calls f after d, during the call that moves the clock to that time.
func (m *Manual) AfterFunc(d time.Duration, f func()) Timer {
	return m.start(&timer{clock: m, callback: f}, d)
}

// After returns the channel of a new timer.
func (m *Manual) After(d time.Duration) <-chan time.Time { return m.NewTimer(d).C() }

// Tick returns the channel of a new ticker, or nil if d is not positive.
func (m *Manual) Tick(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return m.NewTicker(d).C()
}

// Sleep waits until the clock has moved by d. It returns at once if d is not positive. Only another goroutine can move the clock in
// the meantime.
func (m *Manual) Sleep(d time.Duration) { <-m.After(d) }

// Advance moves the time by d and fires the timers that become due. A negative d is treated as zero.
func (m *Manual) Advance(d time.Duration) { m.AdvanceTo(m.Now().Add(d)) }

// firesMax is the maximum number of timers that may fire at one instant. If more of them fire, a callback keeps setting itself
// without a delay.
const firesMax = 1 << 20

// AdvanceTo moves the time to t and fires the timers that become due, including timers that callbacks set. If t is in the past, the
// time does not change, and only timers that are due now fire.
//
// It panics if more than a million timers fire at one instant, because it would never return.
func (m *Manual) AdvanceTo(t time.Time) {
	var instant time.Time
	for fires := 0; ; fires++ {
		m.mu.Lock()
		if len(m.queue) == 0 || m.queue[0].deadline.After(t) && m.queue[0].deadline.After(m.now) {
			if t.After(m.now) {
				m.now = t.Round(0).In(m.now.Location())
			}
			m.mu.Unlock()
			return
		}
		callback := m.fireLocked()
		if m.now.After(instant) {
			instant, fires = m.now, 0
		}
		m.mu.Unlock()
		if fires == firesMax {
			panic(fmt.Sprintf("clock: %d timers fired at %v and more are due", fires, instant))
		}
		if callback != nil {
			callback()
		}
	}
}

// Step moves the time to the earliest timer and fires only that timer. It reports whether there was one.
func (m *Manual) Step() bool {
	m.mu.Lock()
	if len(m.queue) == 0 {
		m.mu.Unlock()
		return false
	}
	callback := m.fireLocked()
	m.mu.Unlock()
	if callback != nil {
		callback()
	}
	return true
}

// Next returns the deadline of the earliest timer, and whether there is one.
func (m *Manual) Next() (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 {
		return time.Time{}, false
	}
	return m.queue[0].deadline, true
}

// Waiters returns the number of pending timers and tickers. After and Sleep count as timers.
func (m *Manual) Waiters() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queue)
}

// fireLocked removes the earliest timer from the queue, moves the time to its deadline, and sends the time. It returns the
// callback, which the caller runs after releasing m.mu, or nil for a channel timer.
func (m *Manual) fireLocked() func() {
	t := m.queue[0]
	m.queue = slices.Delete(m.queue, 0, 1)
	m.now = t.deadline // never before m.now: see setLocked
	if t.channel != nil {
		t.sendLocked()
	}
	if t.period > 0 {
		m.setLocked(t, t.period)
	}
	return t.callback
}

// timer is a Timer of a Manual. Its fields are guarded by clock.mu.
type timer struct {
	clock    *Manual
	channel  chan time.Time // buffered; if nil, callback is called instead
	callback func()
	period   time.Duration // interval of a ticker, or 0
	deadline time.Time
	turn     uint64 // value of clock.sets when it was set, which orders equal deadlines
}

// C returns the channel on which the time is sent. It is nil for a timer of AfterFunc.
func (t *timer) C() <-chan time.Time { return t.channel }

// Stop prevents the timer from firing, and reports whether it did.
func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.clock.unsetLocked(t)
}

// Reset restarts the timer. It returns the value that Stop would have returned.
func (t *timer) Reset(d time.Duration) bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	pending := t.clock.unsetLocked(t)
	t.clock.setLocked(t, d)
	return pending
}

// sendLocked sends the time, unless the previous one has not been received. The caller must hold clock.mu.
func (t *timer) sendLocked() {
	select {
	case t.channel <- t.clock.now:
	default:
	}
}

// ticker is a Ticker of a Manual: a timer with a period.
type ticker struct{ timer *timer }

func (t ticker) C() <-chan time.Time { return t.timer.channel }
func (t ticker) Stop()               { t.timer.Stop() }

func (m *Manual) start(t *timer, d time.Duration) *timer {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.setLocked(t, d)
	return t
}

// setLocked adds t to the queue. Its deadline is never before the current time. The caller must hold m.mu.
func (m *Manual) setLocked(t *timer, d time.Duration) {
	m.sets++
	t.deadline, t.turn = m.now.Add(max(d, 0)), m.sets
	if d <= 0 && t.channel != nil {
		t.sendLocked()
		return
	}
	i, _ := slices.BinarySearchFunc(m.queue, t, firesBefore)
	m.queue = slices.Insert(m.queue, i, t)
}

// unsetLocked removes t from the queue, and an unreceived time from its channel. It reports whether there was either. The caller
// must hold m.mu.
func (m *Manual) unsetLocked(t *timer) bool {
	i, pending := slices.BinarySearchFunc(m.queue, t, firesBefore)
	if pending {
		m.queue = slices.Delete(m.queue, i, i+1)
	}
	select {
	case <-t.channel:
		return true
	default:
		return pending
	}
}

// firesBefore compares timers in the order of the queue: by deadline, then by turn.
func firesBefore(a, b *timer) int {
	return cmp.Or(a.deadline.Compare(b.deadline), cmp.Compare(a.turn, b.turn))
}
