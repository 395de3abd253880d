package controller

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/kubesim/kubesim/sim/random"
)

// Item is one piece of work: a controller is to reconcile a key.
type Item struct {
	Controller string
	Key
}

// String prints the item as its controller and its key.
func (i Item) String() string { return i.Controller + " " + i.Key.String() }

// Waiting is an item whose time has yet to come.
type Waiting struct {
	Item
	At time.Time
}

// Failure is how often an item has failed in a row.
type Failure struct {
	Item
	Times int
}

// The pause after a failure (client-go's DefaultControllerRateLimiter).
const (
	backoffMin = 5 * time.Millisecond
	backoffMax = 1000 * time.Second
)

// Queue holds the items of all controllers, as client-go's workqueue holds those of one: an item that is already queued is not
// added again.
//
//	Add       ready    [a] [b] [c]          oldest first
//	AddAt     waiting  [d @00:05] [a @01:00] by time, then by when they were added
//	Retry     failures  d: 2                 the next pause is 20ms
//
// An item may be ready and wait at the same time: an earlier reconcile does not cancel a later one. An item that is added between
// Begin and Done is not ready: Done reports it, and its caller adds it behind the items that the reconcile has led to. The zero
// value is an empty queue.
type Queue struct {
	ready    []Item
	waiting  []Waiting
	failures map[Item]int

	work work

	isReady map[Item]bool
	at      map[Item]time.Time // of waiting items
}

// work is the item that is being worked on.
type work struct {
	item  Item
	busy  bool // there is one
	dirty bool // it was added meanwhile
}

// Add appends an item to the ready ones, unless it is being worked on.
func (q *Queue) Add(i Item) {
	if q.work.busy && q.work.item == i {
		q.work.dirty = true
		return
	}
	q.push(i)
}

// push appends an item to the ready ones.
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

// AddAt makes an item ready at a time. One that waits already is made ready at the earlier of both.
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

// after returns where those begin that wait longer than until a time.
func (q *Queue) after(at time.Time) int {
	return sort.Search(len(q.waiting), func(n int) bool { return q.waiting[n].At.After(at) })
}

// Retry makes an item ready again after a pause, which begins with the shortest and doubles with each failure in a row up to
// the longest. It returns when.
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

// Forget takes back that an item has failed.
func (q *Queue) Forget(i Item) { delete(q.failures, i) }

// Due moves the items whose time has come to the ready ones.
func (q *Queue) Due(now time.Time) {
	n := q.after(now)
	for _, w := range q.waiting[:n] {
		delete(q.at, w.Item)
		q.push(w.Item)
	}
	q.waiting = slices.Delete(q.waiting, 0, n)
}

// Ready returns the items that are ready, oldest first. They are not to be changed.
func (q *Queue) Ready() []Item { return q.ready }

// Waiting returns the items whose time has yet to come, the earliest first. They are not to be changed.
func (q *Queue) Waiting() []Waiting { return q.waiting }

// Begin begins the work on an item.
func (q *Queue) Begin(i Item) { q.work = work{item: i, busy: true} }

// Done ends the work that Begin has begun, and reports whether the item was added meanwhile.
func (q *Queue) Done() (dirty bool) {
	dirty = q.work.dirty
	q.work = work{}
	return dirty
}

// Take takes the nth of the items that are ready out of the queue.
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

// Drop takes all items of a controller out of the queue, and forgets their failures.
func (q *Queue) Drop(controller string) {
	q.ready = slices.DeleteFunc(q.ready, func(i Item) bool { return i.Controller == controller })
	q.waiting = slices.DeleteFunc(q.waiting, func(w Waiting) bool { return w.Controller == controller })
	its := func(i Item) bool { return i.Controller == controller }
	maps.DeleteFunc(q.isReady, func(i Item, _ bool) bool { return its(i) })
	maps.DeleteFunc(q.at, func(i Item, _ time.Time) bool { return its(i) })
	maps.DeleteFunc(q.failures, func(i Item, _ int) bool { return its(i) })
}

// Failures returns how often items have failed in a row, sorted by item.
func (q *Queue) Failures() []Failure {
	var all []Failure
	for i, n := range q.failures { // sorted below
		all = append(all, Failure{i, n})
	}
	slices.SortFunc(all, func(a, b Failure) int { return compare(a.Item, b.Item) })
	return all
}

// Order decides which of the items that are ready is next. There is at least one; the oldest is the first.
type Order interface {
	Next(ready []Item) int
}

// Oldest takes them in the order in which they were added.
type Oldest struct{}

// Next implements Order.
func (Oldest) Next([]Item) int { return 0 }

// Drawn takes any of them, by draws of the cluster's random numbers: the same seed gives the same order.
type Drawn struct{ Random *random.Streams }

// Next implements Order.
func (d Drawn) Next(ready []Item) int { return d.Random.Draw("controllers", len(ready)) }

// Shuffle lets draws of the cluster's random numbers decide the Order from now on.
func (m *Manager) Shuffle() { m.Order = Drawn{m.random} }

func compare(a, b Item) int {
	return cmp.Or(cmp.Compare(a.Controller, b.Controller), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
