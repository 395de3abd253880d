package clock_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
)

// bench is a clock under test, with a function that moves it.
type bench struct {
	clock.Clock
	advance func(time.Duration)
	mu      sync.Mutex
	log     []string
}

// call returns a callback that records its name.
func (b *bench) call(name string) func() {
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.log = append(b.log, name)
	}
}

// called returns the recorded names.
func (b *bench) called() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.log, " ")
}

// received returns a time that can be received now. ok is false if there is none.
func received(c <-chan time.Time) (time.Time, bool) {
	select {
	case t := <-c:
		return t, true
	default:
		return time.Time{}, false
	}
}

// promises are the properties of every Clock.
var promises = []struct {
	name string
	run  func(is *is.I, b *bench)
}{
	{"time passes by what it is moved", func(is *is.I, b *bench) {
		start := b.Now()
		b.advance(time.Minute)
		is.Equal(b.Now().Sub(start), time.Minute) // the difference of two readings
		is.Equal(b.Since(start), time.Minute)     // Since agrees
	}},
	{"a timer sends its deadline once", func(is *is.I, b *bench) {
		deadline := b.Now().Add(time.Second)
		timer := b.NewTimer(time.Second)
		b.advance(time.Second - 1)
		_, ok := received(timer.C())
		is.True(!ok) // nothing is sent a nanosecond early
		b.advance(time.Hour)
		got, ok := received(timer.C())
		is.True(ok)                  // it has fired
		is.True(got.Equal(deadline)) // with the time of its deadline
		_, ok = received(timer.C())
		is.True(!ok)           // and does not fire again
		is.True(!timer.Stop()) // there is nothing left to stop
	}},
	{"a stopped timer does not fire", func(is *is.I, b *bench) {
		timer := b.NewTimer(time.Second)
		is.True(timer.Stop())  // stopped in time
		is.True(!timer.Stop()) // only the first Stop stops
		b.advance(time.Hour)
		_, ok := received(timer.C())
		is.True(!ok) // silence
	}},
	{"stop takes back a time nobody received", func(is *is.I, b *bench) {
		timer := b.NewTimer(time.Second)
		b.advance(time.Hour)
		is.True(timer.Stop()) // as good as not fired
		_, ok := received(timer.C())
		is.True(!ok) // the channel is empty after Stop
	}},
	{"reset takes back a time nobody received", func(is *is.I, b *bench) {
		timer := b.NewTimer(time.Second)
		b.advance(time.Hour)
		deadline := b.Now().Add(time.Minute)
		is.True(timer.Reset(time.Minute)) // as good as not fired
		_, ok := received(timer.C())
		is.True(!ok) // the old time is gone
		b.advance(time.Minute)
		got, _ := received(timer.C())
		is.True(got.Equal(deadline))       // only the new one is sent
		is.True(!timer.Reset(time.Minute)) // it was received: Reset did not prevent it
		is.True(timer.Reset(time.Minute))  // the one set by the line above, it does
	}},
	{"a channel timer of zero fires at once", func(is *is.I, b *bench) {
		now := b.Now()
		timer := b.NewTimer(0)
		b.advance(0)
		got, ok := received(timer.C())
		is.True(ok && got.Equal(now)) // without any time passing
		timer.Reset(-time.Second)
		b.advance(0)
		got, ok = received(timer.C())
		is.True(ok && got.Equal(now)) // a past deadline counts as now
	}},
	{"callbacks run in the order of their deadlines", func(is *is.I, b *bench) {
		b.AfterFunc(3*time.Second, b.call("c"))
		b.AfterFunc(time.Second, b.call("a"))
		b.AfterFunc(2*time.Second, b.call("b"))
		b.AfterFunc(4*time.Second, b.call("d"))
		b.advance(3 * time.Second)
		is.Equal(b.called(), "a b c") // not the order set, and not the one that is not due
	}},
	{"a callback of zero runs when the clock is asked to move", func(is *is.I, b *bench) {
		b.AfterFunc(0, b.call("a"))
		b.advance(0)
		is.Equal(b.called(), "a") // no time has to pass
	}},
	{"a callback's timer has no channel", func(is *is.I, b *bench) {
		timer := b.AfterFunc(time.Second, b.call("a"))
		is.True(timer.C() == nil)         // as in package time
		is.True(timer.Reset(time.Minute)) // it can be put off
		b.advance(time.Second)
		is.Equal(b.called(), "") // so it does not run yet
		is.True(timer.Stop())    // it can be stopped
		b.advance(time.Hour)
		is.Equal(b.called(), "")           // so it never runs
		is.True(!timer.Reset(time.Second)) // it can be set again after that
		b.advance(time.Second)
		is.Equal(b.called(), "a") // and runs
		is.True(!timer.Stop())    // once it has run it cannot be stopped
	}},
	{"a callback may set and stop timers", func(is *is.I, b *bench) {
		late := b.AfterFunc(3*time.Second, b.call("late"))
		b.AfterFunc(time.Second, func() {
			b.AfterFunc(time.Second, b.call("new"))
			late.Stop()
		})
		b.advance(time.Minute)
		is.Equal(b.called(), "new") // the new one is due on the way, the stopped one is not
	}},
	{"a ticker sends every interval", func(is *is.I, b *bench) {
		start := b.Now()
		ticker := b.NewTicker(time.Second)
		for i := 1; i <= 3; i++ {
			b.advance(time.Second)
			got, ok := received(ticker.C())
			is.True(ok)                                                   // one tick for each interval
			is.True(got.Equal(start.Add(time.Duration(i) * time.Second))) // with its time
		}
		ticker.Stop()
		b.advance(time.Minute)
		_, ok := received(ticker.C())
		is.True(!ok) // none after Stop
	}},
	{"a ticker does not pile up ticks", func(is *is.I, b *bench) {
		start := b.Now()
		ticker := b.NewTicker(time.Second)
		defer ticker.Stop()
		b.advance(10*time.Second + time.Second/2)
		got, ok := received(ticker.C())
		is.True(ok)                                // there is a tick
		is.True(got.Equal(start.Add(time.Second))) // the first one, which was not received
		_, ok = received(ticker.C())
		is.True(!ok) // the nine others are dropped
		b.advance(time.Second / 2)
		got, _ = received(ticker.C())
		is.True(got.Equal(start.Add(11 * time.Second))) // it keeps its beat
	}},
	{"after and tick are channels of timers", func(is *is.I, b *bench) {
		after, tick := b.After(2*time.Second), b.Tick(2*time.Second)
		b.advance(2 * time.Second)
		_, ok := received(after)
		is.True(ok) // After has fired
		_, ok = received(tick)
		is.True(ok)                // Tick has ticked
		is.True(b.Tick(0) == nil)  // Tick of nothing never ticks
		is.True(b.Tick(-1) == nil) // nor backwards
	}},
	{"a ticker without an interval panics", func(is *is.I, b *bench) {
		defer func() { is.True(recover() != nil) }() // as time.NewTicker does
		b.NewTicker(0)
	}},
	{"sleep of zero returns", func(is *is.I, b *bench) {
		b.Sleep(0)
		b.Sleep(-time.Second)
	}},
}

