package replica

import (
	"cmp"
	"strconv"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/boot"
	levels "github.com/kubesim/kubesim/sim/builtin/flowcontrol"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/fieldmanager"
	"github.com/kubesim/kubesim/sim/flowcontrol"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// Server is one API server of a cluster, with watch caches of its own.
type Server struct {
	set      *Set
	n        int // counted from 1
	api      *apiserver.Server
	inner    *registry.Registry // of the server's registry what admission writes through: nobody is asked
	own      *registry.Registry // through which the server itself writes: the store is always within reach
	admitted *registry.Registry // the same with admission: through which controllers write
	position *watchcache.Position
	caches   map[string]*watchcache.Cache // by storage name
	filled   uint64                       // revision at which the caches were filled
	waiting  []*waiter
	custom   *crd.Server
	profile  *Profile

	lagsAll     bool            // nothing is applied
	lagging     map[string]bool // storage names of what is not applied; their caches have a position of their own
	unreachable bool            // the store cannot be reached, and sends nothing

	flow *flowcontrol.Config // nil: it has changed since it was asked for

	unready map[string]Window // caches that are being filled, by storage name; everything: all of them

	open  []*watchcache.Watch // watches that are not over, and some that are
	prune int                 // how many of them are too many
}

// newServer returns a server that has to be restarted, or loaded, before it serves.
func newServer(set *Set, n int, p *Profile) *Server {
	r := &Server{set: set, n: n, profile: p}
	table := resource.NewTable(p.served)
	who := auth.New(set.Auth)
	who.Named = p.server.Since(37)
	fields := r.fields(table)
	reg := r.registry(backend{r}, who, fields)
	r.inner, r.own = r.registry(backend{r}, who, fields), r.registry(ownBackend{backend{r}}, who, fields)
	who.Accounts = func(text string, wanted []string) (*token.Holder, error) {
		h, use, err := set.Tokens.Check(text, wanted, set.Schedule.Now(), reg.Reader())
		set.used(use)
		return h, err
	}
	r.api = &apiserver.Server{
		Watching: r.opened,
		Lock:     set.Lock, Registry: reg, Table: table, Schema: p.set, Auth: who,
		Discovery:  discovery.New(r.discovery(reg, table)),
		Decoder:    decoder(p.set),
		Aggregated: set.Aggregator.Aggregated,
		Nodes:      set.Nodes,
	}
	r.admit(reg, table, who, r.api.Decoder)
	r.admitted = r.registry(ownBackend{backend{r}}, who, fields)
	r.admitted.Admission = reg.Admission
	r.serveCustom(p.set)
	if p.proxies {
		r.api.Peer = r.peer
	}
	if !set.Config.Bare {
		r.api.Flow = r.flows
	}
	return r
}

// discovery says what the server publishes of itself.
func (r *Server) discovery(reg *registry.Registry, table *resource.Table) discovery.Options {
	p, set := r.profile, r.set
	o := discovery.Options{Table: table, Schema: p.set, Version: discovery.Release(p.release),
		Address: "127.0.0.1:" + strconv.Itoa(cmp.Or(set.Config.Port, boot.Port)),
		Seats:   func() map[string]int { return levels.NominalSeats(reg.Reader()) },
		Keys:    set.Tokens, CustomSchema: r.published, Now: set.Schedule.Now,
		Statusz: p.server.Gates["ComponentStatusz"], Flagz: p.server.Gates["ComponentFlagz"], Flags: p.flags,
		Remotes: set.Aggregator.Remotes, Priorities: set.Aggregator.Priorities}
	if p.proxies {
		o.Peers = set.documents
	}
	return o
}

// API is what answers requests.
func (r *Server) API() *apiserver.Server { return r.api }

// Release is the version of the server, such as v1.36.3.
func (r *Server) Release() string { return r.profile.release }

// Minor is the first two numbers of the version, such as 1.36.
func (r *Server) Minor() string { return r.profile.set.Minor() }

// Profile is what the server is made from.
func (r *Server) Profile() *Profile { return r.profile }

// Reader reads what is stored now.
func (r *Server) Reader() registry.Reader { return r.api.Registry.Reader() }

// Definition returns the hub definition of what is stored under a name, or nil.
func (r *Server) Definition(storage string) *resource.Definition {
	if d := r.profile.hubs[storage]; d != nil {
		return d
	}
	return r.custom.Hub(storage)
}

// registry returns a registry over a backend that asks no admission.
func (r *Server) registry(b registry.Backend, who *auth.Auth, fields *fieldmanager.Manager) *registry.Registry {
	reg := &registry.Registry{Backend: b, Review: who.Review, Fields: fields, Server: r.profile.server, NoPrivileged: r.profile.refuses,
		Config: r.set.Config, Tokens: r.set.Tokens}
	reg.May = func(q *registry.Request, access resource.Access) *status.Status {
		at := auth.Attributes{By: q.By, User: q.User, Verb: access.Verb, IsResource: true, Group: q.Definition.Group, Version: q.Definition.Version,
			Resource: cmp.Or(access.Resource, q.Definition.Resource), Subresource: access.Subresource, Namespace: access.Namespace, Name: access.Name}
		if allowed, reason := who.Authorize(at, reg.Reader()); !allowed {
			return auth.Forbidden(at, reason)
		}
		return nil
	}
	reg.Escalation = func(q *registry.Request, obj, old object.Object) *status.Status {
		d := q.Definition
		at := auth.Attributes{By: q.By, User: q.User, Verb: "update", IsResource: true, Group: d.Group, Version: d.Version,
			Resource: d.Resource, Subresource: q.Subresource, Namespace: q.Namespace, Name: q.Name} // of the path: a create has none
		if old == nil {
			at.Verb = "create"
		}
		return who.Escalation(at, obj, old, reg.Reader())
	}
	return reg
}

// flows is apiserver.Server's Flow.
func (r *Server) flows() *flowcontrol.Config {
	if r.flow == nil {
		r.flow = flowcontrol.New(r.api.Registry.Reader())
	}
	return r.flow
}

// peer is apiserver.Server's Peer: any other replica that serves the resource, by a draw.
func (r *Server) peer(group, version, name string) *apiserver.Server {
	var able []*apiserver.Server
	for _, x := range r.set.list {
		if x != r && x.api.Table.Find(group, version, name) != nil {
			able = append(able, x.api)
		}
	}
	if len(able) == 0 {
		return nil
	}
	return able[r.set.Random.Draw("peers", len(able))]
}

// fields returns the field manager of a server of table and of custom resources, whose versions it knows served or not.
func (r *Server) fields(table *resource.Table) *fieldmanager.Manager {
	m := fieldmanager.New()
	m.Keeps = r.profile.server.Since(37)
	m.Version = func(d *resource.Definition, apiVersion string) *resource.Definition {
		if d.StorageCodec != nil {
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
