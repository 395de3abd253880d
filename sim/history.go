package sim

import (
	"fmt"
	"time"
)

// Compact makes the store forget every revision before the newest: continue tokens and exact reads of the past are 410
// Expired as soon as the watch caches, which look every 15 s, have learned of it. Watches go on.
func (c *Cluster) Compact() { c.do(c.history.Compact) }

// CompactTo makes the store discard the history before a revision, as etcd's Compact does. It returns an error if the revision is
// already compacted or is in the future.
func (c *Cluster) CompactTo(rev uint64) (err error) {
	c.do(func() { err = c.history.CompactTo(rev) })
	return err
}

// Expire discards all history in the store and in every watch cache, as a compaction and a restart of every API server do: the
// answer to a continue token, an exact read or a watch from before now is 410 Expired.
func (c *Cluster) Expire() { c.do(c.history.Expire) }

// Compacted returns the oldest revision that the store can still read.
func (c *Cluster) Compacted() (rev uint64) {
	c.do(func() { rev = c.log.Store.Compacted() })
	return rev
}

// RevisionAt returns the newest revision at a time in the past. It returns false if the store's history does not go back that far.
func (c *Cluster) RevisionAt(t time.Time) (rev uint64, ok bool) {
	c.do(func() { rev, ok = c.history.RevisionAt(t) })
	return rev, ok
}

// TimeOf returns when a revision was committed. It reports false for one that the store does not have.
func (c *Cluster) TimeOf(rev uint64) (at time.Time, ok bool) {
	c.do(func() { at, ok = c.history.TimeOf(rev) })
	return at, ok
}

// Restore resets the store to an older revision that it still has, as an etcd restored from a backup, and restarts the API servers:
// later writes are lost, and their revisions are assigned again.
func (c *Cluster) Restore(rev uint64) (err error) {
	c.do(func() {
		if err = c.history.Restore(rev); err == nil {
			for n := range c.servers.Len() {
				c.servers.At(n + 1).Restart()
			}
			if c.options.Controllers != nil {
				c.controllers.Begin()
			}
		}
	})
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// OnCommit calls f with every commit from now on, before any replica applies it. The Cluster's lock is held: f must not send
// requests to the Cluster. A fork has none of these functions.
func (c *Cluster) OnCommit(f func(Commit)) {
	c.do(func() { c.followers.add(f) })
}
