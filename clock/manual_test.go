package clock_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
)

// elapsed returns the time since the clock's start, for short expectations.
func elapsed(m *clock.Manual) time.Duration { return m.Since(clock.Epoch()) }

// newLogged returns a clock, and a function that creates callbacks that log their name and the clock's time while they run.
func newLogged() (m *clock.Manual, call func(name string) func(), log *[]string) {
	m, log = clock.NewManual(clock.Epoch()), new([]string)
	return m, func(name string) func() {
		return func() { *log = append(*log, fmt.Sprint(name, "@", elapsed(m))) }
	}, log
}

// TestManualOrder tests the example in the package comment.
//
//	now 0s   queue  b@1s  a@2s  c@2s
//	Step     fires  b@1s
//	now 1s   queue  a@2s  c@2s
//	Advance  fires  a@2s  c@2s
//	now 1m1s queue  (empty)
func TestManualOrder(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m, call, log := newLogged()
	m.AfterFunc(2*time.Second, call("a"))
	m.AfterFunc(time.Second, call("b"))
	m.AfterFunc(2*time.Second, call("c"))

	next, ok := m.Next()
	is.True(ok && next.Equal(clock.Epoch().Add(time.Second))) // b is the earliest
	is.Equal(m.Waiters(), 3)                                  // all three are set

	is.True(m.Step())                         // there was a timer to step to
	is.Equal(strings.Join(*log, " "), "b@1s") // and it was b, at its deadline
	is.Equal(elapsed(m), time.Second)         // where the time stays
	is.Equal(m.Waiters(), 2)                  // b is gone

	m.Advance(time.Minute)
	is.Equal(strings.Join(*log, " "), "b@1s a@2s c@2s") // equal deadlines: in the order set
	is.Equal(elapsed(m), time.Minute+time.Second)       // the time is where it was sent

	_, ok = m.Next()
	is.True(!ok)                                  // nothing is left
	is.True(!m.Step())                            // so there is no step
	is.Equal(elapsed(m), time.Minute+time.Second) // and the time did not move
	is.Equal(m.Waiters(), 0)                      // the queue is empty
}

func TestManualEqualDeadlines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		set  func(m *clock.Manual, call func(string) func())
		want string
	}{
		{"the order set", func(m *clock.Manual, call func(string) func()) {
			m.AfterFunc(time.Second, call("a"))
			m.AfterFunc(time.Second, call("b"))
			m.AfterFunc(time.Second, call("c"))
		}, "a@1s b@1s c@1s"},
		{"the order set, at different times", func(m *clock.Manual, call func(string) func()) {
			m.AfterFunc(3*time.Second, call("a"))
			m.Advance(time.Second)
			m.AfterFunc(2*time.Second, call("b"))
			m.Advance(time.Second)
			m.AfterFunc(time.Second, call("c"))
		}, "a@3s b@3s c@3s"},
		{"a reset timer goes last", func(m *clock.Manual, call func(string) func()) {
			a := m.AfterFunc(time.Second, call("a"))
			m.AfterFunc(time.Second, call("b"))
			a.Reset(time.Second)
		}, "b@1s a@1s"},
		{"a timer set by a callback goes last", func(m *clock.Manual, call func(string) func()) {
			m.AfterFunc(time.Second, func() {
				call("a")()
				m.AfterFunc(0, call("c"))
			})
			m.AfterFunc(time.Second, call("b"))
		}, "a@1s b@1s c@1s"},
		{"a timer stopped by an equal one does not fire", func(m *clock.Manual, call func(string) func()) {
			var b clock.Timer
			m.AfterFunc(time.Second, func() {
				call("a")()
				b.Stop()
			})
			b = m.AfterFunc(time.Second, call("b"))
		}, "a@1s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m, call, log := newLogged()
			test.set(m, call)
			m.Advance(time.Minute)
			is.Equal(strings.Join(*log, " "), test.want) // the names in the order they fired
		})
	}
}

// TestManualTickerGoesLast checks that a ticker is set again when it fires: a timer that was set before the first tick fires before
// the second tick, even if both are due at the same time.
func TestManualTickerGoesLast(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := clock.NewManual(clock.Epoch())
	ticker := m.NewTicker(time.Second)
	timer := m.NewTimer(2 * time.Second)
	m.Advance(time.Second)
	<-ticker.C()
	is.True(m.Step()) // the timer
	is.Equal(len(timer.C()), 1)
	is.Equal(len(ticker.C()), 0)
	is.True(m.Step()) // the second tick
	is.Equal(len(ticker.C()), 1)
	is.Equal(elapsed(m), 2*time.Second) // both at the same time
}

