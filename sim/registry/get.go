package registry

import (
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Get reads one object and calls done with it or with an error (API concepts, "Semantics for get and list"). If rv is empty, it
// reads from the store. If rv is "0", it reads the current state of this replica's cache. For any other resourceVersion it waits
// until the cache has reached it.
func (r *Registry) Get(q *Request, rv string, done func(*resource.Item, *status.Status)) {
	d := q.Definition
	if s := checkName(q.Name); s != nil {
		done(nil, s)
		return
	}
	if items, ok := observed(d); ok {
		done(getObserved(q, items))
		return
	}
	rev, ok := ParseRev(rv)
	if !ok {
		if r.uncached(d) || r.checkReady(d) != nil {
			done(nil, invalidListVersion(rv)) // the store and the cache have different messages
			return
		}
		done(nil, status.InvalidVersion(rv))
		return
	}
	cache := r.Backend.Cache(d.Hub)
	if rv == "" || r.uncached(d) || r.checkReady(d) != nil {
		if s := r.unreachable(d, "get"); s != nil {
			done(nil, s)
			return
		}
		if rev > r.Backend.Store().Rev() {
			done(nil, status.TooLargeResourceVersion(rev, r.Backend.Store().Rev(), 0))
			return
		}
		done(r.found(q, r.storedForGet(q.Asker, d, q.Namespace, q.Name)))
		return
	}
	r.Backend.Await(cache, rev, func(fresh bool) {
		if !fresh {
			done(nil, status.TooLargeResourceVersion(rev, cache.Rev(), 1))
			return
		}
		var it *resource.Item
		if kv := cache.View().Get(d.Key(q.Namespace, q.Name)); kv != nil {
			it = resource.ItemOf(d.Hub, kv)
		}
		done(r.found(q, it))
	})
}

func (r *Registry) found(q *Request, it *resource.Item) (*resource.Item, *status.Status) {
	if it == nil {
		return nil, status.NotFound(q.Definition.GroupResource(), q.Name)
	}
	return inAnswer(q, it), r.corrupt(q.Definition, it)
}

// checkName rejects names that cannot be a path segment.
func checkName(name string) *status.Status {
	if name == "" {
		return status.BadRequest("name must be provided")
	}
	return status.NameParameter(name)
}

// uncached reports whether lists and watches of a resource are served from the store, not from a watch cache.
func (r *Registry) uncached(d *resource.Definition) bool {
	return d.Hub.Strategy.Uncached || r.Config != nil && r.Config.NoWatchCache
}
