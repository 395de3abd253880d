package history

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
)

// Lease deletes an object that was written at revision Rev, unless it is written again before At.
type Lease struct {
	Key string
	Rev uint64
	At  time.Time
}

// Journal keeps a log of a cluster's store, as etcd does. Its methods are called for each commit, before any cache or client receives
// it, for each lease, and for each compaction. The Cluster's lock is held: a Journal must not call the Cluster.
type Journal interface {
	Commit(e *mvcc.Event, at time.Time)
	Grant(l Lease)
	Compact(rev uint64, at time.Time)
}

// Keep makes j the journal.
func (h *History) Keep(j Journal) { h.journal = j }

// Grant gives the object that was just written at a key a time to live.
func (h *History) Grant(ttl time.Duration, key string, rev uint64) {
	l := Lease{key, rev, h.schedule.Now().Add(ttl)}
	h.leases = append(h.leases, l)
	if h.journal != nil {
		h.journal.Grant(l)
	}
	h.schedule.After(ttl, func() { h.lapse(l) })
}

// TakeUp sets the timers of the leases that were loaded.
func (h *History) TakeUp() {
	now := h.schedule.Now()
	for _, l := range h.leases {
		if kv := h.log.Newest().Get(l.Key); kv != nil && kv.ModRev == l.Rev {
			h.schedule.After(max(l.At.Sub(now), 0), func() { h.lapse(l) })
		}
	}
}

// lapse deletes an object whose lease has expired.
func (h *History) lapse(l Lease) {
	if kv, err := h.log.Store.Get(l.Key, 0); err != nil || kv == nil || kv.ModRev != l.Rev {
		return
	}
	if event, ok := h.log.Store.Delete(l.Key); ok {
		h.log.Committed(nil, event)
	}
}

// forget drops the data that only revisions before the store's oldest one need.
func (h *History) forget() {
	first := h.log.Store.Compacted()
	h.marks.forget(first)
	if m := h.marks.find(first); m != nil {
		h.leases = slices.DeleteFunc(h.leases, func(l Lease) bool { return !l.At.After(m.At) })
	}
}
