package kind

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Define returns the definitions of the resources of a set in the order of discovery. It omits resources whose feature gate is
// disabled. It completes the kinds of these resources, so the caller must not use the kinds again. A resource without a kind has
// no specific rules.
func Define(set *schema.Set, server resource.Server, kinds []Kind) []*resource.Definition {
	known, hubs := map[string]*Kind{}, map[string]*resource.Definition{}
	for i := range kinds {
		k := &kinds[i]
		for _, minor := range slices.Sorted(maps.Keys(k.Since)) {
			if server.Since(minor) {
				k.Since[minor](k)
			}
		}
		k.obey(server.Gates, func() *schema.Type { return hubs[k.Storage].Type() })
		k.complete()
		known[k.Storage] = k
	}
	var defs []*resource.Definition
	served := map[schema.GVK]*resource.Definition{}
	var storage []schema.GVK
	for _, r := range set.Resources() {
		if k := known[storageName(r)]; k != nil && k.Gate != "" && !server.Gates[k.Gate] {
			continue
		}
		d := defineOne(set, r, known)
		defs, storage = append(defs, d), append(storage, r.Storage)
		served[d.GVK] = d
		if h := hubs[d.Storage]; h == nil || h.GVK.Group == d.Group && schema.CompareVersions(d.Version, h.Version) > 0 {
			hubs[d.Storage] = d
		}
	}
	for i, d := range defs {
		switch stored := served[storage[i]]; {
		case storage[i].Kind == "": // virtual
			d.Hub = d
		case stored != nil && !stored.Off:
			d.Hub = stored
		default: // stored in a version that is not served by default
			d.Hub = hubs[d.Storage]
		}
	}
	return defs
}

// defineOne creates one definition. Define sets its Hub later.
func defineOne(set *schema.Set, r schema.Resource, known map[string]*Kind) *resource.Definition {
	d := &resource.Definition{
		GVK: r.GVK, Resource: r.Resource, Singular: r.Singular, ShortNames: r.ShortNames, Categories: r.Categories,
		Namespaced: r.Namespaced, Verbs: r.Verbs, Storage: storageName(r), Off: r.Off,
	}
	d.Type = func() *schema.Type { return set.Kind(d.GVK) }
	d.Read = codec.Read
	d.Print = func(obj object.Object) []byte { return codec.Append(nil, obj, d.Layout()) }
	d.Raw = sync.OnceValue(func() *object.Places { return d.Type().Raw() })
	k := known[d.Storage]
	if k == nil {
		k = &Kind{}
	}
	for _, s := range r.Subresources {
		sub := resource.Subresource{Name: s.Name, GVK: s.GVK, Verbs: s.Verbs, Stream: k.Streams[s.Name], Connect: k.Connect[s.Name]}
		sub.NoTable = s.Name == "status" && k.PlainStatus || s.Name != "status" && s.Name != "scale" // other subresources are never printed as a Table
		if s.Kind == "Scale" {
			sub.Row = table.RowOf(table.ScaleColumns())
			for _, c := range table.ScaleColumns() {
				sub.Columns = append(sub.Columns, c.Define(set))
			}
		}
		if sub.Connect != nil || sub.Stream != nil && sub.Stream.Connects {
			sub.Body = resource.Body(s.GVK, func() *schema.Type { return set.Kind(s.GVK) }, k.Bodies[s.Name])
		}
		d.Subresources = append(d.Subresources, sub)
	}
	d.Connect = k.ConnectSelf
	if k.Changed != nil {
		k.Strategy.SpecChanged = k.Changed(func() *schema.Type { return set.Kind(d.Hub.GVK) })
	}
	d.Strategy = &k.Strategy
	if d.Default = k.Defaults[r.Version]; d.Default == nil {
		d.Default = k.Defaults[""]
	}
	if d.FieldLabels = k.Labels[r.GV()]; d.FieldLabels == nil {
		d.FieldLabels = k.Labels[""]
	}
	if k.Unknown != nil {
		d.UnknownField = func(label string) string { return k.Unknown(d.GVK, label) }
	}
	if c, ok := k.Convert[r.GV()]; ok {
		d.ToHub, d.FromHub = c.ToHub, c.FromHub
	}
	d.NullRows = k.NullRows
	d.Row, d.RowOrder, d.Deprecated, d.KeyPrefix = k.Row, k.Order, cmp.Or(r.Deprecated, k.Deprecated), k.KeyPrefix
	for _, c := range k.Columns {
		d.Columns = append(d.Columns, c.Define(set))
	}
	return d
}

// storageName returns the resource part of the storage key. The Events of both groups share one key.
func storageName(r schema.Resource) string {
	if r.Group == "" || r.Resource == "events" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}
