package replica

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// Window is the period in which a cache is not ready.
type Window struct{ Since, Until time.Time }

// everything stands for all resources.
const everything = "*"

// Unready makes the replica refill the watch caches of the given resources, or all of its caches. That takes the time d. Their
// watches end. Until the caches are ready, new watches and most lists are rejected with 429. Clients observe this in the first
// seconds after an API server restarts, and for a resource whose definition is new.
func (r *Server) Unready(d time.Duration, resources ...string) error {
	if d <= 0 {
		return fmt.Errorf("a cache cannot be unready for %v: use a duration such as 30s", d)
	}
	names := []string{everything}
	if len(resources) > 0 {
		var err error
		if names, err = r.storageNames(resources); err != nil {
			return err
		}
	}
	now := r.set.Schedule.Now()
	for _, name := range names {
		w := Window{now, now.Add(d)}
		if before, ok := r.unready[name]; ok {
			w.Since = before.Since
		}
		r.unready[name] = w
		for _, cache := range r.cachesOf(name) {
			r.caches[cache].EndAll()
		}
		r.readyAfter(name, d)
	}
	return nil
}

// readyAfter ends a window after d, unless the window was extended in the meantime.
func (r *Server) readyAfter(name string, d time.Duration) {
	until := r.unready[name].Until
	r.set.Schedule.After(d, func() {
		if w, ok := r.unready[name]; !ok || !w.Until.Equal(until) {
			return
		}
		delete(r.unready, name)
		for _, cache := range r.cachesOf(name) {
			r.caches[cache].Forget()
		}
	})
}

// cachesOf returns the storage names of the caches to which a window applies.
func (r *Server) cachesOf(name string) []string {
	if name == everything {
		return r.cacheNames()
	}
	r.cache(name)
	return []string{name}
}

// downtime returns the time for which a cache has not been ready. If the cache is ready, it returns false.
func (r *Server) downtime(storage string) (time.Duration, bool) {
	for _, name := range []string{storage, everything} {
		if w, ok := r.unready[name]; ok {
			return r.set.Schedule.Now().Sub(w.Since), true
		}
	}
	return 0, false
}

// notReady returns the storage names of the caches that are not ready, or "*" for all caches.
func (r *Server) notReady() []string {
	return append([]string{}, object.SortedKeys(r.unready)...)
}
