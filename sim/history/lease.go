package history

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
)

// Lease deletes an object at the time At, unless it has been written again after revision Rev.
type Lease struct {
	Key string
	Rev uint64
	At  time.Time
}

// Journal keeps a log of a cluster's store, as etcd does. Its methods are called for each commit (before any cache or client
// receives it), each lease, and each compaction. The Cluster's lock is held, so a Journal must not call the Cluster.
type Journal interface {
	Commit(e *mvcc.Event, at time.Time)
	Grant(l Lease)
	Compact(rev uint64, at time.Time)
}

// Keep sets the journal.
func (h *History) Keep(j Journal) { h.journal = j }

// Grant sets a time to live for the object that was just written at a key.
func (h *History) Grant(ttl time.Duration, key string, rev uint64) {
	l := Lease{key, rev, h.schedule.Now().Add(ttl)}
	h.grant(l)
	h.publish(Change{Kind: Granted, Rev: l.Rev, At: l.At, Key: l.Key})
}

// grant records a lease and starts its timer.
func (h *History) grant(l Lease) {
	if h.journal != nil {
		h.journal.Grant(l)
	}
	if h.add(l) {
		h.arm(h.batches[len(h.batches)-1])
	}
}

// batch contains leases that end at the same time. They share a timer, because a large cluster has a million of them.
type batch struct{ leases []Lease }

// add adds a lease to the last batch. It returns true if it had to begin a batch, whose timer has not started.
func (h *History) add(l Lease) bool {
	last := len(h.batches) - 1
	begin := last < 0 || !h.batches[last].leases[0].At.Equal(l.At)
	if begin {
		h.batches = append(h.batches, &batch{})
		last++
	}
	b := h.batches[last]
	b.leases = append(b.leases, l)
	return begin
}

// arm starts the timer of a batch.
func (h *History) arm(b *batch) {
	h.schedule.After(max(b.leases[0].At.Sub(h.schedule.Now()), 0), func() {
		for _, l := range b.leases {
			h.lapse(l)
		}
	})
}

// leases returns all leases, in the order in which they were granted.
func (h *History) leases() (all []Lease) {
	for _, b := range h.batches {
		all = append(all, b.leases...)
	}
	return all
}

// TakeUp starts the timers of loaded leases.
func (h *History) TakeUp() {
	newest := h.log.Newest()
	for _, b := range h.batches {
		if slices.ContainsFunc(b.leases, func(l Lease) bool {
			kv := newest.Get(l.Key)
			return kv != nil && kv.ModRev == l.Rev
		}) {
			h.arm(b)
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

// forget drops the marks and leases that are only needed for revisions before the store's oldest one.
func (h *History) forget() {
	first := h.log.Store.Compacted()
	h.marks.forget(first)
	if m, ok := h.marks.find(first); ok {
		h.batches = slices.DeleteFunc(h.batches, func(b *batch) bool { return !b.leases[0].At.After(m.At) })
	}
}
