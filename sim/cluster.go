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
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/trace"
)

// Options says what a Cluster is like. The zero value is one API server of the newest version on a clock that moves
// only by Advance.
type Options struct {
	// Clock is the Cluster's time. nil: a clock.Manual that begins at clock.Epoch.
	Clock clock.Clock
	// Seed decides uids, generated names and every other draw. 0 is 1.
	Seed uint64
	// Auth decides who may do what. The zero value lets everybody do everything.
	Auth auth.Mode
	// Tokens are the bearer tokens of auth.RBAC. nil: auth.DefaultTokens.
	Tokens []auth.Token
	// Authorizers are asked in this order, and requests are authenticated: see auth.Options. nil: Auth decides.
	Authorizers []string
	// NoAnonymous refuses requests without credentials.
	NoAnonymous bool
	// RequestHeader says which proxies may name users. The ConfigMap extension-apiserver-authentication publishes it.
	RequestHeader auth.RequestHeader
	// ServiceAccounts says who issues the tokens of service accounts and which are good.
	ServiceAccounts token.Options
	// Plugins are names of admission plugins that run beside those of admission.New, of admission.Optional.
	Plugins []string
	// Replicas are the API servers. Empty: one of the newest version.
	Replicas []ReplicaOptions
	// Bare leaves out what API servers make when they start, but for the namespaces. Answers do not name flow schemas then.
	Bare bool
	// NoControllers leaves out what a controller does in a real cluster: that ClusterRoles aggregate others. Then API
	// servers are on their own, as those that the recordings are from.
	NoControllers bool
	// WriteGap is how much of the clock's time passes between the two writes of one request: a pod that nobody runs gets its
	// deletionTimestamp, then it is removed. A real store takes about a millisecond, in which clients may see the first. With
	// 0 nobody can act between them; with more, somebody has to move the clock.
	WriteGap time.Duration
	// ServiceCIDR is the range of addresses of services, IPv4, as of --service-cluster-ip-range: the Service kubernetes has
	// the first. "": 10.0.0.0/24.
	ServiceCIDR string
	// Advertise is the address of the first API server in the endpoints of the Service kubernetes, as of
	// --advertise-address. "": one of boot.AddressBase.
	Advertise string
	// WithoutPlugins are names of admission plugins of admission.New that do not run, as of --disable-admission-plugins.
	WithoutPlugins []string
	// Port is where the API servers say that they listen, in the Service kubernetes and its endpoints, in
	// discovery and in the OpenID configuration. 0: boot.Port.
	Port int
	// ClientCA is a bundle of PEM certificates, as of --client-ca-file: it is published in the ConfigMap
	// extension-apiserver-authentication. "": there is none.
	ClientCA string
	// Trace says what the record of everything that happens keeps. The zero value keeps nothing and costs nothing.
	Trace trace.Options
	// Replay makes faults happen as was decided in a run before: those that AddFaults adds take their choices from it.
	// nil: choices are drawn. The decisions of a trace are read by fault.ParseDecisions.
	Replay []fault.Decision
}

// bootRevision is the revision of the last object that is there from the beginning: high enough that a resourceVersion
// is not taken for some other small number.
const bootRevision = 4004

// Version is the version of the simulated API server.
const Version = "v1.36.3"

const minor = "1.36"

// Cluster is a simulated cluster. It is safe for concurrent use.
type Cluster struct {
	mu       sync.Mutex
	clock    clock.Clock
	seed     uint64
	options  Options
	tokens   *token.Authority // of service accounts
	store    *mvcc.Store
	random   streams
	past     past
	leases   []Lease
	schedule schedule
	compact  compactor
	replicas []*Replica
	held     map[string]bool // clients whose watch events are kept back
	routes   map[string]int  // replicas that clients reach, by the beginning of their User-Agent

	jobs        customJobs
	conversions conversions
	webhooks    webhooks
	aggregation aggregation
	observer    *observer // nil: nobody looks
	followers   []func(Commit)
	journal     Journal // nil: nobody keeps a log
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.boot(); err != nil {
		return nil, err
	}
	if o.Trace != (trace.Options{}) || o.Replay != nil {
		c.observe()
	}
	return c, nil
}

// smallestCIDR is how long the prefix of a range of addresses may be: kube-apiserver wants eight of them.
const smallestCIDR = 29

// check reports what is wrong with the options.
func (o *Options) check() error {
	if name := admission.Unknown(o.Plugins); name != "" {
		return fmt.Errorf("there is no admission plugin %q to add: there are %s", name, strings.Join(admission.Optional, ", "))
	}
	for _, name := range o.WithoutPlugins {
		if !admission.Known(name) {
			return fmt.Errorf("there is no admission plugin %q to leave out: there are %s", name, strings.Join(admission.Names(), ", "))
		}
	}
	if o.ServiceCIDR == "" {
		return nil
	}
	if p, err := netip.ParsePrefix(o.ServiceCIDR); err != nil || !p.Addr().Is4() || p.Bits() > smallestCIDR {
		return fmt.Errorf("the range of addresses of services is %q: want one of IPv4 with at least 8 addresses, such as 10.0.0.0/24", o.ServiceCIDR)
	}
	return nil
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
	c := &Cluster{clock: o.Clock, seed: o.Seed, options: o, tokens: tokens}
	c.serviceCIDR, _ = netip.ParsePrefix(o.ServiceCIDR) // has been checked; "" is the zero value
	c.schedule.clock, c.schedule.lock = o.Clock, locker{c}
	c.reset()
	return c, nil
}

