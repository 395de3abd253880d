package sim

import (
	"fmt"
	"reflect"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/observe"
)

// Fork returns an independent copy of this Cluster: later writes to one of them do not affect the other. Their histories share
// memory. Open watches and waiting requests remain with this Cluster. The fork has copies of everything else: definitions, rights,
// lagging replicas, faults and their counters, and the trace so far.
//
// The fork of a Cluster with a clock.Manual has its own clock with the same time; any other clock is shared. If the fork and this
// Cluster get the same requests at the same times, they return the same bytes.
func (c *Cluster) Fork() (f *Cluster) {
	var err error
	c.do(func() { f, err = c.forkLocked(c.stateLocked()) })
	if err != nil {
		panic("sim: the current state cannot be forked: " + err.Error())
	}
	return f
}

// ForkAt is like Fork, but at a revision that the store still has. If the revision is not the newest, the fork has the state of the
// Cluster immediately after that commit: its objects, its time (of a clock.Manual) and its random numbers, so that the same
// requests result in the same bytes as then. However, its replicas are newly started, its trace is empty, and it has no faults.
// ForkAt returns an error if the store does not have the revision.
func (c *Cluster) ForkAt(rev uint64) (f *Cluster, err error) {
	c.do(func() {
		s := c.stateLocked()
		if rev != c.log.Store.Rev() {
			err = c.rewindLocked(s, rev)
		}
		if err == nil {
			f, err = c.forkLocked(s)
		}
	})
	return f, err
}

// forkLocked returns a new Cluster in state s. It has the functions that are registered with c, such as handlers of webhooks. If c has a
// manual clock, the new one has its own manual clock at the time of s; otherwise they share the clock.
func (c *Cluster) forkLocked(s *State) (*Cluster, error) {
	k := c.clock
	if _, manual := k.(*clock.Manual); manual {
		k = clock.NewManual(s.History.Now)
	}
	return load(s, k, c.servers)
}

// rewindLocked changes s, the current state, to the state immediately after the commit of a revision.
func (c *Cluster) rewindLocked(s *State, rev uint64) (err error) {
	_, manual := c.clock.(*clock.Manual)
	if s.History, err = c.history.StateAt(rev, manual); err != nil {
		return fmt.Errorf("fork: %w", err)
	}
	s.Servers.Servers, s.Observed = nil, observe.State{}
	s.Controllers = server.Rewound(s.History.Now, !c.options.Bare)
	if c.runs() {
		s.Controllers.Resync = append(s.Controllers.Resync, c.controllers.Names()...)
	}
	return nil
}

// LoadState restores a State, except that the clock does not go back: it continues from the current time or, if it is a clock.Manual
// that is behind, from the time of the State. Open watches end. LoadState returns an error if the State is from the future, or if it
// belongs to a Cluster with other replicas or other rights.
func (c *Cluster) LoadState(s *State) (err error) {
	if err := c.alone(); err != nil {
		return fmt.Errorf("load state: %w", err)
	}
	at := s.History.Now
	if m, ok := c.clock.(*clock.Manual); ok {
		m.AdvanceTo(at) // without the lock, which timers acquire
	}
	if c.clock.Now().Before(at) {
		return fmt.Errorf("load state: the state is of %v, and the clock only at %v", at, c.clock.Now())
	}
	f, err := Load(s, clock.NewManual(at)) // checks that it can be loaded
	if err != nil {
		return fmt.Errorf("load state: %w", err)
	}
	if err := c.servers.Matches(f.servers); err != nil {
		return fmt.Errorf("load state: %w", err)
	}
	c.do(func() {
		if !reflect.DeepEqual(authOptions(&s.Options), authOptions(&c.options)) {
			err = fmt.Errorf("load state: the state is of a cluster with other rights or tokens")
			return
		}
		err = c.loadStateLocked(s)
	})
	return err
}

// loadStateLocked restores a state whose replicas match those of the Cluster.
func (c *Cluster) loadStateLocked(s *State) error {
	c.observer.Flush()
	c.servers.End()
	c.nodes.End()
	c.schedule.Clear()
	c.options.Seed = s.Options.Seed
	c.resetLocked()
	c.observer.Reset()
	return c.loadLocked(s, s.Unread)
}
