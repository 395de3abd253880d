package sim

import (
	"errors"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/http"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

var errNoTransport = errors.New("kubesim: nothing carries requests to conversion webhooks: register a conversion function, or set a transport")

// conversions are what turns custom resources from one version into another.
type conversions struct {
	functions map[string]crd.Converter // by name of the definition
	transport http.RoundTripper        // to webhooks
	memory    crd.Memory               // of what webhooks have answered

	// unlocks says that a request is being served and nothing depends on the lock: a webhook is asked without it.
	unlocks bool
}

// Convert registers what converts the objects of the CustomResourceDefinition with the name, whatever its
// spec.conversion says; nil takes it back. f may change and return its argument. It is called with the Cluster's lock
// held, so it must not ask the Cluster; a webhook (ConvertThrough) may.
func (c *Cluster) Convert(definition string, f func(obj map[string]any, apiVersion string) (map[string]any, error)) {
	c.door.Lock()
	defer c.door.Unlock()
	if c.conversions.functions == nil {
		c.conversions.functions = map[string]crd.Converter{}
	}
	delete(c.conversions.functions, definition)
	if f != nil {
		c.conversions.functions[definition] = func(obj object.Object, apiVersion string) (object.Object, error) {
			return f(obj, apiVersion)
		}
	}
	c.reread()
}

// reread makes every replica read stored custom resources anew: they may be converted in another way.
func (c *Cluster) reread() {
	c.conversions.memory.Forget()
	for _, r := range c.replicas {
		r.redefine()
	}
}

// ConvertThrough sets what carries requests to conversion webhooks. It is called without the Cluster's lock: a webhook
// may ask the Cluster, and a slow one holds up only the request that needs it. There are exceptions, in which a webhook
// is asked under the lock after all: an exact read of the past, and the end of a definition whose objects are stored in
// an older version. It is asked when an object is written, for the watch caches, from which lists and watches are served,
// and by each get, as a real server asks it.
func (c *Cluster) ConvertThrough(transport http.RoundTripper) {
	c.door.Lock()
	defer c.door.Unlock()
	c.conversions.transport = transport
	c.reread()
}

// RoundTrip carries a request to a conversion webhook.
func (c *conversions) RoundTrip(q *http.Request) (*http.Response, error) {
	if c.transport == nil {
		return nil, errNoTransport
	}
	return c.transport.RoundTrip(q)
}

// compileRules is crd's Compiler.
func compileRules(schema, before map[string]any, p field.Path, wrong map[string]bool) (crd.Rules, field.ErrorList) {
	rules, errs := cel.CompileVersion(schema, before, p, wrong)
	if rules == nil {
		return nil, errs
	}
	return rules, errs
}

// withDefinitions returns defs with what is special about CustomResourceDefinitions.
func withDefinitions(set *schema.Set, defs []*resource.Definition) []*resource.Definition {
	reader := &codec.Decoder{Meta: set.Named(crd.ObjectMeta)}
	out := make([]*resource.Definition, len(defs))
	for i, d := range defs {
		if d.Storage == crd.Storage {
			own := *d
			own.Hub, own.Strategy, own.Default = &own, crd.Strategy(compileRules, reader.ReadMeta), crd.Defaults
			d = &own
		}
		out[i] = d
	}
	return out
}

// serveCustom makes a replica serve custom resources.
func (r *Replica) serveCustom(set *schema.Set) {
	decoder := r.server.Decoder
	r.custom = &crd.Server{Schema: set, Meta: decoder.ReadMeta, Compile: compileRules,
		NewUID:    r.server.Registry.NewAuditID,
		Converter: func(name string) crd.Converter { return r.cluster.conversions.functions[name] },
		Transport: &r.cluster.conversions,
		Memory:    &r.cluster.conversions.memory,
		Unlocks:   func() bool { return r.cluster.conversions.unlocks },
		Outside:   r.cluster.door.Outside,
		After:     r.cluster.schedule.After,
		Wait:      r.cluster.door.Wait,
	}
	r.server.Serving = r.serving
	decoder.Meta = set.Named(crd.ObjectMeta)
	decoder.Unstructured = r.custom.Known
	decoder.Prune = r.custom.Prune
}

// serving lets a request for a custom resource ask conversion webhooks without the lock. What a list or a watch can come
// upon is converted before it begins: the first state of a watch and its events have to be of one piece.
func (r *Replica) serving(d *resource.Definition, verb, namespace, name string, cached bool, serve func()) {
	c := r.cluster
	if !r.custom.Asks(d.Storage) {
		serve()
		return
	}
	defer func(was bool) { c.conversions.unlocks = was }(c.conversions.unlocks)
	c.conversions.unlocks = true
	switch verb {
	case "get":
		if kv := r.position.View.Get(d.Key(namespace, name)); cached && kv != nil {
			resource.ItemOf(d.Hub, kv) // which a get that waits finds under the lock
		}
	case "list", "watch":
		r.position.View.Range(d.Key(namespace, ""), "", func(kv *mvcc.KV) bool {
			resource.ItemOf(d.Hub, kv)
			return true
		})
		c.conversions.unlocks = false
	}
	serve()
}

// published returns the schema of a custom resource for OpenAPI.
func (r *Replica) published(d *resource.Definition) object.Object { return r.custom.Published(d) }

// defined takes in a commit of a CustomResourceDefinition.
func (r *Replica) defined(e *mvcc.Event) {
	if e.KV == nil {
		name := resource.ItemOf(r.profile.hubs[crd.Storage], e.Prev).Name
		r.serveInstead(name, crd.Change{Old: r.custom.Remove(name), Restarted: true})
		return
	}
	item := resource.ItemOf(r.profile.hubs[crd.Storage], e.KV)
	r.serveInstead(item.Name, r.custom.Define(item.Object()))
}

// serveInstead puts new resources in the place of old ones.
func (r *Replica) serveInstead(name string, change crd.Change) {
	if len(change.Old)+len(change.New) == 0 {
		return
	}
	table := r.server.Table
	for _, d := range change.Old {
		table.Remove(d)
	}
	for _, d := range change.New {
		table.Add(d)
	}
	if cache := r.caches[name]; cache != nil && change.Restarted {
		cache.EndAll()
		cache.Forget()
	}
	r.server.Discovery.Changed()
}

// redefine reads all definitions anew.
func (r *Replica) redefine() {
	for _, d := range r.custom.Reset() {
		r.server.Table.Remove(d)
	}
	d := r.profile.hubs[crd.Storage]
	r.position.View.Range(d.Key("", ""), "", func(kv *mvcc.KV) bool {
		item := resource.ItemOf(d, kv)
		r.serveInstead(item.Name, r.custom.Define(item.Object()))
		return true
	})
	r.server.Discovery.Changed()
}
