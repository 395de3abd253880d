package sim

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
)

// Journal keeps a log of what a Cluster stores, as etcd does. It is told of each commit before anybody else knows of it,
// and of each lease. The Cluster's lock is held: a Journal must not ask the Cluster.
type Journal interface {
	Commit(e *mvcc.Event, at time.Time)
	Grant(l Lease)
}

// Keep makes j the Cluster's journal and returns the state that its log goes on from. A fork has no journal.
func (c *Cluster) Keep(j Journal) *State {
	locker{c}.Lock()
	defer locker{c}.Unlock()
	c.settle()
	c.journal = j
	return c.state()
}

// Resume starts new API servers, as o says, over what others have stored: their caches are empty, nobody watches, there
// are no faults and no trace. What the others had begun is taken up: leases, and definitions whose objects are being
// deleted. Random draws begin anew, with other results.
func Resume(s *State, o Options) (*Cluster, error) {
	if o.Seed == 0 {
		o.Seed = 1
	}
	o.Seed += s.Store.Rev() // the uids of before are taken
	marks := slices.Clone(s.Marks)
	for i := range marks {
		marks[i].Streams = nil // those are of the draws of before
	}
	c, err := Load(&State{Options: o, Now: s.Now, Store: s.Store, Marks: marks, Compaction: s.Compaction, Leases: s.Leases,
		Unread: s.Unread}, o.Clock)
	if err != nil {
		return nil, err
	}
	locker{c}.Lock()
	defer locker{c}.Unlock()
	if !o.Bare {
		c.ensure()
	}
	c.mendAll()
	c.objects().Each(crd.Storage, "", func(obj object.Object) bool {
		name, group := obj.Name(), obj.String("spec", "group")
		c.jobs.soon = append(c.jobs.soon, func() { c.tend(name, group) })
		return true
	})
	return c, nil
}
