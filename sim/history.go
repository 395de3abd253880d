package sim

import (
	"fmt"
	"time"
)

// Compact compacts the store to its newest revision. Continue tokens and exact reads of older revisions result in 410 Expired as
// soon as the watch caches notice the compaction, for which they check every 15 s. Watches continue.
func (c *Cluster) Compact() { c.do(c.history.Compact) }

// CompactTo discards the store's history before a revision, like etcd's Compact. It returns an error if the revision is already
// compacted or is in the future.
func (c *Cluster) CompactTo(rev uint64) (err error) {
	c.do(func() { err = c.history.CompactTo(rev) })
	return err
}

// Expire discards all history in the store and in every watch cache, as a compaction and a restart of all API servers would. Older
// continue tokens, exact reads and watches result in 410 Expired.
func (c *Cluster) Expire() { c.do(c.history.Expire) }

// Compacted returns the oldest revision that can be read from the store.
func (c *Cluster) Compacted() (rev uint64) {
	c.do(func() { rev = c.log.Store.Compacted() })
	return rev
}

// RevisionAt returns the newest revision at a time in the past. If the store's history does not go back that far, ok is false.
func (c *Cluster) RevisionAt(t time.Time) (rev uint64, ok bool) {
	c.do(func() { rev, ok = c.history.RevisionAt(t) })
	return rev, ok
}

// TimeOf returns the time at which a revision was committed. If the store does not have the revision, ok is false.
func (c *Cluster) TimeOf(rev uint64) (at time.Time, ok bool) {
	c.do(func() { at, ok = c.history.TimeOf(rev) })
	return at, ok
}

// Restore resets the store to an older revision that it still has, like restoring etcd from a backup, and restarts the API servers.
// Later writes are lost, and their revisions are used again. Restore returns an error if the store does not have the revision.
func (c *Cluster) Restore(rev uint64) (err error) {
	if err := c.alone(); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
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

// OnCommit calls f for every future commit, before any replica applies it. The Cluster's lock is held: f must not send requests to
// the Cluster. Forks do not call f.
func (c *Cluster) OnCommit(f func(Commit)) {
	c.do(func() { c.followers.add(f) })
}
