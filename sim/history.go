package sim

import (
	"time"

	"github.com/kubesim/kubesim/sim/watchcache"
)

// compactionInterval is how often the store forgets: each time everything before the revision that was the newest one
// interval earlier. A revision can be read for 5 to 10 minutes (DefaultCompactInterval).
const compactionInterval = 5 * time.Minute

// compactor compacts on the Cluster's clock. It has no timer: nobody can see a compaction before the next request, so
// it is done when the Cluster's lock is next taken.
type compactor struct {
	next time.Time // of the next compaction
	seen uint64    // revision that was the newest at the last one

	floor   uint64    // compacted revision that the caches have yet to learn about
	floorAt time.Time // when they do
}

// catchUp does the compactions that have become due.
func (c *Cluster) catchUp() {
	now := c.clock.Now()
	for !now.Before(c.compact.next) {
		c.compactTo(c.compact.seen, c.compact.next)
		c.compact.seen = c.store.Rev()
		if c.compact.next = c.compact.next.Add(compactionInterval); c.store.Compacted() == c.compact.seen {
			if skip := now.Sub(c.compact.next) / compactionInterval; skip >= 0 { // nothing has happened since: one more is enough
				c.compact.next = c.compact.next.Add(skip * compactionInterval)
			}
		}
	}
	if c.compact.floor != 0 && !now.Before(c.compact.floorAt) {
		for _, r := range c.replicas {
			if r.unreachable {
				continue // it learns of it when it resumes
			}
			for _, name := range r.cacheNames() {
				r.caches[name].Compacted(c.compact.floor)
			}
		}
		c.compact.floor = 0
	}
}

// compactTo makes the store forget everything before rev. A store that has already forgotten it stays as it is.
func (c *Cluster) compactTo(rev uint64, at time.Time) {
	if err := c.store.Compact(rev); err != nil {
		return
	}
	c.compact.floor, c.compact.floorAt = rev, at.Add(watchcache.CompactionPoll)
	c.forgetPast()
}

// Compact makes the store forget every revision before the newest: continue tokens and exact reads of the past are 410
// Expired as soon as the watch caches, which look every 15 s, have learned of it. Watches go on.
func (c *Cluster) Compact() {
	c.lock()
	defer c.mu.Unlock()
	c.compactTo(c.store.Rev(), c.clock.Now())
}

// Expire makes the store and every watch cache forget all history, as a compaction and a restart of every API server
// do: a continue token, an exact read or a watch from before now is 410 Expired.
func (c *Cluster) Expire() {
	c.lock()
	defer c.mu.Unlock()
	c.expire()
}

// expire is Expire with the lock held.
func (c *Cluster) expire() {
	c.compactTo(c.store.Rev(), c.clock.Now())
	for _, r := range c.replicas {
		r.forget()
	}
}
