package clock_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
)

// model is the simplest possible clock: a list of all timers ever set, which is searched for each operation.
type model struct {
	now  time.Duration // since the epoch
	sets int
	all  []*modelTimer
}

type modelTimer struct {
	name     string
	set      bool
	deadline time.Duration
	turn     int
}

func (m *model) start(t *modelTimer, d time.Duration) {
	m.sets++
	t.set, t.deadline, t.turn = true, m.now+max(d, 0), m.sets
}

// first returns the timer that fires next, or nil if none is set.
func (m *model) first() *modelTimer {
	var first *modelTimer
	for _, t := range m.all {
		if t.set && (first == nil || t.deadline < first.deadline ||
			t.deadline == first.deadline && t.turn < first.turn) {
			first = t
		}
	}
	return first
}

func (m *model) step() []string {
	t := m.first()
	if t == nil {
		return nil
	}
	t.set = false
	m.now = t.deadline
	return []string{fmt.Sprint(t.name, "@", m.now)}
}

func (m *model) advance(d time.Duration) (fired []string) {
	target := m.now + d
	for t := m.first(); t != nil && t.deadline <= target; t = m.first() {
		fired = append(fired, m.step()...)
	}
	m.now = target
	return fired
}

func (m *model) waiters() (n int) {
	for _, t := range m.all {
		if t.set {
			n++
		}
	}
	return n
}

// TestManualModel runs random operations on a Manual and on the model.
func TestManualModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			r := rand.New(rand.NewPCG(seed, 0))
			m, call, log := newLogged()
			want, timers := &model{}, []clock.Timer{}
			for range 200 {
				d := time.Duration(r.IntN(6) - 1)
				*log = nil
				var fired []string
				switch op := r.IntN(6); {
				case op <= 1 || len(timers) == 0:
					name := fmt.Sprint("t", len(timers))
					timers = append(timers, m.AfterFunc(d, call(name)))
					want.all = append(want.all, &modelTimer{name: name})
					want.start(want.all[len(want.all)-1], d)
				case op == 2:
					i := r.IntN(len(timers))
					is.Equal(timers[i].Stop(), want.all[i].set) // Stop reports whether it was set
					want.all[i].set = false
				case op == 3:
					i := r.IntN(len(timers))
					is.Equal(timers[i].Reset(d), want.all[i].set) // so does Reset
					want.start(want.all[i], d)
				case op == 4:
					m.Step()
					fired = want.step()
				default:
					m.Advance(d)
					fired = want.advance(max(d, 0))
				}
				is.True(slices.Equal(*log, fired))    // the same fire, in the same order and at the same time
				is.Equal(elapsed(m), want.now)        // the same time
				is.Equal(m.Waiters(), want.waiters()) // as many are set
			}
		})
	}
}
