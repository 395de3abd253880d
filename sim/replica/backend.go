package replica

import (
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// backend implements registry.Backend for a replica.
type backend struct{ r *Server }

func (b backend) Store() *mvcc.Store { return b.r.set.Log().Store }
func (b backend) Reachable() bool    { return !b.r.unreachable }

func (b backend) Now() time.Time                   { return b.r.set.Schedule.Now() }
func (b backend) Random(purpose string, n int) int { return b.r.set.Random.Draw(purpose, n) }

func (b backend) RandomID(purpose string) (id [16]byte) {
	b.r.set.Random.Fill(purpose, id[:])
	return id
}

func (b backend) Cache(d *resource.Definition) *watchcache.Cache { return b.r.cache(d.Storage) }

func (b backend) Await(c *watchcache.Cache, rev uint64, done func(bool)) { b.r.await(c, rev, done) }

func (b backend) After(d time.Duration, f func()) (stop func()) {
	return b.r.set.Schedule.After(d, f)
}

func (b backend) Unready(d *resource.Definition) (time.Duration, bool) {
	return b.r.downtime(d.Storage)
}

func (b backend) Pause() { b.r.set.Lock.Pause() }

func (b backend) Grant(ttl time.Duration, key string, rev uint64) {
	b.r.set.History().Grant(ttl, key, rev)
}

func (b backend) Definition(storage string) *resource.Definition { return b.r.Definition(storage) }

func (b backend) Committed(by resource.Author, e *mvcc.Event) { b.r.set.Log().Committed(by, e) }

// ownBackend is the backend for a server's own controllers. The store is always reachable for them.
type ownBackend struct{ backend }

// Reachable implements registry.Backend.
func (ownBackend) Reachable() bool { return true }
