package controller

import (
	"slices"

	"github.com/kubesim/kubesim/sim/commit"
)

// Index assigns commits to watches by a value, such as the name of a node. Watches that share an Index are looked up by value, so
// that thousands of them cost no more than one. An Index must be comparable.
type Index interface {
	// Values returns the distinct values of a commit, in the order in which their watches are notified.
	Values(c *commit.Commit) []string
}

// route maps the commits of a resource to a single watch, or to the watches of an Index by value.
type route struct {
	watcher
	index Index // nil for a single watch
	by    map[string][]watcher
}

// eachWatcher calls f with each watch that a commit concerns, in order.
func (m *Manager) eachWatcher(e *commit.Commit, f func(watcher)) {
	for _, r := range m.routesOf(e.Storage) {
		if r.index == nil {
			f(r.watcher)
			continue
		}
		for _, value := range r.index.Values(e) {
			for _, w := range r.by[value] {
				f(w)
			}
		}
	}
}

// routesOf returns the routes of a resource. Watches that share an Index have a single route, in the position of the first such
// watch.
func (m *Manager) routesOf(resource string) []route {
	routes, known := m.routes[resource]
	if known {
		return routes
	}
	indexes := map[Index]map[string][]watcher{}
	for _, w := range slices.Concat(m.watchers[resource], m.watchers[""]) {
		index := w.watch.Index
		if index == nil {
			routes = append(routes, route{watcher: w})
			continue
		}
		if indexes[index] == nil {
			indexes[index] = map[string][]watcher{}
			routes = append(routes, route{index: index, by: indexes[index]})
		}
		indexes[index][w.watch.Value] = append(indexes[index][w.watch.Value], w)
	}
	m.routes[resource] = routes
	return routes
}
