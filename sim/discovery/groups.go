package discovery

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// group is one served API group.
type group struct {
	name     string
	custom   bool // defined only by CustomResourceDefinitions and aggregated API servers
	rank     int  // groups of lower rank are listed first
	versions []version
}

// version is a served version of a group. Its resources are in discovery order.
type version struct {
	name   string
	defs   []*resource.Definition
	remote *Remote // nil if this server serves the version
}

func (g *group) version(name string) *version {
	for i := range g.versions {
		if g.versions[i].name == name {
			return &g.versions[i]
		}
	}
	return nil
}

// add adds a version to the group.
func (g *group) add(name string) *version {
	g.versions = append(g.versions, version{name: name})
	return &g.versions[len(g.versions)-1]
}

// empty reports whether the version has no served resources yet. Its APIService exists, but none of its definitions is Established.
func (v *version) empty() bool { return len(v.defs) == 0 && v.remote == nil }

// groupVersion returns the apiVersion of a version, such as "v1" or "apps/v1".
func (g *group) groupVersion(version string) string {
	return schema.GVK{Group: g.name, Version: version}.GV()
}

// load computes the groups from the Table, unless they are already computed.
func (d *Documents) load() {
	if d.groups != nil {
		return
	}
	d.groups = []group{}
	for _, def := range d.o.Table.All() {
		g := d.group(def.Group)
		g.custom = g.custom && def.Custom
		v := g.version(def.Version)
		if v == nil {
			v = g.add(def.Version)
		}
		if !def.Unestablished {
			v.defs = append(v.defs, def)
		}
	}
	remotes := d.remotes()
	d.addRemotes(remotes)
	d.sortGroups(len(remotes) > 0)
	if len(d.groups) > 0 && d.groups[0].name == "" {
		d.core, d.groups = &d.groups[0], d.groups[1:]
	}
}

// sortGroups sorts groups, versions and resources for discovery. Built-in groups come first, in the order of the schema data, which
// is that of their APIServices' priorities; groups of custom resources follow, sorted by name. If there are groups of aggregated
// API servers, whose priorities are arbitrary, all groups are sorted by priority. Resources are sorted by name.
func (d *Documents) sortGroups(byPriority bool) {
	priorities := map[string]int64{}
	if byPriority {
		priorities = d.o.Host.Priorities()
	}
	known := map[string]int{"": -1}
	versions := map[string][]string{}
	for i, g := range d.o.Schema.Groups() {
		known[g.Name], versions[g.Name] = i, g.Versions
	}
	for i := range d.groups {
		g := &d.groups[i]
		place, ok := known[g.name]
		switch priority := priorities[g.name]; {
		case ok && (place <= 0 || priority == 0): // the core group and the aggregator's own group are always first
			g.rank = place
		case priority > 0:
			g.rank = groupRankMax - int(priority)
		default:
			g.rank = groupRankMax
		}
	}
	slices.SortStableFunc(d.groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.name, b.name))
	})
	for i := range d.groups {
		g := &d.groups[i]
		slices.SortStableFunc(g.versions, func(a, b version) int {
			return cmp.Or(cmp.Compare(b.priority(), a.priority()), compareVersions(a.name, b.name, versions[g.name]))
		})
		for j := range g.versions {
			slices.SortStableFunc(g.versions[j].defs, func(a, b *resource.Definition) int {
				return strings.Compare(a.Resource, b.Resource)
			})
		}
	}
}

// Preferred returns the resources that this server serves, each in one version of its group: in the preferred version, or else in
// the first version that has the resource (client-go's ServerPreferredResources).
func (d *Documents) Preferred() (all []*resource.Definition) {
	d.load()
	groups := d.groups
	if d.core != nil {
		groups = append([]group{*d.core}, groups...)
	}
	for _, g := range groups {
		seen := map[string]bool{}
		for _, v := range g.versions {
			for _, def := range v.defs {
				if !seen[def.Resource] {
					seen[def.Resource] = true
					all = append(all, def)
				}
			}
		}
	}
	return all
}

// find returns the group with the given name, or nil.
func (d *Documents) find(name string) *group {
	i := slices.IndexFunc(d.groups, func(g group) bool { return g.name == name })
	if i < 0 {
		return nil
	}
	return &d.groups[i]
}

// group returns the group with the given name, and creates it if necessary.
func (d *Documents) group(name string) *group {
	if g := d.find(name); g != nil {
		return g
	}
	d.groups = append(d.groups, group{name: name, custom: true})
	return &d.groups[len(d.groups)-1]
}

// legacyCore serves /api and /api/VERSION. The real server's router serves these paths, so only GET is allowed, and errors are
// Statuses.
func (d *Documents) legacyCore(r *Request, rest []string) *Answer {
	d.load()
	if d.core == nil || len(rest) == 1 && d.core.version(rest[0]) == nil {
		return failed(status.NoResource())
	}
	if r.Method != wire.MethodGet {
		return failed(status.NoMethod())
	}
	if len(rest) == 1 {
		return d.resources(r, d.core, d.core.version(rest[0]), codec.Options{CBOR: d.o.CBOR, Schema: d.o.Schema})
	}
	f, s := negotiate(r, codec.Options{Discovery: true})
	switch {
	case s != nil:
		return failed(s)
	case f.As != "":
		return d.aggregated(r, f, "/api", []group{*d.core})
	}
	return d.document(f, "/api", schema.GVK{Version: "v1", Kind: "APIVersions"}, d.apiVersions)
}

