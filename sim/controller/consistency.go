package controller

import (
	"errors"
	"slices"

	"github.com/kubesim/kubesim/sim/status"
)

// consistentSince is the minor version since which some controllers wait until their cache shows their own writes (KEP-5647).
const consistentSince = 36

// newestWrite is the newest write to a resource by reconciles of a key. It is recorded only if the cache does not show it
// immediately.
type newestWrite struct {
	Key      Key
	Resource string
	Rev      uint64
}

// unread is the error of a reconcile if the controller's cache does not contain its last write of the key yet
// (consistency.ConsistencyError).
var unread = status.Internal(errors.New("the cache is not as new as what was written last"))

// wrote records a write of the current reconcile, unless the informers show it immediately.
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

// behind reports whether the cache lacks a write for a key. If the cache shows all writes, behind drops their records.
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
