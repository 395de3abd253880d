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
	Told   uint64   // revision of the first commit that caused it; 0 if a timer did
	Read   []string // resources that it has read in its cache, in the order in which it did so first
	Knew   uint64   // revision that its cache showed of them; of several the oldest
	Before uint64   // newest revision of the store when it began
	After  uint64   // newest revision when it was over: it made the writes in between
	Failed *status.Status
	Asked  bool // it waited for a Step
}

// Quiet reports whether nothing came of it, and nothing could have gone wrong: it knew all that there was, and left it as it is.
func (r *Reconcile) Quiet() bool {
	return r.After == r.Before && r.Knew == r.Before && r.Failed == nil && !r.Asked
}

// witness collects the arguments of a Manager's Witness.
type witness struct {
	told map[Item]uint64 // revision of the first commit that caused an item which has not been reconciled yet
	now  *Reconcile      // the current reconcile; nil if there is none, or no Witness
}

// calls notes that a commit calls for an item.
func (m *Manager) calls(l *loop, key Key, rev uint64) {
	if m.Witness == nil || l.InServer {
		return
	}
	if m.witness.told == nil {
		m.witness.told = map[Item]uint64{}
	}
	if i := (Item{l.Name, key}); m.witness.told[i] == 0 {
		m.witness.told[i] = rev
	}
}

// begins is called before a reconcile.
func (m *Manager) begins(l *loop, i Item) {
	if m.Witness == nil || l.InServer {
		return
	}
	rev := m.log.Newest().Rev()
	m.witness.now = &Reconcile{Item: i, Told: m.witness.told[i], Knew: rev, Before: rev, Asked: m.Stepped}
	delete(m.witness.told, i)
}

// reads records that a controller reads a resource in its cache while it reconciles.
func (m *Manager) reads(l *loop, resource string, v *mvcc.View) {
	x := m.witness.now
	if x == nil || x.Controller != l.Name {
		return
	}
	x.Knew = min(x.Knew, v.Rev())
	if !slices.Contains(x.Read, resource) {
		x.Read = append(x.Read, resource)
	}
}

// ends is called after a reconcile.
func (m *Manager) ends(failed *status.Status) {
	x := m.witness.now
	if x == nil {
		return
	}
	m.witness.now = nil
	x.After, x.Failed = m.log.Newest().Rev(), failed
	m.Witness(*x)
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
	m.due()
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
	return m.step(func(m *Manager, l *loop) bool { return l.Name == name && m.works(l) })
}
