package sim

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/boot"
	levels "github.com/kubesim/kubesim/sim/builtin/flowcontrol"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/fieldmanager"
	"github.com/kubesim/kubesim/sim/flowcontrol"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// Replica is one API server of a Cluster with watch caches of its own.
type Replica struct {
	cluster  *Cluster
	server   *apiserver.Server
	position *watchcache.Position
	caches   map[string]*watchcache.Cache // by storage name
	filled   uint64                       // revision at which the caches were filled
	waiting  []*waiter
	custom   *crd.Server
	profile  *profile

	lagsAll     bool            // nothing is applied
	lagging     map[string]bool // storage names of what is not applied; their caches have a position of their own
	unreachable bool            // the store cannot be reached, and sends nothing

	flow *flowcontrol.Config // nil: it has changed since it was asked for

	unready map[string]Window // caches that are being filled, by storage name; everything: all of them

	open  []*watchcache.Watch // watches that are not over, and some that are
	prune int                 // how many of them are too many
}

// waiter is a read that waits for a cache to reach a revision.
type waiter struct {
	cache *watchcache.Cache
	rev   uint64
	done  func(fresh bool)
	stop  func() // takes back the timeout
}

// newReplica returns a replica that has to be restarted, or loaded, before it serves.
func newReplica(c *Cluster, p *profile) *Replica {
	r := &Replica{cluster: c, profile: p}
	set, table := p.set, resource.NewTable(p.served)
	who := auth.New(c.options.authentication(c.tokens))
	reg := &registry.Registry{Backend: backend{r}, Review: who.Review,
		Fields: r.fields(table), Server: p.server, NoPrivileged: p.refuses, ServiceCIDR: c.serviceCIDR, Tokens: c.tokens}
	who.Accounts = func(text string, wanted []string) (*token.Holder, error) {
		h, use, err := c.tokens.Check(text, wanted, c.now(), reg.Reader())
		c.used(use)
		return h, err
	}
	reg.May = func(q *registry.Request, what resource.Access) *status.Status {
		at := auth.Attributes{User: q.User, Verb: what.Verb, IsResource: true, Group: q.Definition.Group, Version: q.Definition.Version,
			Resource: q.Definition.Resource, Subresource: what.Subresource, Namespace: what.Namespace, Name: what.Name}
		if allowed, reason := who.Authorize(at, reg.Reader()); !allowed {
			return auth.Forbidden(at, reason)
		}
		return nil
	}
	reg.Escalation = func(q *registry.Request, obj, old object.Object) *status.Status {
		d := q.Definition
		at := auth.Attributes{User: q.User, Verb: "update", IsResource: true, Group: d.Group, Version: d.Version,
			Resource: d.Resource, Subresource: q.Subresource, Namespace: q.Namespace, Name: q.Name} // of the path: a create has none
		if old == nil {
			at.Verb = "create"
		}
		return who.Escalation(at, obj, old, reg.Reader())
	}
	var peers func() []*discovery.Documents
	if p.proxies {
		peers = c.documents
	}
	r.server = &apiserver.Server{
		Watching: r.opened,
		Lock:     locker{c}, Registry: reg, Table: table, Schema: set, Auth: who,
		Discovery: discovery.New(discovery.Options{Table: table, Schema: set, Version: discovery.Release(p.release),
			Address: "127.0.0.1:" + strconv.Itoa(cmp.Or(c.options.Port, boot.Port)),
			Seats:   func() map[string]int { return levels.NominalSeats(reg.Reader()) },
			Keys:    c.tokens, CustomSchema: r.published, Now: c.now,
			Statusz: p.server.Gates["ComponentStatusz"], Flagz: p.server.Gates["ComponentFlagz"], Flags: p.flags, Peers: peers,
			Remotes: c.remotes, Priorities: c.priorities}),
		Decoder: &codec.Decoder{Kinds: set.Kind},
	}
	r.server.Aggregated = c.aggregated
	r.admit(reg, table, who, r.server.Decoder)
	r.serveCustom(set)
	if p.proxies {
		r.server.Peer = r.peer
	}
	if !c.options.Bare {
		r.server.Flow = r.flows
	}
	return r
}

// flows is apiserver.Server's Flow.
func (r *Replica) flows() *flowcontrol.Config {
	if r.flow == nil {
		r.flow = flowcontrol.New(r.server.Registry.Reader())
	}
	return r.flow
}

// documents are the discovery documents of all replicas.
func (c *Cluster) documents() []*discovery.Documents {
	var all []*discovery.Documents
	for _, r := range c.replicas {
		all = append(all, r.server.Discovery)
	}
	return all
}

// peer is apiserver.Server's Peer: any other replica that serves the resource, by a draw.
func (r *Replica) peer(group, version, name string) *apiserver.Server {
	var able []*apiserver.Server
	for _, x := range r.cluster.replicas {
		if x != r && x.server.Table.Find(group, version, name) != nil {
			able = append(able, x.server)
		}
	}
	if len(able) == 0 {
		return nil
	}
	return able[r.cluster.random.draw("peers", len(able))]
}

// may asks who's rules for admission plugins.
func may(who *auth.Auth) admission.Authorize {
	return func(user resource.User, verb, group, name, object string, objects resource.Reader) bool {
		allowed, _ := who.Authorize(auth.Attributes{User: user, Verb: verb, IsResource: true, Group: group, Version: "*",
			Resource: name, Name: object}, objects)
		return allowed
	}
}

