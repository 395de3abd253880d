package history

import (
	"time"

	"github.com/kubesim/kubesim/sim/watchcache"
)

// compactionInterval is how often the store forgets: each time everything before the revision that was the newest one
// interval earlier. A revision can be read for 5 to 10 minutes (DefaultCompactInterval).
const compactionInterval = 5 * time.Minute

// Compaction is when the store forgets next and what, on the Cluster's clock. There is no timer: nobody can see a compaction
// before the next request, so it is done when the Cluster's lock is next taken.
type Compaction struct {
	Next    time.Time
	Seen    uint64    // revision that is compacted then: the newest at the last one
	Floor   uint64    // compacted revision that the caches have yet to learn about, 0 if they know
	FloorAt time.Time // when they do
}

// CatchUp does the compactions that have become due.
func (h *History) CatchUp() {
	now, k := h.schedule.Now(), &h.compact
	for !now.Before(k.Next) {
		_ = h.compactTo(k.Seen, k.Next) // there may be nothing new to forget
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

// Compact makes the store forget every revision before the newest. The caches learn of it when they next look.
func (h *History) Compact() { _ = h.CompactTo(h.log.Store.Rev()) } // what is forgotten already may be

// CompactTo makes the store forget every revision before rev.
func (h *History) CompactTo(rev uint64) error { return h.compactTo(rev, h.schedule.Now()) }

// Expire makes the store and the caches forget all history.
func (h *History) Expire() {
	h.Compact()
	h.caches.Forget()
}

// compactTo makes the store forget everything before rev. A store that has already forgotten it stays as it is.
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

// Compact makes a State forget what its cluster forgot at a time after it was taken. The commits of before and after that
// time are in the State.
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

// Floor returns the revision before which the caches know that the store has forgotten everything. It reports false when
// they have yet to learn of a compaction.
func (h *History) Floor() (rev uint64, known bool) {
	return h.log.Store.Compacted(), h.compact.Floor == 0
}

// compactionAt returns what the next compaction was at a time of the past, when rev was the newest revision.
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
