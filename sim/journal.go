package sim

import (
	"slices"

	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/history"
)

// Keep makes j the Cluster's journal and returns the state at which its log begins. A fork has no journal.
func (c *Cluster) Keep(j history.Journal) (s *State) {
	c.do(func() {
		s = c.stateLocked()
		c.history.Keep(j)
	})
	return s
}

// Resume starts new API servers, as o says, over the objects that others have stored: their caches are empty, and there are no
// watches, no faults and no trace. They continue unfinished work of the others: leases, and definitions whose objects are being
// deleted. Random draws start over, with other results. Default roles and bindings that were deleted or changed are put back.
func Resume(s *State, o Options) (*Cluster, error) { return Load(StateAfterRestart(s, o), o.Clock) }

// StateAfterRestart returns the State that Resume loads.
func StateAfterRestart(s *State, o Options) *State {
	if o.Seed == 0 {
		o.Seed = 1
	}
	o.Seed += s.History.Store.Rev() // the uids of before are taken
	marks := slices.Clone(s.History.Marks)
	for i := range marks {
		marks[i].Streams = nil // those are of the draws of before
	}
	past := s.History
	past.Marks, past.Streams = marks, nil
	return &State{Options: o, History: past, Controllers: server.Restarted(past.Now, !o.Bare), Begins: true, Unread: s.Unread}
}
