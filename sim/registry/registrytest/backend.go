// Package registrytest provides a minimal backend for tests of packages that use a registry: a store with the built-in kinds of
// 1.36, the watch caches of one server, and a manual clock. There is no admission and no authorization unless a test adds them.
//
//	b := registrytest.New(mvcc.New(1), clock.Epoch())
//	reg := b.Registry()
//	b.Unreachable = true      // the server cannot reach the store
//	b.Filling = true          // its caches are being filled
//	b.Clock.Advance(time.Second)
package registrytest

import (
	"sync"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/builtin"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/fieldmanager"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/random"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// Backend implements registry.Backend over its own store.
type Backend struct {
	Log      commit.Log
	Clock    *clock.Manual
	Schedule *clock.Schedule
	Streams  random.Streams
	Schema   *schema.Set
	Served   []*resource.Definition
	Hubs     map[string]*resource.Definition // by storage name

	Unreachable bool // the store cannot be reached
	Filling     bool // the caches are being filled

	filled   uint64
	position watchcache.Position
	caches   map[string]*watchcache.Cache
}

// New returns a backend over a store. Its caches are filled with the current objects.
func New(store *mvcc.Store, at time.Time) *Backend {
	set, err := schema.Load(schema.Default)
	if err != nil {
		panic("registrytest: " + err.Error())
	}
	b := &Backend{Clock: clock.NewManual(at), Schema: set, Served: builtin.Definitions(set),
		Hubs: map[string]*resource.Definition{}, caches: map[string]*watchcache.Cache{}}
	for _, d := range b.Served {
		b.Hubs[d.Storage] = d.Hub
	}
	b.Streams.Begin(1)
	b.Schedule = clock.NewSchedule(b.Clock, &sync.Mutex{})
	b.Log = commit.Log{Store: store, Clock: b.Clock, Known: b, Listeners: []commit.Listener{applier{b}}}
	b.filled, b.position.View = store.Rev(), b.Log.Newest()
	return b
}

// Registry returns a registry that uses the backend.
func (b *Backend) Registry() *registry.Registry {
	return &registry.Registry{Backend: b, Config: &config.Cluster{}, Fields: fieldmanager.New(fieldmanager.Options{})}
}

// applier applies commits to the caches.
type applier struct{ *Backend }

// Committed implements commit.Listener.
func (a applier) Committed(c *commit.Commit) {
	cache := a.cache(c.Storage) // must be created before the position advances
	a.position.View = c.View
	cache.Apply(c.Event, c.At)
}

func (b *Backend) cache(storage string) *watchcache.Cache {
	c, ok := b.caches[storage]
	if !ok {
		c = watchcache.New("/registry/"+storage+"/", &b.position, b.filled)
		b.caches[storage] = c
	}
	return c
}

// Store implements registry.Backend, like the methods below.
func (b *Backend) Store() *mvcc.Store { return b.Log.Store }

// Reachable reports whether the store can be reached.
func (b *Backend) Reachable() bool { return !b.Unreachable }

// Committed notifies the caches and the other listeners of the log.
func (b *Backend) Committed(by resource.Author, e *mvcc.Event) { b.Log.Committed(by, e) }

// Cache returns the cache of a resource.
func (b *Backend) Cache(d *resource.Definition) *watchcache.Cache { return b.cache(d.Storage) }

// Unready reports whether the caches are being filled. The downtime is zero.
func (b *Backend) Unready(*resource.Definition) (time.Duration, bool) { return 0, b.Filling }

// Await waits for a revision, at most for FreshnessTimeout.
func (b *Backend) Await(c *watchcache.Cache, rev uint64, done func(fresh bool)) {
	if c.Rev() >= rev {
		done(true)
		return
	}
	b.After(registry.FreshnessTimeout, func() { done(c.Rev() >= rev) })
}

// After calls f after the clock has advanced by d.
func (b *Backend) After(d time.Duration, f func()) (stop func()) { return b.Schedule.After(d, f) }

// Pause does nothing: no other client writes meanwhile.
func (b *Backend) Pause() {}

// Grant does nothing: objects never expire.
func (b *Backend) Grant(time.Duration, string, uint64) {}

// Now returns the time of the clock.
func (b *Backend) Now() time.Time { return b.Clock.Now() }

// Random returns a number from the random stream of the purpose.
func (b *Backend) Random(purpose string, n int) int { return b.Streams.Draw(purpose, n) }

// RandomID returns bytes from the random stream of the purpose.
func (b *Backend) RandomID(purpose string) (id [16]byte) {
	b.Streams.Fill(purpose, id[:])
	return id
}

// Definition returns the hub definition of a storage name.
func (b *Backend) Definition(storage string) *resource.Definition { return b.Hubs[storage] }

// Resources returns the definitions of all served resources.
func (b *Backend) Resources() []*resource.Definition { return b.Served }

// OfKind returns the definition of a kind, or nil.
func (b *Backend) OfKind(kind schema.GVK) *resource.Definition {
	return resource.NewTable(b.Served).OfKind(kind)
}
