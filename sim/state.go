package sim

import (
	"fmt"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/observe"
	"github.com/kubesim/kubesim/sim/replica"
)

// State is the state of a Cluster while no request is being processed. It determines all later responses, but does not contain open
// watches, waiting requests, or functions that the program has registered (webhooks, conversions, transports, OnCommit).
//
//	State ─┬─ Options
//	       ├─ History      its time, the store since the last compaction, times of commits, random numbers, leases
//	       ├─ Servers      positions and recent events of each replica's caches; held and routed clients
//	       ├─ Controllers  pending reconciles, and internal state of controllers
//	       └─ Observed     faults, and the trace
//
// It does not share mutable data with the Cluster from which it was taken. Several Clusters may be loaded from one State.
type State struct {
	Options     Options // without Clock, and with the original Replay
	History     history.State
	Servers     replica.State
	Controllers *controller.State // nil if they have no pending work
	Observed    observe.State

	// Begins reports whether controllers have just been started, so that they must reconcile all objects.
	Begins bool

	// Unread reports whether the values in the store were read from a file and have not been parsed yet. Load parses them, once.
	// Meanwhile the values must not be used elsewhere.
	Unread bool
}

// State returns the current state of the Cluster.
func (c *Cluster) State() *State { return under(c, c.stateLocked) }

// stateLocked implements State. It first lets controllers process everything that is due.
func (c *Cluster) stateLocked() *State {
	c.controllers.Run(nil)
	s := &State{Options: c.options, History: c.history.State(), Servers: c.servers.State(), Controllers: c.controllers.State(),
		Observed: c.observer.State()}
	s.Options.Clock = nil
	return s
}

// Load returns a Cluster that continues from s with clock k. If k is nil, it uses a clock.Manual with the time s.History.Now. If k
// advances like the original clock, the same requests get the same responses as from the original Cluster. Load returns an error if
// s is inconsistent, for example because it comes from a damaged file.
func Load(s *State, k clock.Clock) (*Cluster, error) { return load(s, k, nil) }

// load is like Load, but also copies the functions that are registered with the API servers in with, unless that is nil.
func load(s *State, k clock.Clock, with *replica.Set) (*Cluster, error) {
	o := s.Options
	if o.Clock = k; k == nil {
		o.Clock = clock.NewManual(s.History.Now)
	}
	c, err := create(o)
	if err != nil {
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	if n := len(s.Servers.Servers); s.Servers.Servers != nil && n != c.Replicas() {
		return nil, fmt.Errorf("kubesim: the state of %d replicas was saved, for %d", n, c.Replicas())
	}
	if with != nil {
		c.servers.Adopt(with)
	}
	c.do(func() { err = c.loadLocked(s, s.Unread) })
	if err != nil {
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	return c, nil
}

// loadLocked loads a State. unread is the value of State.Unread.
func (c *Cluster) loadLocked(s *State, unread bool) error {
	if err := c.history.Load(s.History); err != nil {
		return err
	}
	if err := c.servers.Load(s.Servers, unread); err != nil {
		return err
	}
	if err := c.observer.Load(s.Observed); err != nil {
		return err
	}
	c.history.TakeUp()
	c.aggregator.Load()
	if err := c.controllers.Load(s.Controllers); err != nil {
		return err
	}
	if c.options.Standby {
		c.controllers.Standby()
	}
	if s := c.lock.putBackPolicies(); s != nil {
		return fmt.Errorf("the default roles and bindings cannot be put back: %s", s.Message)
	}
	if s.Begins {
		c.controllers.Add(server.Leadership, controller.Key{})
	}
	if s.Begins && c.runs() {
		c.controllers.Begin()
	}
	return nil
}

// Keep sets the journal of the Cluster, and returns the state from which the journal starts. A fork has no journal.
func (c *Cluster) Keep(j history.Journal) (s *State) {
	c.do(func() {
		s = c.stateLocked()
		c.history.Keep(j)
	})
	return s
}

// Resume starts new API servers, which o configures, with the objects that other servers have stored. Their caches are empty, and
// there are no watches, faults or trace. They continue unfinished operations: the expiry of leases, and the deletion of a
// definition's objects. Random streams have another seed, so that they do not repeat earlier values. Deleted or changed default
// roles and bindings are restored. Resume returns an error if an option is invalid.
func Resume(s *State, o Options) (*Cluster, error) { return Load(StateAfterRestart(s, o), o.Clock) }

// StateAfterRestart returns the State from which Resume starts.
func StateAfterRestart(s *State, o Options) *State {
	if o.Seed == 0 {
		o.Seed = 1
	}
	o.Seed += s.History.Store.Rev() // uids must not repeat
	past := s.History
	past.Marks, past.Streams = past.Marks.WithoutStreams(), nil // the random numbers belong to the previous streams
	return &State{Options: o, History: past, Controllers: server.Started(past.Now, o.Bare), Begins: true, Unread: s.Unread}
}
