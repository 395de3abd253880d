// Package sim simulates the API servers of a Kubernetes cluster: one store, one clock, one seed, and one or more API servers.
//
//	          Cluster ─ one lock, one Clock, one seed
//	client ─▶ Replica 1: apiserver ─▶ registry ─┐
//	            watch caches ◀──────────────────┤
//	client ─▶ Replica 2: apiserver ─▶ registry ─┼─▶ mvcc.Store: every revision since the last compaction
//	            watch caches ◀──────────────────┘
//
// The path of a write: apiserver (authentication, authorization, routing) → codec.Decode → registry (managed fields, admission,
// strategy, validation) → mvcc.Put, one revision → the response is complete, the lock is released → the client.
//
// The path of a watch event: a commit → each replica's watch cache applies it → each watch decides between ADDED, MODIFIED, DELETED
// and nothing → a frame, encoded once for all watches → the watch's queue → the connection.
//
// A Cluster consists of these parts, each in a package that can be read alone: commit.Log (the store and the listeners to its
// commits), history (times of commits, compaction, leases), replica (the API servers), observe (trace and faults), aggregator
// (aggregated API servers), controller (controllers of API servers and of the controller manager). This package creates them and
// owns the lock: its methods acquire the lock and call the responsible part.
//
// The same seed and the same requests in the same order produce the same bytes. Time, randomness and names come only from the
// Cluster. Nothing in it blocks, and nothing runs in the background.
package sim

import (
	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/aggregator"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/account"
	"github.com/kubesim/kubesim/sim/controller/certificates"
	"github.com/kubesim/kubesim/sim/controller/manager"
	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/kubelet"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/observe"
	"github.com/kubesim/kubesim/sim/random"
	"github.com/kubesim/kubesim/sim/replica"
)

// bootRevision is the revision of the last initial object. It is high enough that a resourceVersion is not confused with another
// small number.
const bootRevision = 4004

// Cluster is a simulated cluster. It is safe for concurrent use.
type Cluster struct {
	lock     lock
	options  Options // with the current seed
	signers  auth.Signers
	clock    clock.Clock
	schedule *clock.Schedule
	random   *random.Streams
	tokens   *token.Authority

	log         *commit.Log // the store and the listeners to its commits
	history     *history.History
	observer    *observe.Observer
	followers   followers
	servers     *replica.Set
	aggregator  *aggregator.Aggregator
	controllers *controller.Manager
	nodes       *kubelet.Nodes
	machines    machines
}

// create returns a Cluster with an empty store. Its API servers have not been started.
func create(o Options) (*Cluster, error) {
	made, err := replica.Profiles(o.Replicas, o.Number > 0)
	if err != nil {
		return nil, err
	}
	tokens, err := token.New(o.ServiceAccounts)
	if err != nil {
		return nil, err
	}
	who := authentication(&o, tokens)
	if err := who.Check(); err != nil {
		return nil, err
	}
	c := &Cluster{options: o, signers: o.Signers(), clock: o.Clock, random: &random.Streams{}, tokens: tokens}
	c.machines = machines{options: &c.options, own: len(made), peers: o.Peers}
	c.schedule = clock.NewSchedule(o.Clock, timerLock{&c.lock})
	c.nodes = kubelet.New(&o, whole{c}, c.schedule)
	c.servers = replica.New(replica.Host{Cluster: whole{c}, Schedule: c.schedule, Random: c.random, Lock: &c.lock,
		Nodes: c.nodes, Config: &c.options, Auth: who, Tokens: tokens}, made)
	c.log = &commit.Log{Clock: o.Clock, Known: c.servers, Listeners: []commit.Listener{whole{c}}}
	c.history = history.New(c.log, c.schedule, c.random, c.servers)
	c.aggregator = aggregator.New(&c.lock, c.servers, c.schedule, whole{c})
	c.controllers = controller.New(c.log, c.schedule, c.random, replica.Leading{Set: c.servers}, o.Progress, c.loops()...)
	c.observer = observe.New(observe.Cluster{Log: c.log, History: c.history, Servers: c.servers, Schedule: c.schedule,
		Controllers: c.controllers}, &c.options)
	c.lock.parts = parts{c.schedule, c.history, c.observer, c.servers, c.controllers, c.aggregator, o.WriteGap, o.Bare}
	c.resetLocked()
	return c, nil
}

