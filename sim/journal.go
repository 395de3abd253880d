package sim

import (
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/history"
)

// Keep makes j the Cluster's journal and returns the state that its log goes on from. A fork has no journal.
func (c *Cluster) Keep(j history.Journal) (s *State) {
	c.do(func() {
		s = c.stateLocked()
		c.history.Keep(j)
	})
	return s
}

// Resume starts new API servers, as o says, over what others have stored: their caches are empty, nobody watches, there
// are no faults and no trace. What the others had begun is taken up: leases, and definitions whose objects are being
// deleted. Random draws begin anew, with other results.
func Resume(s *State, o Options) (*Cluster, error) {
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
	c, err := Load(&State{Options: o, History: past, Unread: s.Unread}, o.Clock)
	if err != nil {
		return nil, err
	}
	if c.do(func() { err = c.resumeLocked() }); err != nil {
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	return c, nil
}

// resumeLocked has controllers look at what may have changed while there was no API server.
func (c *Cluster) resumeLocked() error {
	if !c.options.Bare {
		if err := c.controllers.Load(server.StateOf(nil, c.clock.Now())); err != nil {
			return err
		}
		c.controllers.Settle()
	}
	c.controllers.Resync(server.Definitions...)
	return nil
}
