package kind

import (
	"maps"
	"slices"
	"sync"

	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Define returns the definitions of all resources that a server serves by default, in the order of discovery. It completes
// the kinds of the resources, which are not to be used again; a resource without one has no rules of its own.
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
	for _, r := range set.Resources() {
		d := defineOne(set, r, known)
		defs = append(defs, d)
		served[d.GVK] = d
	}
	for i, r := range set.Resources() {
		if defs[i].Hub = served[r.Storage]; defs[i].Hub == nil {
			defs[i].Hub = defs[i] // virtual, or stored in a version that is not served
		}
		hubs[defs[i].Storage] = defs[i].Hub
	}
	return defs
}

// defineOne makes one definition; its Hub is set later.
func defineOne(set *schema.Set, r schema.Resource, known map[string]*Kind) *resource.Definition {
	d := &resource.Definition{
		GVK: r.GVK, Resource: r.Resource, Singular: r.Singular, ShortNames: r.ShortNames, Categories: r.Categories,
		Namespaced: r.Namespaced, Verbs: r.Verbs, Storage: storageName(r),
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
		sub.NoTable = s.Name == "status" && k.PlainStatus || s.Name != "status" && s.Name != "scale" // others never do
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
	d.UnknownField = k.Unknown
	if c, ok := k.Convert[r.GV()]; ok {
		d.ToHub, d.FromHub = c.ToHub, c.FromHub
	}
	d.NullRows = k.NullRows
	d.Row, d.RowOrder, d.Deprecated, d.KeyPrefix = k.Row, k.Order, k.Deprecated, k.KeyPrefix
	for _, c := range k.Columns {
		d.Columns = append(d.Columns, c.Define(set))
	}
	return d
}

// storageName is the resource part of the storage key. Events of both groups are one resource.
func storageName(r schema.Resource) string {
	if r.Group == "" || r.Resource == "events" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}
