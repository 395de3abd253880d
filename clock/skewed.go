package clock

import (
	"sync"
	"time"
)

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
