package sim

import (
	"fmt"
	"maps"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/trace"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// State is a Cluster at rest: all that decides what it answers from now on, but open watches, requests that wait and what
// its program has registered (functions of webhooks and conversions, transports, OnCommit).
//
//	State ─┬─ Options, Held, Routes
//	       ├─ history.State: Now, Store, Marks, Streams, Compaction, Leases
//	       ├─ Controllers  what is to be reconciled, and what they remember
//	       ├─ Servers    of each replica: how far it is, and its caches' recent events
//	       └─ Faults, Records
//
// It shares nothing that changes with the Cluster it was taken from: two Clusters may be loaded from one State.
type State struct {
	history.State
	Options     Options           // without Clock, and with Replay as it was given
	Controllers *controller.State // nil: they have nothing to do
	Held        []string
	Routes      map[string]int
	Servers     []ServerState // nil: each is as if it had just been started
	Faults      *fault.State  // nil: there have been none
	Records     *trace.State  // nil: the trace begins anew
	LastCommit  [2]uint64     // revision, and number of its record

	// Unread says that the values of Store have been read from a file: Load finds out once what is in them. Nobody else
	// may use the values meanwhile.
	Unread bool
}

// ServerState is one replica.
type ServerState struct {
	Position *mvcc.View            // what it has applied
	Alone    map[string]*mvcc.View // of resources that lag on their own, by storage name
	Lags     bool                  // it applies nothing
	Cut      bool                  // it does not reach the store
	Filled   uint64                // revision at which the caches were filled
	Caches   map[string]watchcache.State
	Unready  map[string]Window // caches that are being filled, by storage name; "*": all
}

// State returns what the Cluster is now.
func (c *Cluster) State() *State {
	c.door.Lock()
	defer c.door.Unlock()
	c.controllers.Settle()
	return c.state()
}

// state is State with the lock held.
func (c *Cluster) state() *State {
	s := &State{State: c.history.State(), Options: c.options, Held: object.SortedKeys(c.held), Routes: maps.Clone(c.routes)}
	s.Options.Clock = nil
	s.Controllers = c.controllers.State()
	for _, r := range c.replicas {
		s.Servers = append(s.Servers, r.state())
	}
	if o := c.observer; o != nil {
		faults, records := o.faults.State(), o.trace.State()
		s.Faults, s.Records, s.LastCommit = &faults, &records, [2]uint64{o.commit.rev, o.commit.record}
	}
	return s
}

func (r *Replica) state() ServerState {
	s := ServerState{Position: r.position.View, Alone: map[string]*mvcc.View{}, Lags: r.lagsAll, Cut: r.unreachable,
		Filled: r.filled,
		Caches: map[string]watchcache.State{}, Unready: maps.Clone(r.unready)}
	for _, name := range object.SortedKeys(r.lagging) {
		s.Alone[name] = r.caches[name].View()
	}
	for _, name := range r.cacheNames() {
		s.Caches[name] = r.caches[name].State()
	}
	return s
}

// Load returns a Cluster that goes on from s, on the clock k; nil is a clock.Manual that stands at s.Now. The same
// requests get the same answers as from the Cluster that s was taken from, if k goes as its clock did.
func Load(s *State, k clock.Clock) (*Cluster, error) {
	o := s.Options
	if o.Clock = k; k == nil {
		o.Clock = clock.NewManual(s.Now)
	}
	made, err := profiles(o.Replicas)
	if err != nil {
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	if s.Servers != nil && len(s.Servers) != len(made) {
		return nil, fmt.Errorf("kubesim: the state of %d replicas was saved, for %d", len(s.Servers), len(made))
	}
	c, err := create(o)
	if err != nil {
		return nil, err
	}
	c.door.Lock()
	defer c.door.Unlock()
	if err := c.remember(s); err != nil {
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	for _, p := range made {
		c.replicas = append(c.replicas, newReplica(c, p))
	}
	if s.Unread {
		c.read()
	}
	for i, r := range c.replicas {
		if s.Servers == nil {
			r.restart()
		} else if err := r.load(s.Servers[i]); err != nil {
			return nil, fmt.Errorf("kubesim: replica %d: %w", i+1, err)
		}
	}
	if s.Unread {
		c.readCustom()
	}
	if err := c.lookOn(s); err != nil {
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	if err := c.takeUp(s); err != nil {
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	return c, nil
}

// remember takes over what is no part of a replica.
func (c *Cluster) remember(s *State) error {
	if err := c.history.Load(s.State); err != nil {
		return err
	}
	for _, client := range s.Held {
		c.held[client] = true
	}
	for client, n := range s.Routes { // order does not matter: a map again
		c.routes[client] = n
	}
	return nil
}

// lookOn takes over the faults and the trace.
func (c *Cluster) lookOn(s *State) (err error) {
	if c.options.Trace == (trace.Options{}) && s.Faults == nil {
		return nil
	}
	o := c.observe()
	if s.Faults != nil {
		if o.faults, err = fault.Load(*s.Faults); err != nil {
			return err
		}
	}
	if s.Records != nil {
		if o.trace, err = trace.Load(c.options.Trace, *s.Records); err != nil {
			return err
		}
	}
	o.commit = commitMark{s.LastCommit[0], s.LastCommit[1]}
	return nil
}

// takeUp sets the timers of what was going on.
func (c *Cluster) takeUp(s *State) error {
	c.history.TakeUp()
	c.aggregator.Load()
	return c.controllers.Load(s.Controllers)
}

// load takes over the state of a replica.
func (r *Replica) load(s ServerState) error {
	if s.Position == nil || s.Position.Rev() > r.cluster.log.Store.Rev() {
		return fmt.Errorf("it has applied more than was written")
	}
	r.flow = nil
	r.position, r.filled, r.lagsAll, r.unreachable = &watchcache.Position{View: s.Position}, s.Filled, s.Lags, s.Cut
	r.lagging, r.caches = map[string]bool{}, map[string]*watchcache.Cache{}
	for _, name := range object.SortedKeys(s.Caches) {
		r.caches[name] = watchcache.Load(s.Caches[name], r.position)
	}
	for _, name := range object.SortedKeys(s.Alone) {
		r.lagging[name] = true
		r.cache(name).Follow(&watchcache.Position{View: s.Alone[name]})
	}
	r.unready = map[string]Window{}
	for _, name := range object.SortedKeys(s.Unready) {
		r.unready[name] = s.Unready[name]
		r.readyAfter(name, max(s.Unready[name].Until.Sub(r.cluster.now()), 0))
	}
	r.redefine()
	return nil
}
