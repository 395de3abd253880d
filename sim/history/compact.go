package history

import (
	"time"

	"github.com/kubesim/kubesim/sim/watchcache"
)

// compactionInterval is the interval of compactions. Each compacts to the revision that was the newest one interval earlier, so a
// revision can be read for 5 to 10 minutes (DefaultCompactInterval).
const compactionInterval = 5 * time.Minute

// Compaction is the schedule of compactions, on the Cluster's clock. There is no timer: a compaction is not visible before the next
// request, so it is done when the Cluster's lock is next taken.
type Compaction struct {
	Next    time.Time
	Seen    uint64    // revision to compact to at Next: the newest one at the last compaction
	Floor   uint64    // compacted revision that the caches have yet to learn about, 0 if they know
	FloorAt time.Time // when they learn about it
}

// CatchUp does the compactions that have become due.
func (h *History) CatchUp() {
	now, k := h.schedule.Now(), &h.compact
	for !now.Before(k.Next) {
		_ = h.compactTo(k.Seen, k.Next) // fails if it is already compacted
		k.Seen = h.log.Store.Rev()
		if k.Next = k.Next.Add(compactionInterval); h.log.Store.Compacted() == k.Seen {
			if skip := now.Sub(k.Next) / compactionInterval; skip >= 0 { // nothing has happened since: one more is enough
				k.Next = k.Next.Add(skip * compactionInterval)
			}
		}
	}
	if k.Floor != 0 && !now.Before(k.FloorAt) {
		h.caches.Compacted(k.Floor)
		k.Floor = 0
	}
}

// Compact compacts the store to the newest revision. The caches learn of it at their next poll.
func (h *History) Compact() { _ = h.CompactTo(h.log.Store.Rev()) } // an error means that it is already compacted

// CompactTo compacts the store to rev.
func (h *History) CompactTo(rev uint64) error { return h.compactTo(rev, h.schedule.Now()) }

// Expire makes the store and the caches forget all history.
func (h *History) Expire() {
	h.Compact()
	h.caches.Forget()
}

// compactTo compacts the store to rev. It returns an error and changes nothing if the store is already compacted further.
func (h *History) compactTo(rev uint64, at time.Time) error {
	if err := h.log.Store.Compact(rev); err != nil {
		return err
	}
	h.compact.Floor, h.compact.FloorAt = rev, at.Add(watchcache.CompactionPoll)
	h.forget()
	if h.journal != nil {
		h.journal.Compact(rev, at)
	}
	return nil
}

// Compact applies a compaction to a State that its cluster did after the State was taken. The State already has the commits before
// and after the compaction.
func (s *State) Compact(rev uint64, at time.Time) error {
	if err := s.Store.Compact(rev); err != nil {
		return err
	}
	m := marks{list: s.Marks}
	m.forget(rev)
	s.Marks = m.list
	s.Compaction = Compaction{Next: at.Add(compactionInterval), Seen: max(rev, m.revisionAt(at))}
	return nil
}

// Floor returns the compacted revision. known is false if the caches have yet to learn of it.
func (h *History) Floor() (rev uint64, known bool) {
	return h.log.Store.Compacted(), h.compact.Floor == 0
}

// compactionAt returns the schedule of compactions at a time in the past, when rev was the newest revision.
func (h *History) compactionAt(at time.Time, rev uint64) Compaction {
	next := h.compact.Next
	for next.Add(-compactionInterval).After(at) {
		next = next.Add(-compactionInterval)
	}
	seen := h.log.Store.Compacted()
	for _, m := range h.marks.list {
		if m.Rev <= rev && !m.At.After(next.Add(-compactionInterval)) {
			seen = max(seen, m.Rev)
		}
	}
	return Compaction{Next: next, Seen: seen}
}
