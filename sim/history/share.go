package history

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/pack"
)

// The kinds of a Change.
const (
	Put     = "put"
	Deleted = "delete"
	Granted = "lease"
	Compact = "compact"
)

// Change is a change to a store that several processes share.
type Change struct {
	Kind  string
	Rev   uint64    // of the commit; of the object with the lease; the oldest revision that remains
	At    time.Time // when it was made; of a lease, when it expires
	Key   string
	Value []byte // of a Put
}

// Shared connects a store to its copies in other processes, as etcd connects several API servers. Only one process at a time may
// write.
type Shared interface {
	// Acquire waits until this process may write, and returns the changes of the others since the last call, in order. It is called
	// with the Cluster's lock. If the connection is lost, it returns nil.
	Acquire() []Change
	// Publish sends a change to the others. It is called with the Cluster's lock, before any client can see the change.
	Publish(Change)
}

// Share connects the store to x. It publishes the commits after a revision, which the others do not have.
func (h *History) Share(x Shared, since uint64) error {
	h.shared = x
	return h.log.Store.Events(since, func(e *mvcc.Event) bool {
		h.publishCommit(e, h.schedule.Now())
		return true
	})
}

// publishCommit publishes a commit, unless it is one of another process.
func (h *History) publishCommit(e *mvcc.Event, at time.Time) {
	if e.KV == nil {
		h.publish(Change{Kind: Deleted, Rev: e.Rev, At: at, Key: e.Key})
		return
	}
	h.publish(Change{Kind: Put, Rev: e.Rev, At: at, Key: e.Key, Value: e.KV.Value()})
}

func (h *History) publish(c Change) {
	if h.shared != nil && !h.following {
		h.shared.Publish(c)
	}
}

// Following reports whether the changes of another process are being applied. Nothing may be written before the last of them.
func (h *History) Following() bool { return h.following }

// follow waits until this process may write, and applies the changes of the others.
func (h *History) follow() {
	if h.shared == nil || h.following {
		return
	}
	if changes := h.shared.Acquire(); len(changes) > 0 {
		h.Follow(changes)
	}
}

// Follow applies changes of other processes. It ignores commits that the store contains already. It panics if a commit is missing,
// because the copies of the store would differ from then on.
func (h *History) Follow(changes []Change) {
	h.following = true
	for _, c := range changes {
		h.apply(c)
	}
	h.following = false
	h.caches.Followed()
}

// apply applies one change.
func (h *History) apply(c Change) {
	store := h.log.Store
	switch c.Kind {
	case Granted:
		h.grant(Lease{c.Key, c.Rev, c.At})
		return
	case Compact:
		_ = h.compactTo(c.Rev, c.At) // fails if this process has compacted the store, too
		return
	}
	if c.Rev <= store.Rev() {
		return
	}
	if c.Rev != store.Rev()+1 {
		panic(fmt.Sprintf("history: the commit %d of another process follows the commit %d", c.Rev, store.Rev()))
	}
	if c.Kind == Put {
		h.log.Committed(nil, store.Put(c.Key, pack.New(c.Value), nil))
	} else if e, ok := store.Delete(c.Key); ok {
		h.log.Committed(nil, e)
	} else {
		panic("history: another process has deleted " + c.Key + ", which does not exist")
	}
}
