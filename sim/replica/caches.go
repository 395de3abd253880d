package replica

import (
	"slices"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/flowcontrol"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// waiter is a read that waits until a cache reaches a revision.
type waiter struct {
	cache *watchcache.Cache
	rev   uint64
	done  func(fresh bool)
	stop  func() // cancels the timeout
}

// end makes all waiting reads continue as if they had timed out, and ends all watches.
func (r *Server) end() {
	waiting := r.waiting
	r.waiting = nil
	for _, w := range waiting {
		w.stop()
		w.done(false)
	}
	for _, name := range r.cacheNames() {
		r.caches[name].EndAll()
	}
}

// restartAt refills the caches from view. It makes waiting reads continue as if they had timed out, and ends all watches.
func (r *Server) restartAt(view *mvcc.View) {
	r.end()
	r.lagsAll, r.unreachable, r.lagging, r.unready = false, false, map[string]bool{}, map[string]Window{}
	r.position = &watchcache.Position{View: view}
	r.caches = map[string]*watchcache.Cache{}
	r.filled, r.flow = view.Rev(), nil
	r.redefine()
}

func (r *Server) cacheNames() []string { return object.SortedKeys(r.caches) }

// cache returns the cache of a resource. If there is none, it creates one.
func (r *Server) cache(storage string) *watchcache.Cache {
	c, ok := r.caches[storage]
	if !ok {
		c = watchcache.New("/registry/"+storage+"/", r.position, r.filled)
		r.caches[storage] = c
	}
	return c
}

// Apply applies a commit, unless the server lags or is cut off from the store.
func (r *Server) Apply(e *commit.Commit) {
	if r.lagsAll || r.unreachable {
		return
	}
	r.cache(e.Storage) // created before the position advances, because the cache has not seen this event
	r.position.View = e.View
	if !r.lagging[e.Storage] {
		r.take(e)
	}
}

// take applies a commit to the cache of its resource. The position of that cache must already have advanced to the commit.
func (r *Server) take(e *commit.Commit) {
	cache := r.cache(e.Storage)
	if r.n != peerNumber {
		r.set.Listener().Applied(r.n, e)
	}
	cache.Apply(e.Event, e.At)
	switch e.Storage {
	case crd.Storage:
		r.applyDefinition(e.Event)
	case flowcontrol.Schemas, flowcontrol.Levels:
		r.flow = nil
	}
}

// wake resumes the reads that were waiting for a revision which the caches have reached.
func (r *Server) wake() {
	if len(r.waiting) == 0 {
		return
	}
	waiting := r.waiting
	r.waiting = nil
	for _, w := range waiting {
		if w.cache.Rev() < w.rev {
			r.waiting = append(r.waiting, w)
			continue
		}
		w.stop()
		w.done(true)
	}
}

// await implements registry.Backend.Await.
func (r *Server) await(cache *watchcache.Cache, rev uint64, done func(fresh bool)) {
	if cache.Rev() >= rev {
		done(true)
		return
	}
	w := &waiter{cache: cache, rev: rev, done: done}
	w.stop = r.set.Schedule.After(registry.FreshnessTimeout, func() {
		r.waiting = slices.DeleteFunc(slices.Clone(r.waiting), func(x *waiter) bool { return x == w })
		done(false)
	})
	r.waiting = append(r.waiting, w)
}

// forget discards the history in all caches.
func (r *Server) forget() {
	r.filled = r.position.Rev()
	for _, name := range r.cacheNames() {
		r.caches[name].Forget()
	}
}

// compacted notifies all caches of the revision to which the store was compacted.
func (r *Server) compacted(rev uint64) {
	for _, name := range r.cacheNames() {
		r.caches[name].Compacted(rev)
	}
}