// reset empties the store and begins all random streams anew.
func (c *Cluster) reset() {
	c.store = mvcc.New(bootRevision)
	c.random, c.leases = streams{seed: c.seed}, nil
	c.past = past{}
	c.compact = compactor{next: c.clock.Now().Add(compactionInterval)}
	c.jobs = customJobs{}
	c.conversions.memory.Forget()
	c.aggregation = aggregation{through: c.aggregation.through}
	c.held, c.routes = map[string]bool{}, map[string]int{}
}

// Reset takes the Cluster back to how New made it, except for its time, which goes on. Open watches end.
func (c *Cluster) Reset() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.observer; o != nil {
		o.flush()
		defer o.begin()
	}
	c.reset()
	for _, r := range c.replicas {
		r.end()
	}
	c.schedule.clear()
	return c.boot()
}

// Server returns the API server of replica n, counted from 1.
func (c *Cluster) Server(n int) *apiserver.Server { return c.replicas[n-1].server }

// Clock returns the Cluster's clock.
func (c *Cluster) Clock() clock.Clock { return c.clock }

// Revision returns the newest revision of the store.
func (c *Cluster) Revision() uint64 {
	c.lock()
	defer c.mu.Unlock()
	return c.store.Rev()
}

// Close ends every watch and every read that waits. A closed Cluster still answers.
func (c *Cluster) Close() {
	c.lock()
	defer c.mu.Unlock()
	if c.observer != nil {
		c.observer.flush()
	}
	for _, r := range c.replicas {
		r.end()
	}
	c.schedule.stop()
}

// lock takes the Cluster's lock and does what has become due without a timer of its own.
func (c *Cluster) lock() {
	c.mu.Lock()
	c.catchUp()
}

// locker is the Cluster's lock as its parts see it.
type locker struct{ c *Cluster }

func (l locker) Lock() { l.c.lock() }

// Unlock does what the API servers do by themselves after what was done under the lock, and gives it back. What they ask
// aggregated servers for by themselves, they ask then.
func (l locker) Unlock() {
	if l.c.observer != nil {
		l.c.observer.after()
	}
	l.c.settle()
	asks := l.c.aggregation.takeAsks()
	l.c.mu.Unlock()
	for _, ask := range asks {
		ask()
	}
}

// outside calls f without the lock, in the middle of a request.
func (c *Cluster) outside(f func()) {
	if o := c.observer; o != nil {
		defer func(e *apiserver.Exchange, replica int) { o.current, o.server = e, replica }(o.current, o.server)
	}
	defer func(was bool) { c.conversions.unlocks = was }(c.conversions.unlocks)
	c.conversions.unlocks = false
	c.mu.Unlock()
	defer c.lock()
	f()
}

// wait returns when d of the Cluster's time has passed, or ctx ends. It is called without the lock.
func (c *Cluster) wait(ctx context.Context, d time.Duration) {
	passed := make(chan struct{})
	c.lock()
	stop := c.schedule.after(d, func() { close(passed) })
	c.mu.Unlock()
	select {
	case <-passed:
	case <-ctx.Done():
		c.lock()
		stop()
		c.mu.Unlock()
	}
}

// pause lets the time between two writes of one request pass.
func (c *Cluster) pause() {
	if d := c.options.WriteGap; d > 0 {
		c.outside(func() { c.wait(context.Background(), d) })
	}
}

// newest is the newest state of the store.
func (c *Cluster) newest() *mvcc.View {
	view, err := c.store.At(0)
	if err != nil {
		panic("sim: the store has no newest revision: " + err.Error())
	}
	return view
}

// committed offers a commit to every replica.
func (c *Cluster) committed(e *mvcc.Event) {
	defer func(was bool) { c.conversions.unlocks = was }(c.conversions.unlocks)
	c.conversions.unlocks = false // every replica sees this commit before the next
	view := c.newest()
	now := c.clock.Now()
	c.past.add(e.Rev, now, &c.random)
	if c.journal != nil {
		c.journal.Commit(e, now)
	}
	if c.observer != nil {
		c.observer.committed(e)
	}
	c.logged(e)
	for _, r := range c.replicas {
		r.apply(e, view, now)
	}
	for _, r := range c.replicas {
		r.wake() // what waited may write: all replicas have this commit before they see the next
	}
	c.follow(e)
}

func (c *Cluster) now() time.Time { return c.clock.Now() }