// whole provides access to the Cluster for parts that are created before the parts that they use.
type whole struct{ c *Cluster }

// Committed implements commit.Listener. It notifies the parts in a fixed order. The servers are last, because a deletecollection
// that was waiting for this commit then makes the next one.
func (w whole) Committed(x *commit.Commit) {
	w.c.history.Committed(x)
	w.c.observer.Committed(x)
	w.c.followers.Committed(x)
	w.c.controllers.Committed(x)
	w.c.servers.Committed(x)
}

// Client implements kubelet.Clients and aggregator.Clients.
func (w whole) Client(name string) *controller.Client { return w.c.controllers.Client(name) }

// Log implements replica.Cluster.
func (w whole) Log() *commit.Log { return w.c.log }

// History implements replica.Cluster.
func (w whole) History() *history.History { return w.c.history }

// Aggregator implements replica.Cluster.
func (w whole) Aggregator() *aggregator.Aggregator { return w.c.aggregator }

// Listener implements replica.Cluster.
func (w whole) Listener() replica.Listener { return w.c.observer }

// loops returns all controllers: those of the API servers and those of the controller manager.
func (c *Cluster) loops() []controller.Controller {
	var all []controller.Controller
	if !c.options.NoControllers {
		all, _ = manager.New(c.options.Controllers, c.flags()) // Options.check has checked the names
		for i := range all {
			all[i].ReactionTime = c.options.ReactionTime
		}
	}
	all = append(all, c.nodes.Controllers()...)
	all = append(all, c.aggregator.Controller())
	return append(all, server.Controllers(&c.options, &c.machines, &c.signers)...)
}

// flags returns those settings of the Cluster that controllers need and cannot read from its API.
func (c *Cluster) flags() manager.Flags {
	f := manager.Flags{RootCA: &c.options.RootCA, Tokens: c.tokens, Seed: &c.options.Seed, Families: c.options.Families()}
	if c.options.Kubelets() > 0 {
		f.Kubelets = c.nodes
	}
	return f
}

// SigningSeed returns the seed of the key that signs certificates of the Cluster. If no controller signs certificates, ok is false.
func (c *Cluster) SigningSeed() (seed uint64, ok bool) {
	c.do(func() { seed, ok = c.options.Seed, c.controllers.Has("certificatesigningrequest-signing-controller") })
	return seed, ok
}

// PublishCA sets Options.RootCA, which controllers then publish.
func (c *Cluster) PublishCA(bundle string) {
	c.do(func() {
		c.options.RootCA = bundle
		c.controllers.Resync(account.Publisher)
		c.controllers.Resync(certificates.PublishingController)
	})
}

// PublishSigners sets the authorities whose certificates are trusted from now on, which the API servers then publish. A restart
// resets them to the Options.
func (c *Cluster) PublishSigners(s auth.Signers) {
	c.do(func() {
		c.signers = s
		c.controllers.Resync(server.Authentication)
	})
}

// resetLocked empties the store and restarts all random streams.
func (c *Cluster) resetLocked() {
	c.log.Begin(mvcc.New(bootRevision))
	c.random.Begin(c.options.Seed)
	c.history.Reset()
	_ = c.controllers.Load(nil) // without a state it cannot fail
	c.servers.Reset()
	c.aggregator.Reset()
}

// Clock returns the Cluster's clock.
func (c *Cluster) Clock() clock.Clock { return c.clock }

// Revision returns the newest revision of the store.
func (c *Cluster) Revision() uint64 { return under(c, func() uint64 { return c.log.Store.Rev() }) }

// Close ends all watches and waiting reads. A closed Cluster can still be used.
func (c *Cluster) Close() {
	c.do(func() {
		c.observer.Flush()
		c.servers.End()
		c.nodes.End()
		c.schedule.Stop()
		c.lock.close()
	})
}

// do runs f with the lock held.
func (c *Cluster) do(f func()) { c.lock.Do(f) }

// under calls f with the lock held and returns its result.
func under[T any](c *Cluster, f func() T) (result T) {
	c.do(func() { result = f() })
	return result
}
