package builtin

import (
	"sync"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// define returns the definitions of all resources that a server serves by default, in the order of discovery. It completes
// the kinds of the resources, which are not to be used again; a resource without one has no rules of its own.
func define(set *schema.Set, server resource.Server, kinds []kind) []*resource.Definition {
	known := map[string]*kind{}
	for i := range kinds {
		k := &kinds[i]
		k.obey(server.Gates)
		known[k.storage] = k
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
	}
	return defs
}

// defineOne makes one definition; its Hub is set later.
func defineOne(set *schema.Set, r schema.Resource, known map[string]*kind) *resource.Definition {
	d := &resource.Definition{
		GVK: r.GVK, Resource: r.Resource, Singular: r.Singular, ShortNames: r.ShortNames, Categories: r.Categories,
		Namespaced: r.Namespaced, Verbs: r.Verbs, Storage: storageName(r),
	}
	d.Type = func() *schema.Type { return set.Kind(d.GVK) }
	d.Raw = sync.OnceValue(func() *object.Places { return d.Type().Raw() })
	k := known[d.Storage]
	if k == nil {
		k = &kind{}
	}
	for _, s := range r.Subresources {
		sub := resource.Subresource{Name: s.Name, GVK: s.GVK, Verbs: s.Verbs, Stream: streams[s.Name], Connect: k.connect[s.Name]}
		sub.NoTable = s.Name == "status" && k.plainStatus || s.Name != "status" && s.Name != "scale" // others never do
		if s.Kind == "Scale" {
			sub.Row = scaleRow
			for _, c := range scaleColumns() {
				sub.Columns = append(sub.Columns, c.define(set))
			}
		}
		if sub.Connect != nil {
			sub.Body = resource.Body(s.GVK, func() *schema.Type { return set.Kind(s.GVK) }, k.bodies[s.Name])
		}
		d.Subresources = append(d.Subresources, sub)
	}
	d.Connect = k.connectSelf
	if k.changed != nil {
		k.strategy.SpecChanged = k.changed(func() *schema.Type { return set.Kind(d.Hub.GVK) })
	}
	d.Strategy = &k.strategy
	if d.Default = k.defaults[r.Version]; d.Default == nil {
		d.Default = k.defaults[""]
	}
	if d.FieldLabels = k.labels[r.GV()]; d.FieldLabels == nil {
		d.FieldLabels = k.labels[""]
	}
	d.UnknownField = k.unknown
	if c, ok := k.convert[r.GV()]; ok {
		d.ToHub, d.FromHub = c.toHub, c.fromHub
	}
	d.Row, d.RowOrder, d.Deprecated, d.KeyPrefix = k.row, k.order, k.deprecated, k.keyPrefix
	for _, c := range k.columns {
		d.Columns = append(d.Columns, c.define(set))
	}
	return d
}

// streams are the subresources that stream or proxy; they are not simulated.
var streams = map[string]bool{"attach": true, "exec": true, "log": true, "portforward": true, "proxy": true}

// storageName is the resource part of the storage key. Events of both groups are one resource.
func storageName(r schema.Resource) string {
	if r.Group == "" || r.Resource == "events" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}
