package scheduler

import (
	"cmp"
	"container/heap"
	"encoding/json"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
)

// place is the state of a pod in the queue.
type place string

const (
	active  place = "active"   // ready to be tried
	backoff place = "back-off" // rejected a short while ago: tried when no pod is active, or after a pause
	failed  place = "failed"   // an error occurred: tried again after a pause
	waiting place = "waiting"  // rejected, and no event since then could help
	gated   place = "gated"    // it has scheduling gates, or lacks a resource claim
	binding place = "binding"  // has a node, and waits for its volumes
)

const (
	backoffMin    = time.Second
	backoffMax    = 10 * time.Second
	backoffWindow = time.Second     // pauses are rounded to whole seconds
	waitMax       = 5 * time.Minute // time after which a waiting pod is tried again in any case
	bindMax       = 600 * time.Second
)

// queued is a pod without a node.
type queued struct {
	controller.Key
	UID      string
	Priority int64     `json:",omitempty"`
	Number   int       // number of the pod in order of arrival
	Place    place     `json:",omitempty"`
	Since    time.Time // time of arrival or of the last attempt
	Until    time.Time `json:",omitzero"`  // end of its pause
	Rejects  int       `json:",omitempty"` // number of rejections
	Failures int       `json:",omitempty"` // number of consecutive failures
	By       []string  `json:",omitempty"` // plugins that rejected it
	Node     string    `json:",omitempty"` // its nominated node, or the node that it is being bound to

	Changed bool    `json:",omitempty"` // a volume that it waits for has changed
	Told    *series `json:",omitempty"` // the event about its rejection

	at int // index in its heap
}

// ends returns the time until which a pod waits if no event occurs first. Then it is tried again or, if it is being bound, given up. For a
// pod that waits for the first node of the cluster, it returns the time never.
func (x *queued) ends() time.Time {
	switch {
	case x.Place == binding:
		return x.Since.Add(bindMax)
	case slices.Equal(x.By, []string{noNode}):
		return never
	}
	return x.Since.Add(waitMax)
}

var never = time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC)

// queue holds the pods that have no node (backend/queue.PriorityQueue):
//
//	new ─▶ active ─ taken ─▶ bound
//	         ▲                 rejected ─▶ waiting ─ something that could help ─▶ back-off ─▶ active
//	         └──────────────── went wrong ─▶ failed ─ 1 s … 10 s
//
// The zero value is an empty queue.
type queue struct {
	pods     map[controller.Key]*queued
	numbers  int
	active   order                       // by priority, then by arrival
	backoff  order                       // by the end of their pause
	failed   order                       // by the end of their pause
	waiting  order                       // waiting pods and pods being bound, by the result of ends
	rejected map[string]map[*queued]bool // waiting pods by the plugin that rejected them, and pods being bound
	nominees map[string][]*queued        // nominated pods by node, in the order of nomination
}

// order is a heap of queued pods.
type order struct {
	pods   []*queued
	before func(a, b *queued) bool
}

func (o *order) Len() int           { return len(o.pods) }
func (o *order) Less(i, j int) bool { return o.before(o.pods[i], o.pods[j]) }
func (o *order) Swap(i, j int) {
	o.pods[i], o.pods[j] = o.pods[j], o.pods[i]
	o.pods[i].at, o.pods[j].at = i, j
}
func (o *order) Push(x any) {
	q := x.(*queued)
	q.at = len(o.pods)
	o.pods = append(o.pods, q)
}
func (o *order) Pop() any {
	last := len(o.pods) - 1
	q := o.pods[last]
	o.pods = o.pods[:last]
	return q
}

// byPriority orders pods by descending priority, then by waiting time (PrioritySort).
func byPriority(a, b *queued) bool {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.Since.Compare(b.Since), cmp.Compare(a.Number, b.Number)) < 0
}

// byEnd orders pods by the result of ends.
func byEnd(a, b *queued) bool {
	return cmp.Or(a.ends().Compare(b.ends()), cmp.Compare(a.Number, b.Number)) < 0
}

// byPause orders pods by the end of their pause, then by priority.
func byPause(a, b *queued) bool {
	if n := a.Until.Compare(b.Until); n != 0 {
		return n < 0
	}
	return byPriority(a, b)
}

func (q *queue) get(key controller.Key) *queued { return q.pods[key] }

// add adds a new pod that arrived now, and returns its entry.
func (q *queue) add(p *pod, now time.Time) *queued {
	if q.pods == nil {
		*q = queue{pods: map[controller.Key]*queued{}, numbers: q.numbers, rejected: map[string]map[*queued]bool{}, nominees: map[string][]*queued{}}
		q.active.before, q.backoff.before, q.failed.before, q.waiting.before = byPriority, byPause, byPause, byEnd
	}
	q.numbers++
	x := &queued{Key: p.Key, UID: p.uid, Priority: p.priority, Number: q.numbers, Since: now}
	q.pods[p.Key] = x
	if len(p.gates) > 0 {
		q.move(x, gated)
	} else {
		q.move(x, active)
	}
	return x
}

// remove removes a pod. It does nothing if the pod is not in the queue.
func (q *queue) remove(key controller.Key) {
	if x := q.pods[key]; x != nil {
		q.nominate(x, "")
		q.move(x, "")
		delete(q.pods, key)
	}
	if len(q.pods) == 0 {
		q.numbers = 0
	}
}

// heapOf returns the heap of a state, or nil if it has none.
func (q *queue) heapOf(p place) *order {
	switch p {
	case active:
		return &q.active
	case backoff:
		return &q.backoff
	case failed:
		return &q.failed
	case waiting, binding:
		return &q.waiting
	}
	return nil
}

