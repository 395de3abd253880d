// Package clock is where every part of the simulator gets the time from.
//
// [System] is package time: real time, and virtual time inside a testing/synctest bubble. [Manual] moves only by calls:
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
// A Manual starts no goroutine: callbacks run inside the call that moves the
// time, in an order that is always the same. Goroutines that wait for a channel
// are woken in that order too, but run when Go's scheduler pleases.
//
// Code that wants a k8s.io/utils/clock.WithTicker gets one from [As].
package clock

import (
	"sync"
	"time"
)

// Clock returns the time and sets timers. Every Clock in this package is safe for concurrent use.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// Since returns the time that has passed since t.
	Since(t time.Time) time.Duration
	// NewTimer returns a timer that sends the time on its channel once, after d.
	NewTimer(d time.Duration) Timer
	// NewTicker returns a ticker that sends the time on its channel every d.
	// It panics if d is not above zero, as time.NewTicker does.
	NewTicker(d time.Duration) Ticker
	// AfterFunc calls f after d, unless the timer is stopped before.
	// The timer's channel is nil.
	AfterFunc(d time.Duration, f func()) Timer
	// After returns the channel of a new timer.
	After(d time.Duration) <-chan time.Time
	// Tick returns the channel of a new ticker; nil if d is not above zero.
	Tick(d time.Duration) <-chan time.Time
	// Sleep returns after d; at once if d is not above zero.
	Sleep(d time.Duration)
}

// Timer is one event in the future. Its methods behave like those of time.Timer since Go 1.23: after Stop or Reset, the channel
// holds no value from before.
type Timer interface {
	// C returns the channel the time is sent on; nil for a timer of AfterFunc.
	C() <-chan time.Time
	// Stop prevents the timer from firing.
	// It reports whether it did: false if the timer had been stopped before,
	// had called its function, or had sent a time that was received.
	Stop() bool
	// Reset sets the timer again, to fire after d. It returns the result that Stop would have returned.
	Reset(d time.Duration) bool
}

// Ticker is a repeated event. If a tick has not been received when the next one is due, the next one is dropped.
type Ticker interface {
	// C returns the channel the ticks are sent on.
	C() <-chan time.Time
	// Stop ends the ticks. It does not close the channel.
	Stop()
}

// Epoch returns the default time at which a simulation starts: 2026-01-01 00:00:00 UTC.
func Epoch() time.Time {
	return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
}

// As is a clock as another package declares it: its NewTimer and AfterFunc
// return a T, its NewTicker a K, so that it implements that package's interface.
//
// In Go a method implements an interface only if its result type is the same
// one, and k8s.io/utils/clock defines Timer and Ticker types of its own. They
// have the same methods as ours, so one line makes a controller under test
// share the simulator's clock, without this module requiring k8s.io/utils:
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

// Skewed is the clock of a machine whose time of day was set: Now is that of another clock, plus the sum of all jumps.
//
//	base    00:00 ──────── 00:10 ──────── 00:20
//	Skewed  00:00 ──────── 00:10 ┄Jump┄▶ 01:20
//
// Timers run on the base clock and do not notice a jump, as those of package time do not: a machine that sets its time does not
// sleep longer or shorter. The jump is noticed by code that keeps a time and compares it with Now later, when the time has lost its
// monotonic reading on the way: through JSON, a file, or Round. NewSkewed makes one; it is safe for concurrent use.
type Skewed struct {
	Clock // the base

	mu     sync.Mutex
	offset time.Duration
}

var _ Clock = (*Skewed)(nil)

// NewSkewed returns a clock with the time of base until it jumps.
func NewSkewed(base Clock) *Skewed { return &Skewed{Clock: base} }

// Jump sets the time of day forward by d, or back by a d below zero.
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

// Since returns how far Now is from t: a jump between the two counts.
func (s *Skewed) Since(t time.Time) time.Duration { return s.Now().Sub(t) }
