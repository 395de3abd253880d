package controller

import (
	"errors"
	"slices"

	"github.com/kubesim/kubesim/sim/status"
)

// consistentSince is the minor since which some controllers wait until their cache shows their own writes (KEP-5647).
const consistentSince = 36

// newestWrite is the newest write of a resource that a reconcile of a key has made, and that the cache did not show.
type newestWrite struct {
	Key      Key
	Resource string
	Rev      uint64
}

// unread is the error for a cache that is older than the last write for a key (consistency.ConsistencyError).
var unread = status.Internal(errors.New("the cache is not as new as what was written last"))

// wrote notes a write of the current reconcile, unless the informers show it at once.
func (l *loop) wrote(of string, rev uint64) {
	i := l.client.manager.queue.work.item
	if i.Controller != l.Name || l.cache.lagging[of] == nil || !slices.Contains(l.ReadsWrites, of) || !l.client.Since(consistentSince) {
		return
	}
	for n := range l.written {
		if w := &l.written[n]; w.Key == i.Key && w.Resource == of {
			w.Rev = max(w.Rev, rev)
			return
		}
	}
	l.written = append(l.written, newestWrite{i.Key, of, rev})
}

// behind reports whether the cache lacks a write for a key. If it has them all, they are forgotten.
func (l *loop) behind(key Key) bool {
	if len(l.written) == 0 {
		return false
	}
	newest := l.client.manager.log.Newest()
	if slices.ContainsFunc(l.written, func(w newestWrite) bool { return w.Key == key && w.Rev > l.cache.of(w.Resource, newest).Rev() }) {
		return true
	}
	l.written = slices.DeleteFunc(l.written, func(w newestWrite) bool { return w.Key == key })
	return false
}
