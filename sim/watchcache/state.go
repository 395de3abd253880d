package watchcache

import (
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
)

// State is what a cache remembers, apart from its position. It shares nothing that changes with the cache.
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
	s := State{Prefix: c.prefix, Capacity: c.capacity, ListRev: c.listRev, Evicted: c.evicted, Floor: c.floor,
		Ring: make([]RingEntry, len(c.ring))}
	for i, e := range c.ring {
		s.Ring[i] = RingEntry{e.event, e.view, e.at}
	}
	return s
}

// Load returns a cache without watches that remembers s.
func Load(s State, position *Position) *Cache {
	c := &Cache{prefix: s.Prefix, position: position, capacity: min(max(s.Capacity, capacityMin), capacityMax),
		listRev: s.ListRev,
		evicted: s.Evicted, floor: s.Floor, ring: make([]entry, len(s.Ring))}
	for i, e := range s.Ring {
		c.ring[i] = entry{e.Event, e.View, e.At}
	}
	return c
}
