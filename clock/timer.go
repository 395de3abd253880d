package clock

import (
	"cmp"
	"slices"
	"time"
)

// timer is a Timer of a Manual. Its fields are guarded by clock.mu.
type timer struct {
	clock    *Manual
	channel  chan time.Time // buffers one time; if nil, callback is called instead
	callback func()
	period   time.Duration // if above zero, it fires again and again
	deadline time.Time
	turn     uint64 // the value of clock.sets when it was set: the order among equal deadlines
}

// C returns the channel the time is sent on; nil for a timer of AfterFunc.
func (t *timer) C() <-chan time.Time { return t.channel }

// Stop prevents the timer from firing and reports whether it did.
func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.clock.unsetLocked(t)
}

// Reset sets the timer again and returns the result that Stop would have returned.
func (t *timer) Reset(d time.Duration) bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	pending := t.clock.unsetLocked(t)
	t.clock.setLocked(t, d)
	return pending
}

// sendLocked sends the time, unless the one before has not been received yet.
// It needs clock.mu.
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

// setLocked puts t into the queue. No deadline is before the current time.
// It needs m.mu.
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

// unsetLocked takes t out of the queue, and out of its channel a time that was
// sent and not received. It reports whether there was either. It needs m.mu.
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

// firesBefore orders the queue: by deadline, then by turn.
func firesBefore(a, b *timer) int {
	return cmp.Or(a.deadline.Compare(b.deadline), cmp.Compare(a.turn, b.turn))
}
