package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/trace"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// State is a Cluster at rest: all that decides what it answers from now on, but open watches, requests that wait and what
// its program has registered (functions of webhooks and conversions, transports, OnCommit).
//
//	State ─┬─ Options, Now, Streams, Compaction, Leases, Cleanups, Held, Routes
//	       ├─ Store      views and commits since the last compaction; Marks say when each was made
//	       ├─ Servers    of each replica: how far it is, and its caches' recent events
//	       └─ Faults, Records
//
// It shares nothing that changes with the Cluster it was taken from: two Clusters may be loaded from one State.
type State struct {
	Options    Options // without Clock, and with Replay as it was given
	Now        time.Time
	Store      *mvcc.Store
	Marks      []Mark
	Streams    []Stream
	Compaction Compaction
	Leases     []Lease
	Cleanups   []Cleanup
	Ensure     time.Time // when flow schemas and priority levels are put back that API servers made; zero: they are as they were
	Held       []string
	Routes     map[string]int
	Servers    []ServerState // nil: each is as if it had just been started
	Faults     *fault.State  // nil: there have been none
	Records    *trace.State  // nil: the trace begins anew
	LastCommit [2]uint64     // revision, and number of its record

	// Unread says that the values of Store have been read from a file: Load finds out once what is in them. Nobody else
	// may use the values meanwhile.
	Unread bool
}

// Stream is the random numbers of one purpose.
type Stream struct {
	Purpose string
	State   rand.PCG
}

// Mark is when a revision was made, and how far the Streams were then: the first of them, the others had not begun.
type Mark struct {
	Rev     uint64
	At      time.Time
	Streams []rand.PCG
}

// Compaction is when the store forgets next and what.
type Compaction struct {
	Next    time.Time
	Seen    uint64    // revision that is compacted then
	Floor   uint64    // compacted revision that the caches have yet to learn about; 0: they know
	FloorAt time.Time // when they do
}

// Lease is the end of an object that was written at revision Rev, unless it is written again before At.
type Lease struct {
	Key string
	Rev uint64
	At  time.Time
}

// Cleanup is a deletion of the objects of a CustomResourceDefinition that goes on.
type Cleanup struct {
	Name        string
	Began, Next time.Time
	Retry       bool
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
	locker{c}.Lock()
	defer locker{c}.Unlock()
	c.settle()
	return c.state()
}

// state is State with the lock held.
func (c *Cluster) state() *State {
	store, err := c.store.Fork(0)
	if err != nil {
		panic("sim: the store has no newest revision: " + err.Error())
	}
	s := &State{Options: c.options, Now: c.now(), Store: store, Held: object.SortedKeys(c.held),
		Routes:     maps.Clone(c.routes),
		Compaction: Compaction{c.compact.next, c.compact.seen, c.compact.floor, c.compact.floorAt}}
	s.Options.Clock = nil
	for _, x := range c.random.list {
		s.Streams = append(s.Streams, Stream{x.purpose, *x.source})
	}
	s.Ensure = c.jobs.ensure
	s.Marks, s.Leases = slices.Clone(c.past.marks), slices.Clone(c.leases)
	for _, name := range object.SortedKeys(c.jobs.cleaning) {
		w := c.jobs.cleaning[name]
		s.Cleanups = append(s.Cleanups, Cleanup{name, w.began, w.next, w.retry})
	}
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.store, err = s.Store.Fork(0); err != nil {
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	c.remember(s)
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
	c.takeUp(s)
	return c, nil
}

// remember takes over what is no part of a replica.
func (c *Cluster) remember(s *State) {
	for _, x := range s.Streams {
		*c.random.add(x.Purpose).source = x.State
	}
	c.past = past{marks: slices.Clone(s.Marks)}
	c.compact = compactor{s.Compaction.Next, s.Compaction.Seen, s.Compaction.Floor, s.Compaction.FloorAt}
	for _, client := range s.Held {
		c.held[client] = true
	}
	for client, n := range s.Routes { // order does not matter: a map again
		c.routes[client] = n
	}
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
func (c *Cluster) takeUp(s *State) {
	now := c.now()
	c.leases = slices.Clone(s.Leases)
	for _, l := range c.leases {
		if kv := c.newest().Get(l.Key); kv != nil && kv.ModRev == l.Rev {
			c.schedule.after(max(l.At.Sub(now), 0), func() { c.lapse(l) })
		}
	}
	c.rememberServices()
	c.rememberAddresses()
	if !s.Ensure.IsZero() {
		c.ensureAt(s.Ensure)
	}
	for _, x := range s.Cleanups {
		work := &cleanup{began: x.Began}
		if c.jobs.cleaning == nil {
			c.jobs.cleaning = map[string]*cleanup{}
		}
		c.jobs.cleaning[x.Name] = work
		c.again(x.Name, work, max(x.Next.Sub(now), 0), x.Retry)
	}
}

// load takes over the state of a replica.
func (r *Replica) load(s ServerState) error {
	if s.Position == nil || s.Position.Rev() > r.cluster.store.Rev() {
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
