package sim

import (
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/observe"
	"github.com/kubesim/kubesim/sim/replica"
)

// State is a Cluster at rest: all that determines its answers from now on, except for open watches, waiting requests and functions
// that the program has registered (webhooks, conversions, transports, OnCommit).
//
//	State ─┬─ Options
//	       ├─ History      its time, the store since the last compaction, when each commit was made, random numbers, leases
//	       ├─ Servers      of each replica how far it is, and its caches' recent events; held and routed clients
//	       ├─ Controllers  what is to be reconciled, and what controllers remember
//	       └─ Observed     faults, and the trace
//
// It shares nothing that changes with the Cluster it was taken from: two Clusters may be loaded from one State.
type State struct {
	Options     Options // without Clock, and with Replay as it was given
	History     history.State
	Servers     replica.State
	Controllers *controller.State // nil if they have nothing to do
	Observed    observe.State

	// Begins reports that controllers have just been started: they reconcile all objects.
	Begins bool

	// Unread reports that the values of the store have been read from a file: Load parses them once. The values must not be used
	// elsewhere meanwhile.
	Unread bool
}

// State returns the current state of the Cluster.
func (c *Cluster) State() *State { return under(c, c.stateLocked) }

// stateLocked is State with the Cluster's lock held. Due work of controllers is done first.
func (c *Cluster) stateLocked() *State {
	c.controllers.Run()
	s := &State{Options: c.options, History: c.history.State(), Servers: c.servers.State(), Controllers: c.controllers.State(),
		Observed: c.observer.State()}
	s.Options.Clock = nil
	return s
}

// Load returns a Cluster that continues from s, on the clock k; if k is nil, on a clock.Manual that stands at s.History.Now. The
// same requests get the same answers as from the Cluster that s was taken from, if k runs as its clock did.
func Load(s *State, k clock.Clock) (*Cluster, error) { return load(s, k, nil) }

// load is Load with the functions that are registered with other API servers, if with is not nil.
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

// loadLocked loads a State. unread is State.Unread.
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
	if s := c.lock.putBackPolicies(); s != nil {
		return fmt.Errorf("the default roles and bindings cannot be put back: %s", s.Message)
	}
	if s.Begins && c.runs() {
		c.controllers.Begin()
	}
	return nil
}

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
