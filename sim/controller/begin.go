package controller

import (
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/mvcc"
)

// Begin lists all objects for every controller outside the API servers, as when its process starts.
func (m *Manager) Begin() {
	m.owned = ownerIndex{}
	for _, l := range m.loops {
		if !l.InServer && !l.crashed {
			m.list(l, m.log.Newest())
		}
	}
}

// Resync lists all objects for the controller with the name, if there is one.
func (m *Manager) Resync(name string) {
	if l := m.find(name); l != nil && !l.crashed {
		m.list(l, m.log.Newest())
	}
}

// list queues the keys of all existing objects that a controller watches. For a controller with a Heartbeat it also queues a Key
// without a name.
func (m *Manager) list(l *loop, view *mvcc.View) {
	if _, ok := l.Reconciler.(Heartbeat); ok {
		m.nextRenewal = time.Time{}
		m.add(l, Key{}, 0)
	}
	for i := range l.Watches {
		w := watcher{l, &l.Watches[i]}
		if w.watch.Resource == "" {
			for _, storage := range m.storages() {
				m.listAll(w, storage, view)
			}
			continue
		}
		m.listAll(w, w.watch.Resource, view)
	}
}

// storages returns the names of all that is stored.
func (m *Manager) storages() (all []string) {
	seen := map[string]bool{}
	for _, d := range m.server.Resources() {
		if !seen[d.Storage] { // some are served in two groups
			seen[d.Storage] = true
			all = append(all, d.Storage)
		}
	}
	return all
}

// listAll passes all objects of a resource to a watch.
func (m *Manager) listAll(w watcher, storage string, view *mvcc.View) {
	d := m.server.Definition(storage)
	if d == nil {
		return
	}
	view.Range(d.Key("", ""), "", func(kv *mvcc.KV) bool {
		m.notify(w, commit.Of(&mvcc.Event{Rev: kv.ModRev, Key: kv.Key, KV: kv}, view, m.schedule.Now(), m.server))
		return true
	})
}
