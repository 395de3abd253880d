package sim

import (
	"fmt"
	"reflect"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/observe"
)

// Fork returns a copy of this Cluster that is independent from here on: neither sees writes to the other. Their histories share
// memory. Open watches and waiting requests stay with this Cluster. The fork has everything else: definitions, rights, lagging
// replicas, faults and how often they have happened, the trace so far.
//
// The fork of a Cluster with a clock.Manual has its own one, which stands at the same instant; any other clock is shared. If a fork
// and this Cluster get the same requests at the same times, they answer with the same bytes.
func (c *Cluster) Fork() (f *Cluster) {
	var err error
	c.do(func() { f, err = c.forkLocked(c.stateLocked()) })
	if err != nil {
		panic("sim: a fork of what there is: " + err.Error())
	}
	return f
}

// ForkAt is Fork at a revision that the store still has. At an older revision than the newest the fork is the Cluster as it was
// when the revision had just been written: its objects, its time (of a clock.Manual) and its random numbers, so that the same
// requests get the same bytes as then. But its replicas are newly started, its trace is empty, and there are no faults.
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

// forkLocked loads a state of the Cluster with all that its program has registered.
func (c *Cluster) forkLocked(s *State) (*Cluster, error) {
	k := c.clock
	if _, manual := k.(*clock.Manual); manual {
		k = clock.NewManual(s.History.Now)
	}
	return load(s, k, c.servers)
}

// rewindLocked makes a state of now what it was when a revision had just been written.
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

// Recall restores a State, except that the clock does not go back: it continues where it is, or, if it is a clock.Manual that is
// behind, at the time of the State. Open watches end. Recall refuses the State of a Cluster with other replicas or other rights,
// and a State from the future.
func (c *Cluster) Recall(s *State) (err error) {
	at := s.History.Now
	if m, ok := c.clock.(*clock.Manual); ok {
		m.AdvanceTo(at) // without the lock: timers take it
	}
	if c.clock.Now().Before(at) {
		return fmt.Errorf("recall: the state is of %v, and the clock only at %v", at, c.clock.Now())
	}
	f, err := Load(s, clock.NewManual(at)) // whether it can be loaded
	if err != nil {
		return fmt.Errorf("recall: %w", err)
	}
	if err := c.servers.Matches(f.servers); err != nil {
		return fmt.Errorf("recall: %w", err)
	}
	c.do(func() {
		if !reflect.DeepEqual(authOptions(&s.Options), authOptions(&c.options)) {
			err = fmt.Errorf("recall: the state is of a cluster with other rights or tokens")
			return
		}
		err = c.recallLocked(s)
	})
	return err
}

// recallLocked restores a state that fits the current replicas.
func (c *Cluster) recallLocked(s *State) error {
	c.observer.Flush()
	c.servers.End()
	c.nodes.End()
	c.schedule.Clear()
	c.options.Seed = s.Options.Seed
	c.resetLocked()
	c.observer.Reset()
	return c.loadLocked(s, false)
}