// fields returns the field manager of a server of table and of custom resources, whose versions it knows served or not.
func (r *Replica) fields(table *resource.Table) *fieldmanager.Manager {
	m := fieldmanager.New()
	m.Version = func(d *resource.Definition, apiVersion string) *resource.Definition {
		if d.Form != nil {
			return r.custom.Version(d, apiVersion)
		}
		kind := schema.ParseGVK(apiVersion, d.Kind)
		if other := table.Find(kind.Group, kind.Version, d.Resource); other != nil && other.Hub == d.Hub {
			return other
		}
		return nil
	}
	return m
}

// end answers the reads that wait, as if they had waited in vain, and ends all watches.
func (r *Replica) end() {
	waiting := r.waiting
	r.waiting = nil
	for _, w := range waiting {
		w.stop()
		w.done(false)
	}
	for _, name := range r.cacheNames() {
		r.caches[name].EndAll()
	}
}

// restart fills the caches anew; watches end, and reads that wait for a revision have waited long enough.
func (r *Replica) restart() { r.restartAt(r.cluster.newest()) }

// restartAt is restart when the store was as view.
func (r *Replica) restartAt(view *mvcc.View) {
	r.end()
	r.lagsAll, r.unreachable, r.lagging, r.unready = false, false, map[string]bool{}, map[string]Window{}
	r.position = &watchcache.Position{View: view}
	r.caches = map[string]*watchcache.Cache{}
	r.filled, r.flow = view.Rev(), nil
	r.redefine()
}

func (r *Replica) cacheNames() []string { return object.SortedKeys(r.caches) }

// cache returns the cache of what is stored under a name.
func (r *Replica) cache(storage string) *watchcache.Cache {
	c, ok := r.caches[storage]
	if !ok {
		c = watchcache.New("/registry/"+storage+"/", r.position, r.filled)
		r.caches[storage] = c
	}
	return c
}

// apply takes in a commit, unless the replica lags.
func (r *Replica) apply(e *mvcc.Event, view *mvcc.View, now time.Time) {
	if r.lagsAll || r.unreachable {
		return
	}
	storage := storageOf(e.Key)
	r.cache(storage) // made before the position moves on: it has this event to come
	r.position.View = view
	if !r.lagging[storage] {
		r.take(storage, e, now)
	}
}

// storageOf returns the storage name in a key.
func storageOf(key string) string {
	storage, _, _ := strings.Cut(strings.TrimPrefix(key, "/registry/"), "/")
	return storage
}

// take applies a commit that the position of its cache has reached.
func (r *Replica) take(storage string, e *mvcc.Event, now time.Time) {
	cache := r.cache(storage)
	if o := r.cluster.observer; o != nil {
		o.applied(r, e)
	}
	cache.Apply(e, now)
	switch storage {
	case crd.Storage:
		r.defined(e)
	case flowcontrol.Schemas, flowcontrol.Levels:
		r.flow = nil
	}
}

// wake answers the reads whose revision has been reached.
func (r *Replica) wake() {
	if len(r.waiting) == 0 {
		return
	}
	waiting := r.waiting
	r.waiting = nil
	for _, w := range waiting {
		if w.cache.Rev() < w.rev {
			r.waiting = append(r.waiting, w)
			continue
		}
		w.stop()
		w.done(true)
	}
}

// await is registry.Backend's Await.
func (r *Replica) await(cache *watchcache.Cache, rev uint64, done func(fresh bool)) {
	if cache.Rev() >= rev {
		done(true)
		return
	}
	w := &waiter{cache: cache, rev: rev, done: done}
	w.stop = r.cluster.schedule.after(registry.FreshnessTimeout, func() {
		for i := range r.waiting {
			if r.waiting[i] == w {
				r.waiting = append(r.waiting[:i:i], r.waiting[i+1:]...)
				break
			}
		}
		done(false)
	})
	r.waiting = append(r.waiting, w)
}

// forget drops the history of every cache.
func (r *Replica) forget() {
	r.filled = r.position.Rev()
	for _, name := range r.cacheNames() {
		r.caches[name].Forget()
	}
}

// backend is the replica as its registry sees it.
type backend struct{ r *Replica }

func (b backend) Store() *mvcc.Store               { return b.r.cluster.store }
func (b backend) Reachable() bool                  { return !b.r.unreachable }
func (b backend) Committed(e *mvcc.Event)          { b.r.cluster.committed(e) }
func (b backend) Now() time.Time                   { return b.r.cluster.now() }
func (b backend) Random(purpose string, n int) int { return b.r.cluster.random.draw(purpose, n) }

func (b backend) Cache(d *resource.Definition) *watchcache.Cache { return b.r.cache(d.Storage) }

func (b backend) Await(c *watchcache.Cache, rev uint64, done func(bool)) { b.r.await(c, rev, done) }

func (b backend) After(d time.Duration, f func()) (stop func()) {
	return b.r.cluster.schedule.after(d, f)
}

func (b backend) Unready(d *resource.Definition) (time.Duration, bool) {
	return b.r.downtime(d.Storage)
}

func (b backend) Pause() { b.r.cluster.pause() }

func (b backend) Grant(ttl time.Duration, key string, rev uint64) { b.r.cluster.grant(ttl, key, rev) }

func (b backend) Definition(storage string) *resource.Definition {
	if d := b.r.profile.hubs[storage]; d != nil {
		return d
	}
	return b.r.custom.Hub(storage)
}