// named serves /apis, /apis/GROUP and /apis/GROUP/VERSION. The aggregator serves the first two, with any method. There are two
// exceptions, which the router for API groups serves: the aggregator's own group, and a group that is followed by more than one
// slash.
func (d *Documents) named(r *Request, rest []string) *Answer {
	d.load()
	slashes := len(r.Path) - len(strings.TrimRight(r.Path, "/"))
	if len(rest) == 0 && slashes > 1 {
		return notFound()
	}
	if len(rest) == 0 {
		return d.allGroups(r)
	}
	g := d.find(rest[0])
	switch {
	case g == nil:
		return notFound()
	case len(rest) == 1:
		routed := !g.custom && slashes > 1 || g.name == "apiregistration.k8s.io"
		if routed && r.Method != wire.MethodGet {
			return failed(status.NoMethod())
		}
		return d.oneGroup(r, g, codec.Options{Unrouted: !routed})
	}
	v := g.version(rest[1])
	if v != nil && v.remote != nil && v.remote.Nobody {
		v = nil
	}
	switch {
	case v == nil && g.custom, v != nil && v.empty():
		return notFound()
	case v == nil:
		return failed(status.NoResource())
	case !g.custom && r.Method != wire.MethodGet:
		return failed(status.NoMethod())
	}
	return d.resources(r, g, v, codec.Options{Unrouted: g.custom, CBOR: d.o.CBOR, Schema: d.o.Schema})
}

func (d *Documents) allGroups(r *Request) *Answer {
	f, s := negotiate(r, codec.Options{Unrouted: true, Discovery: true})
	switch {
	case s != nil:
		return failed(s)
	case f.As != "" && len(d.o.Host.Peers()) > 0 && f.Profile != "nopeer":
		return d.merged(r, f)
	case f.As != "":
		return d.aggregated(r, f, "/apis", d.groups)
	}
	return d.document(f, "/apis", schema.GVK{Version: "v1", Kind: "APIGroupList"}, func() object.Object {
		groups := slices.Clone(d.groups)
		slices.SortStableFunc(groups, func(a, b group) int {
			if !a.custom || !b.custom || a.rank != b.rank {
				return cmp.Compare(a.rank, b.rank)
			}
			return strings.Compare(a.firstService(), b.firstService())
		})
		list := make([]any, len(groups))
		for i := range groups {
			list[i] = groups[i].object()
		}
		return object.Object{"kind": "APIGroupList", "apiVersion": "v1", "groups": list}
	})
}

func (d *Documents) oneGroup(r *Request, g *group, o codec.Options) *Answer {
	f, s := negotiate(r, o)
	if s != nil {
		return failed(s)
	}
	return d.document(f, "/apis/"+g.name, schema.GVK{Version: "v1", Kind: "APIGroup"}, func() object.Object {
		o := object.Object(g.object())
		o["kind"], o["apiVersion"] = "APIGroup", "v1"
		return o
	})
}

// firstService returns the alphabetically first name of an APIService of the group, in the form VERSION.GROUP. The aggregator sorts
// groups of equal priority by these names.
func (g *group) firstService() string {
	first := ""
	for _, v := range g.versions {
		if name := v.name + "." + g.name; first == "" || name < first {
			first = name
		}
	}
	return first
}

// object returns the group as an item of an APIGroupList.
func (g *group) object() map[string]any {
	versions := make([]any, len(g.versions))
	for i, v := range g.versions {
		versions[i] = map[string]any{"groupVersion": g.groupVersion(v.name), "version": v.name}
	}
	return map[string]any{"name": g.name, "versions": versions, "preferredVersion": versions[0]}
}

// apiVersions returns the document of /api. Like the real server's, it has no apiVersion field.
func (d *Documents) apiVersions() object.Object {
	versions := make([]any, len(d.core.versions))
	for i, v := range d.core.versions {
		versions[i] = v.name
	}
	return object.Object{"kind": "APIVersions", "versions": versions, "serverAddressByClientCIDRs": []any{
		map[string]any{"clientCIDR": "0.0.0.0/0", "serverAddress": d.o.Address},
	}}
}

// compareVersions compares two versions of a group for sorting, preferred version first. The versions in known come first, in its
// order. All others are sorted by the rule for custom resources.
func compareVersions(a, b string, known []string) int {
	i, j := slices.Index(known, a), slices.Index(known, b)
	switch {
	case i >= 0 && j >= 0:
		return cmp.Compare(i, j)
	case i >= 0:
		return -1
	case j >= 0:
		return 1
	}
	return schema.CompareVersions(b, a)
}
