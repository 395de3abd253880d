package replica

import (
	"cmp"
	"strconv"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/fieldmanager"
	"github.com/kubesim/kubesim/sim/flowcontrol"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// Server is one API server of a cluster, with watch caches of its own.
type Server struct {
	set      *Set
	n        int // counted from 1
	api      *apiserver.Server
	inner    *registry.Registry // for writes by admission plugins; no plugin runs for them
	own      *registry.Registry // through which the server itself writes: the store is always within reach
	admitted *registry.Registry // the same with admission: through which controllers write
	position *watchcache.Position
	caches   map[string]*watchcache.Cache // by storage name
	filled   uint64                       // revision at which the caches were filled
	waiting  []*waiter
	custom   *crd.Server
	profile  *Profile

	lagsAll     bool            // nothing is applied
	lagging     map[string]bool // storage names whose commits are not applied; their caches have positions of their own
	unreachable bool            // the store cannot be reached, and sends nothing

	flow *flowcontrol.Config // nil if it has changed since its last use

	unready map[string]Window // caches that are being filled, by storage name; everything: all of them

	open  []OpenWatch // watches that are not over, and some that are
	prune int         // how many of them are too many
}

// OpenWatch is a watch and the request that has opened it.
type OpenWatch struct {
	*watchcache.Watch
	Exchange *apiserver.Exchange
}

// newServer returns a server that has to be restarted, or loaded, before it serves.
func newServer(set *Set, n int, p *Profile) *Server {
	r := &Server{set: set, n: n, profile: p}
	r.custom = &crd.Server{Schema: p.set, Minor: p.server.Minor, Meta: reader(p.set).ReadMeta, Host: customHost{r, &set.Conversions}}
	table, decoder := resource.NewTable(p.served), r.decoder()
	fields := fieldmanager.New(fieldmanager.Options{Versions: versions{table, r.custom}, Keeps: p.server.Since(37)})
	who := r.auth()
	plugins := &admission.Server{Table: table, Decoder: decoder, Config: set.Config.Admission, Host: pluginHost{r, who, fields, &set.Webhooks}}
	chain := admission.New(plugins, set.Config.Plugins, set.Config.WithoutPlugins)
	reg := r.registry(backend{r}, who, fields, chain)
	r.inner = r.registry(backend{r}, who, fields, nil)
	r.own = r.registry(ownBackend{backend{r}}, who, fields, nil)
	r.admitted = r.registry(ownBackend{backend{r}}, who, fields, chain)
	r.api = &apiserver.Server{Lock: set.Lock, Registry: reg, Table: table, Schema: p.set, Auth: who, Decoder: decoder,
		Discovery: discovery.New(r.discovery(table)), Nodes: set.Nodes, Host: apiHost{r}}
	return r
}

// decoder returns what reads the bodies of requests.
func (r *Server) decoder() *codec.Decoder {
	set := r.profile.set
	return &codec.Decoder{Kinds: set.Kind, Unserved: set.Release().CanRead, Meta: set.Named(crd.ObjectMeta),
		Unstructured: r.custom.Known, Prune: r.custom.Prune}
}

// auth returns the authenticator and authorizer of the server.
func (r *Server) auth() *auth.Auth {
	o := r.set.Auth
	o.Named, o.Host = r.profile.server.Since(37), authHost{r}
	return auth.New(o)
}

// discovery returns the options of the server's discovery documents.
func (r *Server) discovery(table *resource.Table) discovery.Options {
	p, set := r.profile, r.set
	return discovery.Options{Table: table, Schema: p.set, Version: discovery.Release(p.release),
		Address: "127.0.0.1:" + strconv.Itoa(cmp.Or(set.Config.Port, boot.Port)), Keys: set.Tokens,
		Statusz: p.server.Gates["ComponentStatusz"], Flagz: p.server.Gates["ComponentFlagz"], Flags: p.flags,
		Host: discoveryHost{r}}
}

// API returns the apiserver.Server, which answers requests.
func (r *Server) API() *apiserver.Server { return r.api }

// Release is the version of the server, such as v1.36.3.
func (r *Server) Release() string { return r.profile.release }

// Minor is the first two numbers of the version, such as 1.36.
func (r *Server) Minor() string { return r.profile.set.Minor() }

// Profile returns the server's profile.
func (r *Server) Profile() *Profile { return r.profile }

// Reader returns a reader of the currently stored objects.
func (r *Server) Reader() registry.Reader { return r.api.Registry.Reader() }

// Definition returns the hub definition of a storage name, or nil.
func (r *Server) Definition(storage string) *resource.Definition {
	if d := r.profile.hubs[storage]; d != nil {
		return d
	}
	return r.custom.Hub(storage)
}

// registry returns a registry over a backend. A nil chain means no admission.
func (r *Server) registry(b registry.Backend, who *auth.Auth, fields *fieldmanager.Manager, chain admission.Chain) *registry.Registry {
	return &registry.Registry{Backend: b, Authorizer: authorizer{who}, Admission: chain, Fields: fields, Server: r.profile.server,
		NoPrivileged: r.profile.refuses, Config: r.set.Config, Tokens: r.set.Tokens}
}

// versions implements fieldmanager.Versions for a server of table and of custom resources, of which it knows all versions, served or not.
type versions struct {
	table  *resource.Table
	custom *crd.Server
}

func (v versions) Version(d *resource.Definition, apiVersion string) *resource.Definition {
	if d.StorageCodec != nil {
		return v.custom.Version(d, apiVersion)
	}
	kind := schema.ParseGVK(apiVersion, d.Kind)
	if other := v.table.Find(kind.Group, kind.Version, d.Resource); other != nil && other.Hub == d.Hub {
		return other
	}
	return nil
}
