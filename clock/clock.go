// Package clock provides the time for all parts of the simulator.
//
// [System] is package time: real time, or virtual time in a testing/synctest bubble. [Manual] moves only on request:
//
//	m := clock.NewManual(clock.Epoch())
//	m.AfterFunc(2*time.Second, a)
//	m.AfterFunc(time.Second, b)
//	m.AfterFunc(2*time.Second, c)
//
//	now 00:00   queue  b@00:01  a@00:02  c@00:02     earliest first, then the order set
//	m.Step()           fires b while Now is 00:01
//	now 00:01   queue  a@00:02  c@00:02
//	m.Advance(time.Minute)           fires a, then c, while Now is 00:02
//	now 01:01   queue  (empty)
//
// A Manual does not start goroutines: callbacks run during the call that moves the time, always in the same order. Goroutines that
// wait for a channel are also woken in that order, but Go's scheduler decides when they run.
//
// [As] converts a Clock to a k8s.io/utils/clock.WithTicker.
package clock

import (
	"sync"
	"time"
)

// Clock returns the time and creates timers. Every Clock in this package is safe for concurrent use.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// Since returns the time that has passed since t.
	Since(t time.Time) time.Duration
	// NewTimer returns a timer that sends the time on its channel once, after d.
	NewTimer(d time.Duration) Timer
	// NewTicker returns a ticker that sends the time on its channel every d. Like time.NewTicker, it panics if d is not positive.
	NewTicker(d time.Duration) Ticker
	// AfterFunc calls f after d, unless the timer is stopped before. The timer's channel is nil.
	AfterFunc(d time.Duration, f func()) Timer
	// After returns the channel of a new timer.
	After(d time.Duration) <-chan time.Time
	// Tick returns the channel of a new ticker, or nil if d is not positive.
	Tick(d time.Duration) <-chan time.Time
	// Sleep waits for d. It returns at once if d is not positive.
	Sleep(d time.Duration)
}

// Timer is a single event in the future. Its methods behave like those of time.Timer since Go 1.23: after Stop or Reset, the
// channel does not contain an earlier value.
type Timer interface {
	// C returns the channel on which the time is sent. It is nil for a timer of AfterFunc.
	C() <-chan time.Time
	// Stop prevents the timer from firing. It returns false if the timer had already been stopped, had called its function, or had
	// sent a time that was received.
	Stop() bool
	// Reset restarts the timer with duration d. It returns the value that Stop would have returned.
	Reset(d time.Duration) bool
}

// Ticker is a repeated event. If a tick has not been received when the next one is due, the next one is dropped.
type Ticker interface {
	// C returns the channel on which the ticks are sent.
	C() <-chan time.Time
	// Stop stops the ticker. It does not close the channel.
	Stop()
}

// Epoch returns the default time at which a simulation starts: 2026-01-01 00:00:00 UTC.
func Epoch() time.Time {
	return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
}

// As adapts a Clock to the clock interface of another package. NewTimer and AfterFunc return a T, and NewTicker returns a K, so
// that it implements that interface.
//
// In Go a method implements an interface only if its result type is identical, and k8s.io/utils/clock defines its own Timer and
// Ticker types. They have the same methods as those of this package. With the following line a controller under test shares the
// simulator's clock, although this module does not require k8s.io/utils:
//
//	var c kclock.WithTickerAndDelayedExecution = clock.As[kclock.Timer, kclock.Ticker]{Clock: m}
//
// T and K must be interface types with no other methods than Timer and Ticker.
type As[T Timer, K Ticker] struct{ Clock }

// NewTimer returns a timer that sends the time on its channel once, after d.
func (a As[T, K]) NewTimer(d time.Duration) T { return a.Clock.NewTimer(d).(T) }

// NewTicker returns a ticker that sends the time on its channel every d.
func (a As[T, K]) NewTicker(d time.Duration) K { return a.Clock.NewTicker(d).(K) }

// AfterFunc calls f after d.
func (a As[T, K]) AfterFunc(d time.Duration, f func()) T { return a.Clock.AfterFunc(d, f).(T) }

// Skewed is the clock of a machine whose time of day was changed: Now is the time of another clock plus the sum of all jumps.
//
//	base    00:00 ──────── 00:10 ──────── 00:20
//	Skewed  00:00 ──────── 00:10 ┄Jump┄▶ 01:20
//
// Timers run on the base clock and are not affected by a jump, like those of package time: a machine does not sleep longer or
// shorter because its time is set. A jump is visible to code that stores a time and later compares it with Now, if the stored time
// has lost its monotonic reading, for example by conversion to JSON or by Round. Use NewSkewed to create one. It is safe for
// concurrent use.
type Skewed struct {
	Clock // base clock

	mu     sync.Mutex
	offset time.Duration
}

var _ Clock = (*Skewed)(nil)

// NewSkewed returns a clock with the time of base, until Jump is called.
func NewSkewed(base Clock) *Skewed { return &Skewed{Clock: base} }

// Jump moves the time of day forward by d, or back if d is negative.
func (s *Skewed) Jump(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offset += d
}

// Now returns the time of day. It has no monotonic reading.
func (s *Skewed) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Clock.Now().Round(0).Add(s.offset)
}

// Since returns the difference between Now and t, including jumps between the two.
func (s *Skewed) Since(t time.Time) time.Duration { return s.Now().Sub(t) }
