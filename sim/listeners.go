package sim

import (
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
)

// committed tells all who must know of a commit.
func (c *Cluster) committed(e *mvcc.Event) {
	defer func(was bool) { c.conversions.unlocks = was }(c.conversions.unlocks)
	c.conversions.unlocks = false // every replica sees this commit before the next
	c.log.Committed(e)
}

// definitions are commit.Definitions.
type definitions struct{ c *Cluster }

func (x definitions) Definition(storage string) *resource.Definition {
	return backend{x.c.replicas[0]}.Definition(storage)
}

// servers are the replicas as the log and the history see them.
type servers struct{ c *Cluster }

func (x servers) Committed(e *commit.Commit) {
	for _, r := range x.c.replicas {
		r.apply(e)
	}
	for _, r := range x.c.replicas {
		r.wake() // what waited may write: all replicas have this commit before they see the next
	}
}

func (x servers) Compacted(rev uint64) {
	for _, r := range x.c.replicas {
		if r.unreachable {
			continue // it learns of it when it resumes
		}
		for _, name := range r.cacheNames() {
			r.caches[name].Compacted(rev)
		}
	}
}

func (x servers) Forget() {
	for _, r := range x.c.replicas {
		r.forget()
	}
}

type looking struct{ c *Cluster }

func (x looking) Committed(e *commit.Commit) {
	if x.c.observer != nil {
		x.c.observer.committed(e)
	}
}
