package replica

import (
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// withDefinitions returns a copy of defs in which CustomResourceDefinition has the strategy and the defaults of package crd.
func withDefinitions(set *schema.Set, defs []*resource.Definition) []*resource.Definition {
	meta := reader(set)
	out := make([]*resource.Definition, len(defs))
	for i, d := range defs {
		if d.Storage == crd.Storage {
			own := *d
			own.Hub, own.Strategy, own.Default = &own, crd.Strategy(meta.ReadMeta), crd.Defaults
			d = &own
		}
		out[i] = d
	}
	return out
}

// reader returns a decoder for the metadata of any kind.
func reader(set *schema.Set) *codec.Decoder { return &codec.Decoder{Meta: set.Named(crd.ObjectMeta)} }

// applyDefinition applies a commit that concerns a CustomResourceDefinition.
func (r *Server) applyDefinition(e *mvcc.Event) {
	if e.KV == nil {
		name := resource.ItemOf(r.profile.hubs[crd.Storage], e.Prev).Name
		r.serveInstead(name, crd.Change{Old: r.custom.Remove(name), Restarted: true})
		return
	}
	item := resource.ItemOf(r.profile.hubs[crd.Storage], e.KV)
	change := r.custom.Define(item)
	change.Restarted = change.Restarted || len(change.Old) == 0 // a newly served resource has no watches yet
	r.serveInstead(item.Name, change)
}

// serveInstead replaces the old resources of a definition with the new ones, and restarts their cache if necessary.
func (r *Server) serveInstead(name string, change crd.Change) {
	if len(change.Old)+len(change.New) == 0 {
		return
	}
	table := r.api.Table
	for _, d := range change.Old {
		table.Remove(d)
	}
	for _, d := range change.New {
		if !r.profile.serves(d.Group) {
			table.Add(d)
		}
	}
	if builtIn := r.profile.hubs[name] != nil; change.Restarted && !builtIn {
		r.cache(name).Refill()
	}
	r.api.Discovery.Changed()
}

// redefine reloads all CustomResourceDefinitions.
func (r *Server) redefine() {
	for _, d := range r.custom.Reset() {
		r.api.Table.Remove(d)
	}
	d := r.profile.hubs[crd.Storage]
	r.position.View.Range(d.Key("", ""), "", func(kv *mvcc.KV) bool {
		item := resource.ItemOf(d, kv)
		r.serveInstead(item.Name, r.custom.Define(item))
		return true
	})
	r.api.Discovery.Changed()
}
