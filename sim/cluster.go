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
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/builtin"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
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
}

// firstRevision is the revision a new store begins with: high enough that a resourceVersion is not taken for some
// other small number.
const firstRevision = 4000

// Version is the version of the simulated API server.
const Version = "v1.36.3"

const minor = "1.36"

// Cluster is a simulated cluster. It is safe for concurrent use.
type Cluster struct {
	mu       sync.Mutex
	clock    clock.Clock
	seed     uint64
	options  Options
	store    *mvcc.Store
	random   map[string]*rand.Rand
	schedule schedule
	compact  compactor
	replicas []*Replica
	stored   map[string]*resource.Definition // hub definitions of built-in resources by storage name

	jobs        customJobs
	conversions conversions
	webhooks    webhooks
}

// New returns a Cluster that holds what a real one holds at once: the namespaces default, kube-system, kube-public and
// kube-node-lease.
func New(o Options) (*Cluster, error) {
	set, err := schema.Load(minor)
	if err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = clock.NewManual(clock.Epoch())
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	c := &Cluster{clock: o.Clock, seed: o.Seed, options: o}
	c.schedule.clock, c.schedule.lock = o.Clock, locker{c}
	defs := withDefinitions(builtin.Definitions(set))
	c.stored = make(map[string]*resource.Definition, len(defs))
	for _, d := range defs {
		if d.Hub == d {
			c.stored[d.Storage] = d
		}
	}
	c.reset()
	c.replicas = []*Replica{newReplica(c, set, defs)}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c, c.bootstrap()
}

// reset empties the store and begins all random streams anew.
func (c *Cluster) reset() {
	c.store = mvcc.New(firstRevision)
	c.random = map[string]*rand.Rand{}
	c.compact = compactor{next: c.clock.Now().Add(compactionInterval), seen: firstRevision}
	c.jobs = customJobs{}
}

// Reset takes the Cluster back to how New made it, except for its time, which goes on. Open watches end.
func (c *Cluster) Reset() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reset()
	for _, r := range c.replicas {
		r.restart()
	}
	c.schedule.clear()
	return c.bootstrap()
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

// Close ends every watch. A closed Cluster still answers.
func (c *Cluster) Close() {
	c.lock()
	defer c.mu.Unlock()
	for _, r := range c.replicas {
		for _, name := range r.cacheNames() {
			r.caches[name].EndAll()
		}
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

// Unlock does what the API servers do by themselves after what was done under the lock, and gives it back.
func (l locker) Unlock() {
	l.c.settle()
	l.c.mu.Unlock()
}

// draw returns a number in [0, n) from the stream of one purpose. Each purpose has a stream of its own, so that one
// more draw for one of them does not shift the others.
func (c *Cluster) draw(purpose string, n int) int {
	stream, ok := c.random[purpose]
	if !ok {
		h := fnv.New64a()
		h.Write([]byte(purpose))
		stream = rand.New(rand.NewPCG(c.seed, h.Sum64()))
		c.random[purpose] = stream
	}
	return stream.IntN(n)
}

// committed offers a commit to every replica.
func (c *Cluster) committed(e *mvcc.Event) {
	view, err := c.store.At(e.Rev)
	if err != nil {
		panic("sim: the store has lost the revision it has just made: " + err.Error())
	}
	now := c.clock.Now()
	for _, r := range c.replicas {
		r.apply(e, view, now)
	}
	c.follow(e)
}

func (c *Cluster) now() time.Time { return c.clock.Now() }