// move changes the state of a pod.
func (q *queue) move(x *queued, to place) {
	if h := q.heapOf(x.Place); h != nil {
		heap.Remove(h, x.at)
	}
	for _, name := range x.foundUnder() {
		delete(q.rejected[name], x)
	}
	x.Place = to
	q.enter(x)
}

// foundUnder returns the keys under which the index of rejected pods contains the pod.
func (x *queued) foundUnder() []string {
	switch x.Place {
	case waiting, gated:
		return x.By
	case binding:
		return []string{string(binding)}
	}
	return nil
}

// enter adds a pod to the heap and the index of its state.
func (q *queue) enter(x *queued) {
	if h := q.heapOf(x.Place); h != nil {
		heap.Push(h, x)
	}
	for _, name := range x.foundUnder() {
		if q.rejected[name] == nil {
			q.rejected[name] = map[*queued]bool{}
		}
		q.rejected[name][x] = true
	}
}

// next removes and returns the next pod to be tried. It returns nil if no pod is ready.
func (q *queue) next(now time.Time) *queued {
	for _, h := range []*order{&q.backoff, &q.failed} {
		for h.Len() > 0 && !h.pods[0].Until.After(now) {
			q.move(h.pods[0], active)
		}
	}
	for _, h := range []*order{&q.active, &q.backoff} {
		if h.Len() > 0 {
			x := h.pods[0]
			q.move(x, "")
			return x
		}
	}
	return nil
}

// reject makes a pod wait for an event that affects one of the plugins that rejected it. If by is empty, an error has occurred,
// and the pod is tried again after a pause.
func (q *queue) reject(x *queued, by []string, now time.Time) {
	to, times := failed, 0
	if len(by) > 0 {
		x.Rejects++
		x.Failures, to, times = 0, waiting, x.Rejects
	} else {
		x.Failures++
		times = x.Failures
	}
	q.move(x, "")
	x.By, x.Since, x.Changed = by, now, false
	x.Until = now.Add(min(backoffMin<<min(times-1, 10), backoffMax)).Truncate(backoffWindow)
	q.move(x, to)
}

// bind makes a pod wait for its volumes on a node.
func (q *queue) bind(x *queued, node string, now time.Time) {
	q.nominate(x, "")
	q.move(x, "")
	x.Since, x.Changed, x.Node = now, true, node
	q.move(x, binding)
}

// retry makes a rejected pod ready for another attempt, at once or after its pause.
func (q *queue) retry(x *queued, now time.Time) {
	if x.Until.After(now) {
		q.move(x, backoff)
	} else {
		q.move(x, active)
	}
}

// waitingFor returns the pods that any of the given plugins rejected, in order of arrival.
func (q *queue) waitingFor(plugins ...string) (all []*queued) {
	for _, name := range plugins {
		for x := range q.rejected[name] { // sorted below
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b *queued) int { return a.Number - b.Number })
	return slices.Compact(all)
}

// nominate sets the nominated node of a pod in the queue. If node is empty, it clears the nomination.
func (q *queue) nominate(x *queued, node string) {
	if x.Node == node || x.Place == binding {
		return
	}
	if x.Node != "" {
		q.nominees[x.Node] = slices.DeleteFunc(q.nominees[x.Node], func(y *queued) bool { return x == y })
		if len(q.nominees[x.Node]) == 0 {
			delete(q.nominees, x.Node)
		}
	}
	if x.Node = node; node != "" {
		q.nominees[node] = append(q.nominees[node], x)
	}
}

// nominated returns the pods that are nominated to a node.
func (q *queue) nominated(node string) []*queued { return q.nominees[node] }

// overdue returns a pod whose waiting time has ended, or nil.
func (q *queue) overdue(now time.Time) *queued {
	if q.waiting.Len() > 0 && q.waiting.pods[0].ends().Before(now) {
		return q.waiting.pods[0]
	}
	return nil
}

// changed returns a pod being bound whose volumes have changed, or nil.
func (q *queue) changed() *queued {
	for _, x := range q.waitingFor(string(binding)) {
		if x.Changed {
			return x
		}
	}
	return nil
}

// ready reports whether a pod can be tried now.
func (q *queue) ready() bool { return q.active.Len()+q.backoff.Len() > 0 || q.changed() != nil }

// due returns the time of the next attempt if no event occurs first. It returns false if no attempt is scheduled.
func (q *queue) due() (at time.Time, ok bool) {
	if q.failed.Len() > 0 {
		at, ok = q.failed.pods[0].Until, true
	}
	if q.waiting.Len() > 0 {
		if ends := q.waiting.pods[0].ends().Add(1); ends.Before(never) && (!ok || ends.Before(at)) {
			at, ok = ends, true
		}
	}
	return at, ok
}

// sorted returns all pods in order of arrival.
func (q *queue) sorted() (all []*queued) {
	for _, x := range q.pods { // sorted below
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b *queued) int { return a.Number - b.Number })
	return all
}

// IsZero reports whether the queue is empty.
func (q queue) IsZero() bool { return len(q.pods) == 0 }

// printed is the JSON form of a queue.
type printed struct {
	Numbers int
	Pods    []*queued
}

// MarshalJSON implements json.Marshaler.
func (q queue) MarshalJSON() ([]byte, error) { return json.Marshal(printed{q.numbers, q.sorted()}) }

// UnmarshalJSON implements json.Unmarshaler.
func (q *queue) UnmarshalJSON(text []byte) error {
	var p printed
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	*q = queue{}
	for _, x := range p.Pods {
		y := q.add(&pod{Key: x.Key, template: &template{}}, x.Since)
		q.move(y, "")
		node := x.Node
		if *y = *x; x.Place != binding {
			y.Node = ""
		}
		q.enter(y)
		q.nominate(y, node)
	}
	q.numbers = p.Numbers
	return nil
}
