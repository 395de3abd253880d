package history

import (
	"time"

	"github.com/kubesim/kubesim/sim/watchcache"
)

// compactionInterval is the time between compactions. Each compacts to the revision that was the newest one interval earlier,
// so that every revision can be read for 5 to 10 minutes (DefaultCompactInterval).
const compactionInterval = 5 * time.Minute

// Compaction is the schedule of compactions on the Cluster's clock. There is no timer: no client can see a compaction before
// the next request, so it runs when the Cluster's lock is next acquired.
type Compaction struct {
	Next    time.Time
	Seen    uint64    // the newest revision at the last compaction; the next one compacts to it
	Floor   uint64    // compacted revision that the caches have not been notified of, or 0
	FloorAt time.Time // when they are notified
}

// CatchUp applies the changes of other processes, and runs the compactions that have become due.
func (h *History) CatchUp() {
	h.follow()
	now, k := h.schedule.Now(), &h.compact
	for !now.Before(k.Next) {
		_ = h.compactTo(k.Seen, k.Next) // fails if the store is already compacted to that revision
		k.Seen = h.log.Store.Rev()
		if k.Next = k.Next.Add(compactionInterval); h.log.Store.Compacted() == k.Seen {
			if skip := now.Sub(k.Next) / compactionInterval; skip >= 0 { // nothing was committed since: one more compaction is enough
				k.Next = k.Next.Add(skip * compactionInterval)
			}
		}
	}
	if k.Floor != 0 && !now.Before(k.FloorAt) {
		h.caches.Compacted(k.Floor)
		k.Floor = 0
	}
}

// Compact compacts the store to the newest revision. The caches are notified at their next poll.
func (h *History) Compact() { _ = h.CompactTo(h.log.Store.Rev()) } // fails only if the store is already compacted to it

// CompactTo compacts the store to rev. It returns an error if the revision is already compacted or is in the future.
func (h *History) CompactTo(rev uint64) error { return h.compactTo(rev, h.schedule.Now()) }

// Expire drops all history from the store and the caches.
func (h *History) Expire() {
	h.Compact()
	h.caches.Forget()
}

// compactTo compacts the store to rev. If the store is already compacted to rev or a later revision, it returns an error and
// changes nothing.
func (h *History) compactTo(rev uint64, at time.Time) error {
	if err := h.log.Store.Compact(rev); err != nil {
		return err
	}
	h.compact.Floor, h.compact.FloorAt = rev, at.Add(watchcache.CompactionPoll)
	h.forget()
	if h.journal != nil {
		h.journal.Compact(rev, at)
	}
	h.publish(Change{Kind: Compact, Rev: rev, At: at})
	return nil
}

// Compact replays a compaction of the cluster on a State that was taken before the compaction. The State must already have the
// commits before and after it.
func (s *State) Compact(rev uint64, at time.Time) error {
	if err := s.Store.Compact(rev); err != nil {
		return err
	}
	s.Marks.forget(rev)
	s.Compaction = Compaction{Next: at.Add(compactionInterval), Seen: max(rev, s.Marks.revisionAt(at, s.Store.Rev()))}
	return nil
}

// Floor returns the compacted revision. known is false if the caches have yet to learn of it.
func (h *History) Floor() (rev uint64, known bool) {
	return h.log.Store.Compacted(), h.compact.Floor == 0
}

// compactionAt returns the schedule of compactions as of a time in the past, at which rev was the newest revision.
func (h *History) compactionAt(at time.Time, rev uint64) Compaction {
	next := h.compact.Next
	for next.Add(-compactionInterval).After(at) {
		next = next.Add(-compactionInterval)
	}
	seen := min(rev, h.marks.revisionAt(next.Add(-compactionInterval), h.log.Store.Rev()))
	return Compaction{Next: next, Seen: max(seen, h.log.Store.Compacted())}
}
