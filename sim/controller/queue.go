package controller

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/kubesim/kubesim/sim/random"
)

// Item is a queued reconcile of a key by a controller.
type Item struct {
	Controller string
	Key
}

// String returns the item's controller and key.
func (i Item) String() string { return i.Controller + " " + i.Key.String() }

// Waiting is an item that is not due yet.
type Waiting struct {
	Item
	At time.Time
}

// Failure is the number of consecutive failures of an item.
type Failure struct {
	Item
	Times int
}

// These are the delays after a failure (client-go's DefaultControllerRateLimiter).
const (
	backoffMin = 5 * time.Millisecond
	backoffMax = 1000 * time.Second
)

// Queue holds the items of all controllers, like client-go's workqueue does for a single controller. An item that is already
// queued is not added again.
//
//	Add       ready    [a] [b] [c]          oldest first
//	AddAt     waiting  [d @00:05] [a @01:00] sorted by time, then by insertion
//	Retry     failures  d: 2                 the next delay is 20ms
//
// An item can be ready and waiting at the same time, because an earlier reconcile does not cancel a later one. An item that is
// added between Begin and Done is not ready. Done reports it, and the caller adds it after the items that the reconcile has
// caused. The zero value is an empty queue.
type Queue struct {
	ready    []Item
	waiting  []Waiting
	failures map[Item]int

	work work

	isReady map[Item]bool
	at      map[Item]time.Time // the times of waiting items
}

// work is the item that is being reconciled.
type work struct {
	item  Item
	busy  bool // an item is being reconciled
	dirty bool // the item has been added again in the meantime
}

// Add appends an item to the ready items, unless it is being reconciled.
func (q *Queue) Add(i Item) {
	if q.work.busy && q.work.item == i {
		q.work.dirty = true
		return
	}
	q.push(i)
}

// push appends an item to the ready items.
func (q *Queue) push(i Item) {
	if q.isReady[i] {
		return
	}
	if q.isReady == nil {
		q.isReady = map[Item]bool{}
	}
	q.isReady[i] = true
	q.ready = append(q.ready, i)
}

// AddAt makes an item ready at a time. If the item is already waiting, the earlier time is used.
func (q *Queue) AddAt(i Item, at time.Time) {
	if q.at == nil {
		q.at = map[Item]time.Time{}
	}
	if before, waits := q.at[i]; waits {
		if !at.Before(before) {
			return
		}
		from := q.after(before.Add(-1))
		n := from + slices.IndexFunc(q.waiting[from:], func(w Waiting) bool { return w.Item == i })
		q.waiting = slices.Delete(q.waiting, n, n+1)
	}
	q.at[i] = at
	q.waiting = slices.Insert(q.waiting, q.after(at), Waiting{i, at})
}

// after returns the index of the first waiting item that is due later than the given time.
func (q *Queue) after(at time.Time) int {
	return sort.Search(len(q.waiting), func(n int) bool { return q.waiting[n].At.After(at) })
}

// Retry makes an item ready again after a delay, and returns the time. The delay is shortest after the first failure, and doubles
// with each consecutive failure up to longest.
func (q *Queue) Retry(i Item, now time.Time, shortest, longest time.Duration) time.Time {
	if q.failures == nil {
		q.failures = map[Item]int{}
	}
	pause := longest
	if n := q.failures[i]; n < 20 {
		pause = min(shortest<<n, longest)
	}
	q.failures[i]++
	at := now.Add(pause)
	q.AddAt(i, at)
	return at
}

// Forget resets the failures of an item.
func (q *Queue) Forget(i Item) { delete(q.failures, i) }

// Due moves the waiting items that are due to the ready items.
func (q *Queue) Due(now time.Time) {
	n := q.after(now)
	for _, w := range q.waiting[:n] {
		delete(q.at, w.Item)
		q.push(w.Item)
	}
	q.waiting = slices.Delete(q.waiting, 0, n)
}

// Ready returns the ready items, with the oldest first. The result must not be modified.
func (q *Queue) Ready() []Item { return q.ready }

// Waiting returns the waiting items, with the earliest first. The result must not be modified.
func (q *Queue) Waiting() []Waiting { return q.waiting }

// Begin records that an item is being reconciled.
func (q *Queue) Begin(i Item) { q.work = work{item: i, busy: true} }

// Done ends the reconcile that began with Begin, and reports whether the item has been added again in the meantime.
func (q *Queue) Done() (dirty bool) {
	dirty = q.work.dirty
	q.work = work{}
	return dirty
}

// Take removes and returns the nth ready item.
func (q *Queue) Take(n int) Item {
	i := q.ready[n]
	delete(q.isReady, i)
	if n == 0 {
		q.ready = q.ready[1:]
	} else {
		q.ready = slices.Delete(q.ready, n, n+1)
	}
	return i
}

// Drop removes all items of a controller, and resets their failures.
func (q *Queue) Drop(controller string) {
	q.ready = slices.DeleteFunc(q.ready, func(i Item) bool { return i.Controller == controller })
	q.waiting = slices.DeleteFunc(q.waiting, func(w Waiting) bool { return w.Controller == controller })
	its := func(i Item) bool { return i.Controller == controller }
	maps.DeleteFunc(q.isReady, func(i Item, _ bool) bool { return its(i) })
	maps.DeleteFunc(q.at, func(i Item, _ time.Time) bool { return its(i) })
	maps.DeleteFunc(q.failures, func(i Item, _ int) bool { return its(i) })
}

// Failures returns the number of consecutive failures of each item, sorted by item.
func (q *Queue) Failures() []Failure {
	var all []Failure
	for i, n := range q.failures { // sorted below
		all = append(all, Failure{i, n})
	}
	slices.SortStableFunc(all, func(a, b Failure) int { return compare(a.Item, b.Item) })
	return all
}

// Order chooses the next item. Next is called with at least one ready item. The first is the oldest.
type Order interface {
	Next(ready []Item) int
}

// Oldest chooses the item that was added first.
type Oldest struct{}

// Next implements Order.
func (Oldest) Next([]Item) int { return 0 }

// Drawn chooses a random item. With the same seed the choices are the same.
type Drawn struct{ Random *random.Streams }

// Next implements Order.
func (d Drawn) Next(ready []Item) int { return d.Random.Draw("controllers", len(ready)) }

// Shuffle makes the Order random from now on, with the cluster's random numbers.
func (m *Manager) Shuffle() { m.Order = Drawn{m.random} }

func compare(a, b Item) int {
	return cmp.Or(cmp.Compare(a.Controller, b.Controller), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
