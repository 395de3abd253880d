// Package history records the time of each revision of a cluster's store, the leases of stored objects, and compactions.
//
//	revision   4004      4005      4006      4007
//	           compacted
//	marks                00:00:01  00:00:01  00:00:12   when it was committed, and the random numbers after it
//	leases               events/a until 01:00:01        then it is deleted, unless it is written again
//	journal              ────────────────────────▶      a copy of the log, kept by a Journal
//	compaction           next 00:05:00, of 4007
//	shared               ────────────────────────▶      copies of the store in other processes (share.go)
//
// A State contains all of this: a cluster that continues from it, loaded from an archive or forked, responds as the original
// would have. StateAt returns a State of the past.
package history

import (
	"math/rand/v2"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/random"
)

// Caches are the watch caches of API servers.
type Caches interface {
	// Compacted notifies the caches that the store is compacted to a revision.
	Compacted(rev uint64)
	// Forget makes the caches forget all history.
	Forget()
	// Followed notifies the caches that the changes of another process have been applied.
	Followed()
}

// History is the history of a cluster's log. The Cluster's lock guards it.
type History struct {
	log      *commit.Log
	schedule *clock.Schedule
	random   *random.Streams
	caches   Caches
	journal  Journal // may be nil
	shared   Shared  // nil if no other process has the store

	following bool // the changes of another process are being applied

	marks   Marks
	state   []rand.PCG // buffer for the state of the random streams
	batches []*batch   // of leases, in the order in which they were granted
	compact Compaction
}

// New returns the history of a log that has not started.
func New(log *commit.Log, schedule *clock.Schedule, random *random.Streams, caches Caches) *History {
	return &History{log: log, schedule: schedule, random: random, caches: caches}
}

// Reset clears everything, including the store, and restarts the schedule of compactions.
func (h *History) Reset() {
	h.marks, h.batches = Marks{}, nil
	h.compact = Compaction{Next: h.schedule.Now().Add(compactionInterval)}
}

// Begin sets the cluster's store. The cluster continues from the oldest revision of the store. Begin returns the view of that
// revision.
func (h *History) Begin(store *mvcc.Store) *mvcc.View {
	first := store.Compacted()
	h.log.Begin(store)
	h.Remember(first)
	h.compact.Seen = first
	view, err := store.At(first)
	if err != nil {
		panic("history: the store has no oldest revision: " + err.Error())
	}
	return view
}

// Remember records the mark of a revision that was just committed.
func (h *History) Remember(rev uint64) { h.mark(rev, h.schedule.Now()) }

// mark records the mark of a revision.
func (h *History) mark(rev uint64, at time.Time) {
	h.state = h.random.AppendState(h.state[:0])
	h.marks.Add(rev, at, h.state)
}

// Committed implements commit.Listener. The journal receives a commit before any cache or client.
func (h *History) Committed(c *commit.Commit) {
	h.mark(c.Rev, c.At)
	if h.journal != nil {
		h.journal.Commit(c.Event, c.At)
	}
	h.publishCommit(c.Event, c.At)
}

// Store returns the cluster's store.
func (h *History) Store() *mvcc.Store { return h.log.Store }

// RevisionAt returns the newest revision at a time in the past. It returns false if the store does not have that revision.
func (h *History) RevisionAt(t time.Time) (uint64, bool) {
	rev := h.marks.revisionAt(t, h.log.Store.Rev())
	return rev, rev >= h.log.Store.Compacted() && rev != 0
}

// TimeOf returns the time at which a revision was committed. It returns false if the store does not have that revision.
func (h *History) TimeOf(rev uint64) (time.Time, bool) {
	m, ok := h.marks.find(rev)
	if !ok || rev > h.log.Store.Rev() {
		return time.Time{}, false
	}
	return m.At, true
}

// Restore resets the store to an older revision that it still has. Later commits are dropped from the history. Restore returns an
// error if the store does not have the revision.
func (h *History) Restore(rev uint64) error {
	if err := h.log.Store.Restore(rev); err != nil {
		return err
	}
	h.marks.undo(rev)
	h.compact.Seen = min(h.compact.Seen, h.log.Store.Rev())
	return nil
}
