package controller_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/controller"
)

// model is a naive queue: a single list of wished reconciles that every method searches.
type model struct {
	wishes   []wish
	failures map[controller.Item]int
}

type wish struct {
	controller.Item
	at    time.Time
	ready bool
}

func (m *model) find(i controller.Item, ready bool) int {
	return slices.IndexFunc(m.wishes, func(w wish) bool { return w.Item == i && w.ready == ready })
}

func (m *model) add(i controller.Item) {
	if m.find(i, true) < 0 {
		m.wishes = append(m.wishes, wish{Item: i, ready: true})
	}
}

func (m *model) addAt(i controller.Item, at time.Time) {
	if n := m.find(i, false); n >= 0 {
		if !at.Before(m.wishes[n].at) {
			return
		}
		m.wishes = slices.Delete(m.wishes, n, n+1)
	}
	m.wishes = append(m.wishes, wish{Item: i, at: at})
}

// due makes the wishes ready that are due, with the earliest first.
func (m *model) due(now time.Time) {
	for {
		n := -1
		for i, w := range m.wishes {
			if !w.ready && !w.at.After(now) && (n < 0 || w.at.Before(m.wishes[n].at)) {
				n = i
			}
		}
		if n < 0 {
			return
		}
		i := m.wishes[n].Item
		m.wishes = slices.Delete(m.wishes, n, n+1)
		m.add(i)
	}
}

func (m *model) print() string {
	ready, waiting := []controller.Item{}, []controller.Waiting{}
	for _, w := range m.wishes {
		if w.ready {
			ready = append(ready, w.Item)
		} else {
			waiting = append(waiting, controller.Waiting{Item: w.Item, At: w.at})
		}
	}
	slices.SortStableFunc(waiting, func(a, b controller.Waiting) int { return a.At.Compare(b.At) })
	return fmt.Sprint(ready, waiting)
}

// pause returns the delay after a failure of an item, depending on the number of earlier failures, and increments that number.
func (m *model) pause(i controller.Item) time.Duration {
	d := 5 * time.Millisecond
	for range m.failures[i] {
		if d *= 2; d > 1000*time.Second {
			d = 1000 * time.Second
		}
	}
	m.failures[i]++
	return d
}

// TestQueueAgainstModel checks that a queue behaves like the model for random sequences of calls.
func TestQueueAgainstModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		is := is.New(t)
		draw := rand.New(rand.NewPCG(seed, 1))
		var q controller.Queue
		m := model{failures: map[controller.Item]int{}}
		now := clock.Epoch()
		for step := range 200 {
			i := controller.Item{Controller: string(rune('a' + draw.IntN(3))), Key: controller.Key{Name: string(rune('x' + draw.IntN(3)))}}
			switch draw.IntN(9) {
			case 0, 1, 2:
				q.Add(i)
				m.add(i)
			case 3, 4:
				at := now.Add(time.Duration(draw.IntN(5)) * time.Second)
				q.AddAt(i, at)
				m.addAt(i, at)
			case 5:
				at := now.Add(m.pause(i))
				is.Equal(q.Retry(i, now, 5*time.Millisecond, 1000*time.Second), at) // the pause doubles
				m.addAt(i, at)
			case 6:
				q.Forget(i)
				delete(m.failures, i)
			case 7:
				now = now.Add(time.Duration(draw.IntN(3)) * time.Second)
				q.Due(now)
				m.due(now)
			case 8:
				if n := len(q.Ready()); n > 0 {
					taken := q.Take(draw.IntN(n))
					m.wishes = slices.Delete(m.wishes, m.find(taken, true), m.find(taken, true)+1)
				} else if draw.IntN(4) == 0 {
					q.Drop(i.Controller)
					m.wishes = slices.DeleteFunc(m.wishes, func(w wish) bool { return w.Controller == i.Controller })
					for _, k := range []string{"x", "y", "z"} {
						delete(m.failures, controller.Item{Controller: i.Controller, Key: controller.Key{Name: k}})
					}
				}
			}
			if got, want := fmt.Sprint(append([]controller.Item{}, q.Ready()...), append([]controller.Waiting{}, q.Waiting()...)), m.print(); got != want {
				t.Logf("seed %d, step %d", seed, step)
				is.Equal(got, want) // the ready and the waiting items
			}
		}
	}
}

// TestBackOffEnds checks that the delay of a failing item has a maximum.
func TestBackOffEnds(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var q controller.Queue
	i := controller.Item{Controller: "a"}
	var last time.Duration
	for range 100 {
		now := clock.Epoch()
		last = q.Retry(i, now, 5*time.Millisecond, 1000*time.Second).Sub(now)
		q.Due(now.Add(last))
	}
	is.Equal(last, 1000*time.Second)
	is.Equal(q.Failures(), []controller.Failure{{Item: i, Times: 100}})
	q.Forget(i)
	is.Equal(q.Retry(i, clock.Epoch(), 5*time.Millisecond, 1000*time.Second), clock.Epoch().Add(5*time.Millisecond)) // as after the first failure
}
