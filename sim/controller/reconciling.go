package controller

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// Reconcile describes a reconcile for an observer: its cause, the revision of the controller's cache, and the controller's
// writes.
type Reconcile struct {
	Item
	Cause    uint64   // revision of the first commit that caused it, or 0 if a timer did
	Read     []string // the resources that it read from its cache, in the order of the first read
	CacheRev uint64   // the cache's revision of these resources; the oldest if they differ
	Before   uint64   // the newest revision of the store when it began
	After    uint64   // the newest revision when it ended; the writes in between are its own
	Failed   *status.Status
	Stepped  bool // it waited for a Step
}

// Quiet reports whether the reconcile neither wrote nor failed, read only current data, and did not wait for a Step.
func (r *Reconcile) Quiet() bool {
	return r.After == r.Before && r.CacheRev == r.Before && r.Failed == nil && !r.Stepped
}

// reconciling collects the arguments of Manager.OnReconcile.
type reconciling struct {
	causes map[Item]uint64 // the revision of the first commit that caused an item which has not been reconciled yet
	now    *Reconcile      // the current reconcile; nil if there is none, or if OnReconcile is nil
}

// recordCause records the revision of the first commit that made an item due.
func (m *Manager) recordCause(l *loop, key Key, rev uint64) {
	if m.OnReconcile == nil || l.InServer {
		return
	}
	if m.reconciling.causes == nil {
		m.reconciling.causes = map[Item]uint64{}
	}
	if i := (Item{l.Name, key}); m.reconciling.causes[i] == 0 {
		m.reconciling.causes[i] = rev
	}
}

// beginReconcile starts the record of a reconcile.
func (m *Manager) beginReconcile(l *loop, i Item) {
	if m.OnReconcile == nil || l.InServer {
		return
	}
	rev := m.log.Newest().Rev()
	m.reconciling.now = &Reconcile{Item: i, Cause: m.reconciling.causes[i], CacheRev: rev, Before: rev, Stepped: m.Stepped}
	delete(m.reconciling.causes, i)
}

// recordRead records that a reconcile reads a resource from the controller's cache.
func (m *Manager) recordRead(l *loop, resource string, v *mvcc.View) {
	x := m.reconciling.now
	if x == nil || x.Controller != l.Name {
		return
	}
	x.CacheRev = min(x.CacheRev, v.Rev())
	if !slices.Contains(x.Read, resource) {
		x.Read = append(x.Read, resource)
	}
}

// endReconcile completes the record of a reconcile and passes it to OnReconcile.
func (m *Manager) endReconcile(failed *status.Status) {
	x := m.reconciling.now
	if x == nil {
		return
	}
	m.reconciling.now = nil
	x.After, x.Failed = m.log.Newest().Rev(), failed
	m.OnReconcile(*x)
}

// Summary is the state of a controller between reconciles.
type Summary struct {
	Name    string
	Stopped bool
	Crashed bool // it is stopped, and has lost its state
	Delay   time.Duration
	Lagging []string  // the resources whose informers lag
	Knows   uint64    // the revision of its cache; the oldest if resources differ
	Due     []Waiting // its queued items, with the earliest first
}

// Summaries returns the state of the controllers in the order of Names. It omits those of API servers.
func (m *Manager) Summaries() (all []Summary) {
	m.promoteDue()
	newest, now := m.log.Newest().Rev(), m.schedule.Now()
	at := map[string]int{}
	for _, l := range m.loops {
		if l.InServer {
			continue
		}
		s := Summary{Name: l.Name, Stopped: l.stopped, Crashed: l.crashed, Delay: l.delay, Lagging: l.cache.missed(), Knows: newest}
		for _, name := range object.SortedKeys(l.cache.lagging) {
			s.Knows = min(s.Knows, l.cache.lagging[name].Rev())
		}
		at[l.Name] = len(all)
		all = append(all, s)
	}
	add := func(w Waiting) {
		if n, ok := at[w.Controller]; ok {
			all[n].Due = append(all[n].Due, w)
		}
	}
	for _, i := range m.queue.Ready() {
		add(Waiting{i, now})
	}
	for _, w := range m.queue.Waiting() {
		add(w)
	}
	return all
}

// StepOf performs one reconcile of the named controller. It returns false if the controller has no due items or is stopped.
func (m *Manager) StepOf(name string) bool {
	return m.step(func(m *Manager, l *loop) bool { return l.Name == name && m.works(l) }, false)
}
