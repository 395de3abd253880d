package watchcache

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
)

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
