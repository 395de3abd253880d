// Package watchcache caches one resource in one API server: its current state, and recent events.
//
//	store      … 40 ─ 41 ─ 42 ─ 43 ─ 44 ─ 45 ─ 46                       the log of all commits
//	Position                           ▲ 44                              how far this replica has applied it
//	Cache      state: the store's view at 44
//	           ring:  [41 put a] [43 del b] [44 put c]                   events of this resource only
//	                   ▲ oldest: a watch may start after revision 40
//	Watch      queue: [44 put c] ──▶ client                              bounded; a reader too slow is cut off
//
// A cache does not store objects itself: its state is a view of the store, which remains readable after the store has compacted
// the revision. The ring keeps at least the events of the last 75 s (API concepts, "Efficient detection of changes"; capacities
// as in kube-apiserver's cacher). The response to a watch from before the oldest event is 410 Expired.
//
// Nothing in this package blocks or is safe for concurrent use: the caller must hold the Cluster's lock.
package watchcache

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
)

const (
	capacityMin = 100
	capacityMax = 102400

	// freshness is the minimum time for which an event stays in the ring: the bookmark period plus 15 s.
	freshness = 75 * time.Second
)

// Position is the state of the store up to which a replica has applied the log. The caches of a replica share one Position, unless
// a cache lags behind the others (Cache.Follow).
type Position struct {
	View *mvcc.View
}

// Rev returns the revision that has been applied.
func (p *Position) Rev() uint64 { return p.View.Rev() }

// Cache caches one resource on one replica. Caches may share a position.
type Cache struct {
	state    State
	position *Position
	watches  groups
	index    *index // nil until it is needed
}

// New returns the cache of the keys with prefix, as if it had been filled by a list at revision since and had received no events
// yet.
func New(prefix string, position *Position, since uint64) *Cache {
	return &Cache{state: State{Prefix: prefix, Capacity: capacityMin, ListRev: since}, position: position}
}

// Rev returns the revision up to which the cache has applied all commits.
func (c *Cache) Rev() uint64 { return c.position.Rev() }

// View returns the state of the cache. The view also contains other resources, so callers must restrict reads to the cache's
// prefix.
func (c *Cache) View() *mvcc.View { return c.position.View }

// Oldest returns the oldest revision after which a watch can start. A watch after an earlier revision fails with 410 Expired.
func (c *Cache) Oldest() uint64 {
	if !c.state.Evicted || len(c.state.Ring) == 0 {
		return c.state.ListRev
	}
	return c.state.Ring[0].Event.Rev - 1
}

// Snapshot returns the state at revision rev. It returns nil if the cache does not have that state; the caller then reads from the
// store.
func (c *Cache) Snapshot(rev uint64) *mvcc.View {
	if rev < c.state.Floor || rev > c.Rev() || len(c.state.Ring) == 0 || rev < c.state.Ring[0].Event.Rev {
		return nil
	}
	return c.state.Ring[len(c.state.Ring)-len(c.state.since(rev))-1].View
}

// since returns the events after revision rev.
func (s *State) since(rev uint64) []RingEntry {
	return s.Ring[sort.Search(len(s.Ring), func(i int) bool { return s.Ring[i].Event.Rev > rev }):]
}

// Compacted notifies the cache that the store has been compacted to rev. The cache drops older snapshots. The real server polls
// for compactions, so the caller delays the call by up to CompactionPoll.
func (c *Cache) Compacted(rev uint64) { c.state.Floor = max(c.state.Floor, rev) }

// CompactionPoll is the interval at which an API server polls for compactions, and therefore the longest time for which a cache
// keeps compacted snapshots.
const CompactionPoll = 15 * time.Second

// Apply applies the commit that the replica's position has just reached. It ignores keys of other resources.
func (c *Cache) Apply(commit *mvcc.Event, now time.Time) {
	if !strings.HasPrefix(commit.Key, c.state.Prefix) {
		return
	}
	c.state.push(RingEntry{commit, c.position.View, now})
	if c.index != nil {
		c.index.apply(commit)
	}
	e := &Event{Event: commit}
	for _, w := range c.watches.concerned(commit, c.state.Prefix) {
		w.notify(e, false)
	}
	if before := commit.Prev; before != nil && before.Aux != nil {
		before.Aux.Superseded()
	}
}

func (s *State) push(e RingEntry) {
	if len(s.Ring) >= s.Capacity {
		s.resize(e.At)
	}
	if drop := len(s.Ring) - s.Capacity + 1; drop > 0 {
		clear(s.Ring[:drop]) // the old array lives until append reallocates, and must not keep dropped entries alive until then
		s.Ring = s.Ring[drop:]
		s.Evicted = true
	}
	s.Ring = append(s.Ring, e)
}

// resize doubles the capacity of a full ring if all events are fresh, and halves it if three quarters of them are stale.
func (s *State) resize(now time.Time) {
	if now.Sub(s.Ring[0].At) < freshness {
		s.Capacity = min(s.Capacity*2, capacityMax)
		return
	}
	if newest := s.Ring[len(s.Ring)-len(s.Ring)/4]; now.Sub(newest.At) > freshness {
		s.Capacity = max(s.Capacity/2, capacityMin)
	}
}

// Forget drops all past events and snapshots, as if the API server had restarted: new watches from earlier revisions fail with 410
// Expired, and the past can no longer be read from the cache. Open watches continue.
func (c *Cache) Forget() {
	c.state.Ring, c.state.Evicted, c.index = nil, false, nil
	c.state.ListRev, c.state.Floor = c.Rev(), c.Rev()
}

// Refill drops the past events and snapshots and ends all watches, as if the cache were filled again.
func (c *Cache) Refill() {
	c.EndAll()
	c.Forget()
}

// State is the content of a cache without its position. It shares no mutable data with the cache.
type State struct {
	Prefix   string
	Capacity int
	ListRev  uint64 // revision of the list that filled the cache
	Evicted  bool   // an event has been dropped from the ring since then
	Floor    uint64 // snapshots before this revision are gone
	Ring     []RingEntry
}

// RingEntry is one event in the ring, with the state after it.
type RingEntry struct {
	Event *mvcc.Event
	View  *mvcc.View
	At    time.Time
}

// State returns a copy of the cache's content, for Load.
func (c *Cache) State() State {
	s := c.state
	s.Ring = slices.Clone(s.Ring)
	return s
}

// Load returns a cache with the content of s and no watches. It corrects a Capacity outside the permitted range.
func Load(s State, position *Position) *Cache {
	s.Capacity, s.Ring = min(max(s.Capacity, capacityMin), capacityMax), slices.Clone(s.Ring)
	return &Cache{state: s, position: position}
}
