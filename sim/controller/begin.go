package controller

import (
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/mvcc"
)

// Begin lists all objects for every controller, as when the controllers' process starts. It skips crashed controllers and all
// controllers inside API servers.
func (m *Manager) Begin() {
	m.owned = ownerIndex{}
	from := m.lists()
	for _, l := range m.loops {
		if !l.InServer && !l.crashed {
			m.list(l, from)
		}
	}
}

// lists provides the objects of one state of the store. It groups the objects of a resource by the values of an Index only once,
// even if several watches share the Index.
type lists struct {
	view   *mvcc.View
	sorted map[sortedBy]map[string][]*commit.Commit
}

// sortedBy identifies a resource whose objects are grouped by the values of an Index.
type sortedBy struct {
	resource string
	index    Index
}

// lists returns the objects of the newest state of the store.
func (m *Manager) lists() *lists {
	return &lists{m.log.Newest(), map[sortedBy]map[string][]*commit.Commit{}}
}

// Resync lists all objects for the named controller. It is a no-op if no controller with that name exists.
func (m *Manager) Resync(name string) {
	if l := m.find(name); l != nil && !l.crashed {
		m.list(l, m.lists())
	}
}

// list queues the keys of all existing objects that a controller watches. For a controller with a Heartbeat it also queues a Key
// without a name.
func (m *Manager) list(l *loop, from *lists) {
	if _, ok := l.Reconciler.(Heartbeat); ok {
		m.nextRenewal = time.Time{}
		m.add(l, Key{}, 0)
	}
	for i := range l.Watches {
		w := watcher{l, &l.Watches[i]}
		if w.watch.Resource == "" {
			for _, storage := range m.storages() {
				m.listAll(w, storage, from)
			}
			continue
		}
		m.listAll(w, w.watch.Resource, from)
	}
}

// storages returns the storage names of all resources.
func (m *Manager) storages() (all []string) {
	seen := map[string]bool{}
	for _, d := range m.server.Resources() {
		if !seen[d.Storage] { // a resource that is served in two groups has two definitions
			seen[d.Storage] = true
			all = append(all, d.Storage)
		}
	}
	return all
}

// listAll notifies a watch of all objects of a resource that match the watch's Index, if it has one.
func (m *Manager) listAll(w watcher, storage string, from *lists) {
	if w.watch.Index != nil {
		for _, c := range m.sorted(sortedBy{storage, w.watch.Index}, from)[w.watch.Value] {
			m.notify(w, c)
		}
		return
	}
	m.eachObject(storage, from.view, func(c *commit.Commit) { m.notify(w, c) })
}

// sorted returns the objects of a resource, grouped by the values of an Index. It keeps the result in from.
func (m *Manager) sorted(by sortedBy, from *lists) map[string][]*commit.Commit {
	all := from.sorted[by]
	if all == nil {
		all = map[string][]*commit.Commit{}
		m.eachObject(by.resource, from.view, func(c *commit.Commit) {
			for _, value := range by.index.Values(c) {
				all[value] = append(all[value], c)
			}
		})
		from.sorted[by] = all
	}
	return all
}

// eachObject calls f with each object of a resource, as if it had just been written.
func (m *Manager) eachObject(storage string, view *mvcc.View, f func(*commit.Commit)) {
	d := m.server.Definition(storage)
	if d == nil {
		return
	}
	view.Range(d.Key("", ""), "", func(kv *mvcc.KV) bool {
		f(commit.Of(&mvcc.Event{Rev: kv.ModRev, Key: kv.Key, KV: kv}, view, m.schedule.Now(), m.server))
		return true
	})
}
