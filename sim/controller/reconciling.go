package controller

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// Reconcile describes one reconcile for an observer: its cause, the revision that the controller's cache showed, and its writes.
type Reconcile struct {
	Item
	Cause    uint64   // revision of the first commit that caused it; 0 if a timer did
	Read     []string // resources that it has read in its cache, in the order in which it did so first
	CacheRev uint64   // revision that its cache showed of them; of several the oldest
	Before   uint64   // newest revision of the store when it began
	After    uint64   // newest revision when it was over: it made the writes in between
	Failed   *status.Status
	Stepped  bool // it waited for a Step
}

// Quiet reports whether nothing came of it, and nothing could have gone wrong: it knew all that there was, and left it as it is.
func (r *Reconcile) Quiet() bool {
	return r.After == r.Before && r.CacheRev == r.Before && r.Failed == nil && !r.Stepped
}

// reconciling collects the arguments of Manager.OnReconcile.
type reconciling struct {
	causes map[Item]uint64 // revision of the first commit that caused an item which has not been reconciled yet
	now    *Reconcile      // the current reconcile; nil if there is none, or OnReconcile is nil
}

// recordCause notes that a commit calls for an item.
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

// beginReconcile is called before a reconcile.
func (m *Manager) beginReconcile(l *loop, i Item) {
	if m.OnReconcile == nil || l.InServer {
		return
	}
	rev := m.log.Newest().Rev()
	m.reconciling.now = &Reconcile{Item: i, Cause: m.reconciling.causes[i], CacheRev: rev, Before: rev, Stepped: m.Stepped}
	delete(m.reconciling.causes, i)
}

// recordRead records that a controller reads a resource in its cache while it reconciles.
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

// endReconcile is called after a reconcile.
func (m *Manager) endReconcile(failed *status.Status) {
	x := m.reconciling.now
	if x == nil {
		return
	}
	m.reconciling.now = nil
	x.After, x.Failed = m.log.Newest().Rev(), failed
	m.OnReconcile(*x)
}

// Standing describes a controller between two reconciles.
type Standing struct {
	Name    string
	Stopped bool
	Crashed bool // it is stopped, and knows nothing
	Delay   time.Duration
	Lagging []string  // resources of which it learns nothing
	Knows   uint64    // revision that its cache shows; of several the oldest
	Due     []Waiting // its items, the earliest first
}

// Standings describes the controllers, except those of API servers, in the order of Names.
func (m *Manager) Standings() (all []Standing) {
	m.promoteDue()
	newest, now := m.log.Newest().Rev(), m.schedule.Now()
	at := map[string]int{}
	for _, l := range m.loops {
		if l.InServer {
			continue
		}
		s := Standing{Name: l.Name, Stopped: l.stopped, Crashed: l.crashed, Delay: l.delay, Lagging: l.cache.missed(), Knows: newest}
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

// StepOf does one reconcile of a controller. It reports false when that has nothing to do now, or is stopped.
func (m *Manager) StepOf(name string) bool {
	return m.step(func(m *Manager, l *loop) bool { return l.Name == name && m.works(l) }, false)
}
