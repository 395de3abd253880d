package replica

import (
	"cmp"
	"strconv"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/fieldmanager"
	"github.com/kubesim/kubesim/sim/flowcontrol"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// Server is an API server of a cluster. It has its own watch caches.
type Server struct {
	set      *Set
	n        int // counted from 1, or peerNumber
	api      *apiserver.Server
	inner    *registry.Registry // for writes by admission plugins; does not run admission plugins
	own      *registry.Registry // for the server's own writes; its store is always reachable
	admitted *registry.Registry // like own, but with admission; for writes by controllers
	position *watchcache.Position
	caches   map[string]*watchcache.Cache // by storage name
	filled   uint64                       // revision at which the caches were filled
	waiting  []*waiter
	custom   *crd.Server
	plugins  *admission.Server
	profile  *Profile

	lagsAll     bool            // no commits are applied
	lagging     map[string]bool // storage names of resources whose commits are not applied; their caches have their own positions
	unreachable bool            // the store is unreachable and sends no commits

	flow *flowcontrol.Config // nil if it has changed since it was last used

	unready map[string]Window // caches that are being filled, by storage name; the key everything stands for all of them

	open  []OpenWatch // open watches, and some that have ended
	prune int         // length of open at which ended watches are removed
}

// OpenWatch is a watch and the request that opened it.
type OpenWatch struct {
	*watchcache.Watch
	Exchange *apiserver.Exchange
}

// newServer returns a server. It must be restarted or loaded before it can serve requests.
func newServer(set *Set, n int, p *Profile) *Server {
	r := &Server{set: set, n: n, profile: p}
	r.custom = &crd.Server{Schema: p.set, Minor: p.server.Minor, Meta: reader(p.set).ReadMeta, Host: customHost{r, &set.Conversions}}
	table, decoder := resource.NewTable(p.served), r.decoder()
	fields := fieldmanager.New(fieldmanager.Options{Versions: versions{table, r.custom}, Keeps: p.server.Since(37)})
	who := r.auth()
	r.plugins = &admission.Server{Table: table, Decoder: decoder, Config: set.Config.Admission, Host: pluginHost{r, who, fields, &set.Webhooks}}
	chain := admission.New(r.plugins, set.Config.Plugins, set.Config.WithoutPlugins)
	reg := r.registry(backend{r}, who, fields, chain)
	r.inner = r.registry(backend{r}, who, fields, nil)
	r.own = r.registry(ownBackend{backend{r}}, who, fields, nil)
	r.admitted = r.registry(ownBackend{backend{r}}, who, fields, chain)
	r.api = &apiserver.Server{Lock: set.Lock, Registry: reg, Table: table, Schema: p.set, Auth: who, Decoder: decoder,
		Discovery: discovery.New(r.discovery(table)), Nodes: set.Nodes, Host: apiHost{r}}
	return r
}

// decoder returns the decoder for request bodies.
func (r *Server) decoder() *codec.Decoder {
	set := r.profile.set
	return &codec.Decoder{Schema: set, Meta: set.Named(crd.ObjectMeta), CBOR: r.cbor(),
		Unstructured: r.custom.Known, Prune: r.custom.Prune}
}

// cbor returns the codec of CBOR, or nil if its feature gate is disabled.
func (r *Server) cbor() codec.CBORCodec {
	if r.profile.server.Gates[config.GateCBOR] {
		return r.set.Config.CBOR
	}
	return nil
}

// auth returns the object that authenticates and authorizes requests to the server.
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
		CBOR: r.cbor(), Host: discoveryHost{r}}
}

// API returns the apiserver.Server, which handles requests.
func (r *Server) API() *apiserver.Server { return r.api }

// Release returns the version of the server, such as v1.36.3.
func (r *Server) Release() string { return r.profile.release }

// Minor returns the minor version of the server, such as 1.36.
func (r *Server) Minor() string { return r.profile.set.Minor() }

// RoleGates returns the enabled feature gates that add rules to the default roles.
func (r *Server) RoleGates() []string { return boot.ChangesRoles(r.Minor(), r.profile.server.Gates) }

// Since reports whether the server has a minor version, such as 37, or a later one.
func (r *Server) Since(minor int) bool { return r.profile.server.Since(minor) }

// Profile returns the server's profile.
func (r *Server) Profile() *Profile { return r.profile }

// Reader returns a reader for the stored objects.
func (r *Server) Reader() registry.Reader { return r.api.Registry.Reader() }

// Definition returns the hub definition of a storage name, or nil.
func (r *Server) Definition(storage string) *resource.Definition {
	if d := r.profile.hubs[storage]; d != nil {
		return d
	}
	return r.custom.Hub(storage)
}

// Hubs returns the hub definitions of all built-in resources, sorted by storage name.
func (r *Server) Hubs() (all []*resource.Definition) {
	for _, storage := range object.SortedKeys(r.profile.hubs) {
		all = append(all, r.profile.hubs[storage])
	}
	return all
}

// registry returns a registry that uses the given backend. If chain is nil, it does not run admission plugins.
func (r *Server) registry(b registry.Backend, who *auth.Auth, fields *fieldmanager.Manager, chain admission.Chain) *registry.Registry {
	return &registry.Registry{Backend: b, Authorizer: authorizer{who}, Admission: chain, Fields: fields, Server: r.profile.server,
		NoPrivileged: r.profile.refuses, Config: r.set.Config, Tokens: r.set.Tokens}
}

// versions implements fieldmanager.Versions. It provides the resources of a table, and all versions of custom resources, whether
// served or not.
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
