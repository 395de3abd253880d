// Package sim is a simulated Kubernetes cluster as far as its API servers go: one store, one clock, one seed, and one
// or more API servers over it.
//
//	          Cluster ─ one lock, one Clock, one seed
//	client ─▶ Replica 1: apiserver ─▶ registry ─┐
//	            watch caches ◀──────────────────┤
//	client ─▶ Replica 2: apiserver ─▶ registry ─┼─▶ mvcc.Store: every revision since the last compaction
//	            watch caches ◀──────────────────┘
//
// A write in a straight line: apiserver (who, may they, what) → codec.Decode → registry (managed fields, admission,
// strategy, validation) → mvcc.Put, one revision → the answer's bytes are complete, the lock is released → the client.
//
// A watch event in a straight line: a commit → each replica's watch cache applies it → each watch decides between
// ADDED, MODIFIED, DELETED and nothing → a frame, encoded once for all → the watch's queue → the connection.
//
// The same seed and the same requests in the same order give the same bytes. Time, randomness and names come from the
// Cluster only; nothing in it blocks and nothing runs by itself.
package sim

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/aggregator"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/manager"
	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/random"
	"github.com/kubesim/kubesim/sim/trace"
)

// bootRevision is the revision of the last object that is there from the beginning: high enough that a resourceVersion
// is not taken for some other small number.
const bootRevision = 4004

// Version is the version of the simulated API server.
const Version = "v1.36.3"

const minor = "1.36"

// Cluster is a simulated cluster. It is safe for concurrent use.
type Cluster struct {
	door     door
	clock    clock.Clock
	seed     uint64
	options  Options
	tokens   *token.Authority // of service accounts
	random   *random.Streams
	schedule *clock.Schedule
	log      *commit.Log // the store, and who is told of commits
	history  *history.History
	replicas []*Replica
	held     map[string]bool // clients whose watch events are kept back
	routes   map[string]int  // replicas that clients reach, by the beginning of their User-Agent

	controllers *controller.Manager
	conversions conversions
	webhooks    webhooks
	aggregator  *aggregator.Aggregator
	observer    *observer // nil: nobody looks
	followers   followers
	serviceCIDR netip.Prefix
}

// New returns a Cluster that holds what a real one holds as soon as its API servers have started (package boot).
func New(o Options) (*Cluster, error) {
	made, err := profiles(o.Replicas)
	if err != nil {
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	if o.Clock == nil {
		o.Clock = clock.NewManual(clock.Epoch())
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	c, err := create(o)
	if err != nil {
		return nil, err
	}
	for _, p := range made {
		c.replicas = append(c.replicas, newReplica(c, p))
	}
	c.door.Lock()
	defer c.door.Unlock()
	if err := c.boot(); err != nil {
		return nil, err
	}
	if o.Trace != (trace.Options{}) || o.Replay != nil {
		c.observe()
	}
	return c, nil
}

// create returns a Cluster with an empty store and no replicas.
func create(o Options) (*Cluster, error) {
	tokens, err := token.New(o.ServiceAccounts)
	if err != nil {
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	who := o.authentication(tokens)
	if err := who.Check(); err != nil {
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	c := &Cluster{clock: o.Clock, seed: o.Seed, options: o, tokens: tokens, random: &random.Streams{}}
	c.serviceCIDR, _ = netip.ParsePrefix(o.ServiceCIDR) // has been checked; "" is the zero value
	c.door.c = c
	c.schedule = clock.NewSchedule(o.Clock, &c.door)
	c.log = &commit.Log{Clock: o.Clock, Known: definitions{c}}
	c.history = history.New(c.log, c.schedule, c.random, servers{c})
	c.aggregator = aggregator.New(around{c}, c.schedule)
	c.controllers = controller.New(c.log, c.schedule, c.random, leading{c}, c.loops()...)
	c.aggregator.Attach(c.controllers.Client(aggregator.Availability))
	c.log.Listeners = []commit.Listener{c.history, looking{c}, &c.followers, servers{c}, c.controllers}
	c.reset()
	return c, nil
}

// loops are what API servers and controllers do by themselves.
func (c *Cluster) loops() []controller.Controller {
	var all []controller.Controller
	if !c.options.NoControllers {
		all = manager.Controllers()
	}
	all = append(all, c.aggregator.Controller())
	return append(all, server.Controllers(!c.options.Bare)...)
}

// reset empties the store and begins all random streams anew.
func (c *Cluster) reset() {
	c.log.Store = mvcc.New(bootRevision)
	c.random.Begin(c.seed)
	c.history.Reset()
	_ = c.controllers.Load(nil) // to do nothing cannot fail
	c.conversions.memory.Forget()
	c.aggregator.Reset()
	c.held, c.routes = map[string]bool{}, map[string]int{}
}

// Reset takes the Cluster back to how New made it, except for its time, which goes on. Open watches end.
func (c *Cluster) Reset() error {
	c.door.Lock()
	defer c.door.Unlock()
	if o := c.observer; o != nil {
		o.flush()
		defer o.begin()
	}
	c.reset()
	for _, r := range c.replicas {
		r.end()
	}
	c.schedule.Clear()
	return c.boot()
}

// Server returns the API server of replica n, counted from 1.
func (c *Cluster) Server(n int) *apiserver.Server { return c.replicas[n-1].server }

// Clock returns the Cluster's clock.
func (c *Cluster) Clock() clock.Clock { return c.clock }

// Revision returns the newest revision of the store.
func (c *Cluster) Revision() uint64 {
	c.door.Lock()
	defer c.door.Unlock()
	return c.log.Store.Rev()
}

// Close ends every watch and every read that waits. A closed Cluster still answers.
func (c *Cluster) Close() {
	c.door.Lock()
	defer c.door.Unlock()
	if c.observer != nil {
		c.observer.flush()
	}
	for _, r := range c.replicas {
		r.end()
	}
	c.schedule.Stop()
}

func (c *Cluster) now() time.Time { return c.clock.Now() }
