// Package watchcache caches one resource in one API server: the state that it has applied and the recent events that led there.
//
//	store      … 40 ─ 41 ─ 42 ─ 43 ─ 44 ─ 45 ─ 46                       the log of all commits
//	Position                           ▲ 44                              how far this replica has applied it
//	Cache      state: the store's view at 44
//	           ring:  [41 put a] [43 del b] [44 put c]                   events of this resource only
//	                   ▲ oldest: a watch may start after revision 40
//	Watch      queue: [44 put c] ──▶ client                              bounded; a reader too slow is cut off
//
// A cache holds no objects of its own: its state is a view of the store, which stays readable after the store has compacted the
// revision. The ring keeps at least the events of the last 75 s (API concepts, "Efficient detection of changes"; capacities as in
// kube-apiserver's cacher). For revisions before its oldest event the answer is 410 Expired.
//
// Nothing here is safe for concurrent use, and nothing blocks: the Cluster's lock is held by the caller.
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

	// freshness is the minimal time that an event stays in the ring: the bookmark period and 15 s more.
	freshness = 75 * time.Second
)

// Position is the state of the store up to which one replica has applied the log. Caches of a replica share it, unless one lags on
// its own.
type Position struct {
	View *mvcc.View
}

// Rev returns the revision that has been applied.
func (p *Position) Rev() uint64 { return p.View.Rev() }

// Cache is one resource on one replica. Its position is shared.
type Cache struct {
	state    State
	position *Position
	watches  []*Watch
}

// New returns the cache of the keys with prefix, which was filled at the revision since and had no event until now.
func New(prefix string, position *Position, since uint64) *Cache {
	return &Cache{state: State{Prefix: prefix, Capacity: capacityMin, ListRev: since}, position: position}
}

// Rev returns the revision up to which the cache has applied all commits.
func (c *Cache) Rev() uint64 { return c.position.Rev() }

// View returns the state of the cache. It holds other resources too: read it with the cache's prefix.
func (c *Cache) View() *mvcc.View { return c.position.View }

// Oldest returns the oldest revision after which a watch can start.
func (c *Cache) Oldest() uint64 {
	if !c.state.Evicted || len(c.state.Ring) == 0 {
		return c.state.ListRev
	}
	return c.state.Ring[0].Event.Rev - 1
}

// Snapshot returns the state at a past revision, or nil if the cache does not have it: then the store is read.
func (c *Cache) Snapshot(rev uint64) *mvcc.View {
	if rev < c.state.Floor || rev > c.Rev() || len(c.state.Ring) == 0 || rev < c.state.Ring[0].Event.Rev {
		return nil
	}
	return c.state.Ring[len(c.state.Ring)-len(c.state.since(rev))-1].View
}

// since returns the events after a revision.
func (s *State) since(rev uint64) []RingEntry {
	return s.Ring[sort.Search(len(s.Ring), func(i int) bool { return s.Ring[i].Event.Rev > rev }):]
}

// Compacted notifies the cache that the store has been compacted to rev; older snapshots are dropped. The real server polls for
// compactions, so the caller delays the call by up to CompactionPoll.
func (c *Cache) Compacted(rev uint64) { c.state.Floor = max(c.state.Floor, rev) }

// CompactionPoll is the interval in which an API server polls for compactions, and so the longest time that a cache keeps compacted
// snapshots.
const CompactionPoll = 15 * time.Second

// Apply applies a commit that the replica's position has just reached. It ignores keys of other resources.
func (c *Cache) Apply(commit *mvcc.Event, now time.Time) {
	if !strings.HasPrefix(commit.Key, c.state.Prefix) {
		return
	}
	c.state.push(RingEntry{commit, c.position.View, now})
	e := &Event{Event: commit}
	for _, w := range c.watches {
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
		clear(s.Ring[:drop]) // append moves the rest to a new array now and then: until then nothing keeps what they hold
		s.Ring = s.Ring[drop:]
		s.Evicted = true
	}
	s.Ring = append(s.Ring, e)
}

// resize doubles the capacity of a full ring whose events are all fresh, and halves it when three quarters are stale.
func (s *State) resize(now time.Time) {
	if now.Sub(s.Ring[0].At) < freshness {
		s.Capacity = min(s.Capacity*2, capacityMax)
		return
	}
	if newest := s.Ring[len(s.Ring)-len(s.Ring)/4]; now.Sub(newest.At) > freshness {
		s.Capacity = max(s.Capacity/2, capacityMin)
	}
}

// Forget drops all history, as an API server does that was restarted: watches from before now are 410 Expired, and so
// are reads of the past. Watches that are open go on.
func (c *Cache) Forget() {
	c.state.Ring, c.state.Evicted = nil, false
	c.state.ListRev, c.state.Floor = c.Rev(), c.Rev()
}

// Refill fills the cache again: its events are dropped, and its watches end.
func (c *Cache) Refill() {
	c.EndAll()
	c.Forget()
}

// State is the content of a cache, apart from its position. It shares nothing that changes with the cache.
type State struct {
	Prefix   string
	Capacity int
	ListRev  uint64 // revision of the list that the cache was filled from
	Evicted  bool   // an event has left the ring since then
	Floor    uint64 // snapshots before this revision are gone
	Ring     []RingEntry
}

// RingEntry is one event in the ring, with the state after it.
type RingEntry struct {
	Event *mvcc.Event
	View  *mvcc.View
	At    time.Time
}

// State returns what the cache remembers.
func (c *Cache) State() State {
	s := c.state
	s.Ring = slices.Clone(s.Ring)
	return s
}

// Load returns a cache without watches that remembers s.
func Load(s State, position *Position) *Cache {
	s.Capacity, s.Ring = min(max(s.Capacity, capacityMin), capacityMax), slices.Clone(s.Ring)
	return &Cache{state: s, position: position}
}