func TestManualPromises(t *testing.T) {
	t.Parallel()
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := clock.NewManual(clock.Epoch())
			p.run(is.New(t), &bench{Clock: m, advance: m.Advance})
		})
	}
}

// TestSystemPromises tests the same promises for package time in a bubble.
func TestSystemPromises(t *testing.T) {
	t.Parallel()
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := clock.System{}
				p.run(is.New(t), &bench{Clock: s, advance: func(d time.Duration) {
					s.Sleep(d)
					synctest.Wait()
				}})
			})
		})
	}
}

func TestEpoch(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	is.Equal(clock.Epoch().Format(time.RFC3339Nano), "2026-01-01T00:00:00Z") // a fixed date in UTC
}

// Timer and ticker types as another package could define them: with the same methods, but as other types, like k8s.io/utils/clock.
// examples/ contains a test with the real ones.
type (
	otherTimer interface {
		C() <-chan time.Time
		Stop() bool
		Reset(d time.Duration) bool
	}
	otherTicker interface {
		C() <-chan time.Time
		Stop()
	}
	otherClock interface {
		Now() time.Time
		Since(time.Time) time.Duration
		After(d time.Duration) <-chan time.Time
		NewTimer(d time.Duration) otherTimer
		Sleep(d time.Duration)
		Tick(d time.Duration) <-chan time.Time
		NewTicker(time.Duration) otherTicker
		AfterFunc(d time.Duration, f func()) otherTimer
	}
)

func TestAs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"manual", "system"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				manual := clock.NewManual(clock.Epoch())
				var c clock.Clock = manual
				advance := manual.Advance
				if name == "system" {
					c, advance = clock.System{}, clock.System{}.Sleep
				}
				b := &bench{}
				var other otherClock = clock.As[otherTimer, otherTicker]{Clock: c}
				timer, ticker := other.NewTimer(time.Second), other.NewTicker(time.Second)
				other.AfterFunc(time.Second, b.call("a"))
				advance(time.Second)
				synctest.Wait()
				_, timed := received(timer.C())
				_, ticked := received(ticker.C())
				ticker.Stop()
				is.True(timed)            // the timer is one of the clock behind
				is.True(ticked)           // so is the ticker
				is.Equal(b.called(), "a") // and the callback
			})
		})
	}
}