// TestManualNested moves the clock from within callbacks.
//
//	Advance(3s)  a@1s: Advance(4s)  b@2s: Advance(-1h)  c@4s   now 5s
//	             the outer Advance has nothing left to do and does not go back to 3s
func TestManualNested(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m, call, log := newLogged()
	m.AfterFunc(time.Second, func() {
		call("a")()
		m.Advance(4 * time.Second)
		call("a done")()
	})
	m.AfterFunc(2*time.Second, func() {
		call("b")()
		m.Advance(-time.Hour)
		m.AdvanceTo(clock.Epoch())
	})
	m.AfterFunc(4*time.Second, call("c"))
	m.AfterFunc(6*time.Second, call("d"))
	m.Advance(3 * time.Second)
	is.Equal(strings.Join(*log, " "), "a@1s b@2s c@4s a done@5s") // the inner Advance is complete when it returns
	is.Equal(elapsed(m), 5*time.Second)                           // the furthest any of them went

	m.AfterFunc(time.Second, func() { m.Step() })
	m.AfterFunc(time.Second, call("e"))
	is.True(m.Step())
	is.Equal(strings.Join((*log)[4:], " "), "d@6s") // d was set first
	is.True(m.Step())
	is.Equal(strings.Join((*log)[5:], " "), "e@6s") // a Step inside a Step
}

func TestManualNeverGoesBack(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m, call, log := newLogged()
	m.Advance(time.Hour)
	m.AfterFunc(0, call("due"))
	m.AfterFunc(-time.Minute, call("overdue"))
	is.Equal(len(*log), 0) // callbacks do not run inside AfterFunc
	m.AdvanceTo(clock.Epoch())
	is.Equal(elapsed(m), time.Hour)                                // the time stays
	is.Equal(strings.Join(*log, " "), "due@1h0m0s overdue@1h0m0s") // due timers fire now
	m.Advance(-time.Minute)
	is.Equal(elapsed(m), time.Hour) // nor by a negative step
}

func TestManualStart(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	zone := time.FixedZone("UTC+1", 3600)
	m := clock.NewManual(time.Date(2030, 1, 1, 12, 0, 0, 7, zone))
	is.Equal(m.Now().String(), "2030-01-01 12:00:00.000000007 +0100 UTC+1") // the start, in its zone
	m.AdvanceTo(time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC))
	is.Equal(m.Now().String(), "2030-01-01 13:00:00 +0100 UTC+1") // another zone does not replace it

	machine := clock.System{}.Now()
	is.True(strings.Contains(machine.String(), "m=")) // package time reads two clocks
	m = clock.NewManual(machine)
	is.True(!strings.Contains(m.Now().String(), "m=")) // of which only the wall clock is taken
	m.AdvanceTo(machine.Add(time.Hour))
	is.True(!strings.Contains(m.Now().String(), "m="))      // here too
	is.True(m.Now().Equal(machine.Add(time.Hour).Round(0))) // the time is the same
}

func TestManualEndlessCallback(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := clock.NewManual(clock.Epoch())
	var again func()
	again = func() { m.AfterFunc(0, again) }
	again()
	defer func() {
		is.Equal(recover(), "clock: 1048576 timers fired at 2026-01-01 00:00:00 +0000 UTC and more are due") // not for ever
	}()
	m.Advance(0)
}

// TestManualSleep tests goroutines that sleep while the test moves the time.
func TestManualSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		m := clock.NewManual(clock.Epoch())
		b := &bench{}
		for i := range 3 {
			go func() {
				m.Sleep(time.Duration(i+1) * time.Second)
				b.call(fmt.Sprint(i))()
			}()
		}
		synctest.Wait()
		is.Equal(m.Waiters(), 3) // all three sleep
		for _, want := range []string{"0", "0 1", "0 1 2"} {
			m.Step()
			synctest.Wait()
			is.Equal(b.called(), want) // one more is awake
		}
	})
}

// TestManualConcurrent uses a clock from many goroutines, for the race detector.
func TestManualConcurrent(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := clock.NewManual(clock.Epoch())
	var mu sync.Mutex
	fired := 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 100 {
				m.AfterFunc(time.Duration(i), func() {
					mu.Lock()
					defer mu.Unlock()
					fired++
				})
				timer := m.NewTimer(time.Hour)
				m.Advance(time.Duration(i % 3))
				timer.Reset(time.Minute)
				m.Step()
				timer.Stop()
			}
		})
	}
	wg.Wait()
	m.Advance(time.Hour)
	is.Equal(fired, 800)     // every callback ran, once
	is.Equal(m.Waiters(), 0) // every timer fired or was stopped
}
