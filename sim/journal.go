package sim

import (
	"slices"

	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/history"
)

// Keep makes j the Cluster's journal and returns the state that its log goes on from. A fork has no journal.
func (c *Cluster) Keep(j history.Journal) *State {
	c.door.Lock()
	defer c.door.Unlock()
	c.controllers.Settle()
	c.history.Keep(j)
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
	c, err := Load(&State{Options: o, State: history.State{Now: s.Now, Store: s.Store, Marks: marks,
		Compaction: s.Compaction, Leases: s.Leases}, Unread: s.Unread}, o.Clock)
	if err != nil {
		return nil, err
	}
	c.door.Lock()
	defer c.door.Unlock()
	if !o.Bare {
		if err := c.controllers.Load(server.StateOf(nil, c.now())); err != nil { // others may have changed what servers made
			return nil, err
		}
		c.controllers.Settle()
	}
	c.controllers.Resync(server.Definitions...)
	return c, nil
}
