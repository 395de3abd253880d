package controller

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/selector"
)

// Server is the API server that the controllers use.
type Server interface {
	// Registry handles the requests of controllers that run in the API server.
	Registry() *registry.Registry
	// Admitted handles the requests of all other controllers. Admission plugins can modify or reject them.
	Admitted() *registry.Registry
	// Definition returns the hub definition of the resource with the given storage name, or nil if there is none.
	Definition(storage string) *resource.Definition
	// Served returns the definition in a group whose objects are stored under the given storage name, or nil.
	Served(group, storage string) *resource.Definition
	// Resources returns the served resources in their preferred versions, in the order of discovery.
	Resources() []*resource.Definition
	// OfKind returns the definition that serves a kind, or nil.
	OfKind(kind schema.GVK) *resource.Definition
	// Minor returns the server's version, such as 1.36.
	Minor() string
}

// Client is a controller's interface to its cluster. Resources are identified by their storage names (pods, deployments.apps),
// and objects have the storage version.
//
// Get, Item, Field, List, All, Items and Owned read the controller's cache, which may lag: a Client is a resource.Reader. Methods
// with the prefix Live, and all that write, send requests to the API server.
type Client struct {
	loop    *loop
	manager *Manager
	as      string // the field manager, or "" for the controller's
}

// As returns a copy of the client with another field manager, for server-side apply.
func (c *Client) As(fieldManager string) *Client { return &Client{c.loop, c.manager, fieldManager} }

// Now returns the cluster's time.
func (c *Client) Now() time.Time { return c.manager.schedule.Now() }

// Minor returns the version of the API server, such as 1.36.
func (c *Client) Minor() string { return c.manager.server.Minor() }

// Resources returns the resources that the API server serves in their preferred versions, in the order of discovery.
func (c *Client) Resources() []*resource.Definition { return c.manager.server.Resources() }

// Since reports whether the API server has at least the given minor version. For Kubernetes 1.36 it is 36.
func (c *Client) Since(minor int) bool { return c.Profile().Since(minor) }

// Profile returns the minor version and the feature gates of the API server.
func (c *Client) Profile() resource.Server { return c.registry().Server }

// registry returns the registry that handles the controller's requests.
func (c *Client) registry() *registry.Registry {
	if c.loop.InServer {
		return c.manager.server.Registry()
	}
	return c.manager.server.Admitted()
}

// Definition returns the API server's definition of a resource, or nil.
func (c *Client) Definition(of string) *resource.Definition { return c.manager.server.Definition(of) }

// Random returns a number in [0, n). It depends only on the controller's own earlier draws.
func (c *Client) Random(n int) int { return c.manager.random.Draw(c.loop.Name, n) }

// Get returns a copy of an object, or nil.
func (c *Client) Get(of, namespace, name string) object.Object {
	if it := c.Item(of, namespace, name); it != nil {
		return it.Object()
	}
	return nil
}

// GetShared is like Get, but does not copy the object, which is shared and must not be modified.
func (c *Client) GetShared(of, namespace, name string) object.Object {
	return shared(c.Item(of, namespace, name))
}

func shared(it *resource.Item) object.Object {
	if it == nil {
		return nil
	}
	return it.Shared()
}

// Item returns an object in its stored form, or nil.
func (c *Client) Item(of, namespace, name string) *resource.Item {
	d := c.manager.server.Definition(of)
	if d == nil {
		return nil
	}
	if kv := c.view(of).Get(d.Key(namespace, name)); kv != nil {
		return resource.ItemOf(d, kv)
	}
	return nil
}

// CreatedAt returns the revision that created an object, or 0 if the object does not exist.
func (c *Client) CreatedAt(of, namespace, name string) uint64 {
	if d := c.manager.server.Definition(of); d != nil {
		if kv := c.view(of).Get(d.Key(namespace, name)); kv != nil {
			return kv.CreateRev
		}
	}
	return 0
}

// List returns copies of the objects in a namespace that match a label selector. If namespace is "", it searches all namespaces.
func (c *Client) List(of, namespace string, labels selector.Labels) []object.Object {
	var all []object.Object
	c.Items(of, namespace, func(it *resource.Item) bool {
		if labels.Match(it.Label) {
			all = append(all, it.Object())
		}
		return true
	})
	return all
}

// Field returns the value of a field that field selectors support, and reports whether the object exists. It is cheap, because it
// does not decode the object.
func (c *Client) Field(of, namespace, name, label string) (value string, exists bool) {
	if it := c.Item(of, namespace, name); it != nil {
		return it.Field(label), true
	}
	return "", false
}

// All returns copies of the objects in a namespace, sorted by key.
func (c *Client) All(of, namespace string) (all []object.Object) {
	c.Items(of, namespace, func(it *resource.Item) bool {
		all = append(all, it.Object())
		return true
	})
	return all
}

// Items calls yield with each stored object in key order until yield returns false.
func (c *Client) Items(of, namespace string, yield func(*resource.Item) bool) {
	d := c.manager.server.Definition(of)
	if d == nil {
		return
	}
	c.view(of).Range(d.Key(namespace, ""), "", func(kv *mvcc.KV) bool { return yield(resource.ItemOf(d, kv)) })
}

func (c *Client) view(of string) *mvcc.View {
	v := c.loop.cache.of(of, c.manager.log.Newest())
	c.manager.recordRead(c.loop, of, v)
	return v
}

// Owned returns the objects that have an owner reference with the given UID, in order of creation. The result must not be modified.
func (c *Client) Owned(uid string) []Ref {
	m := c.manager
	newest := m.owned.of(uid, m.log.Newest(), m.server)
	if m.reconciling.now != nil {
		for _, r := range newest {
			c.view(r.Resource) // record the read
		}
	}
	if len(c.loop.cache.lagging) == 0 {
		return newest
	}
	return c.loop.cache.owned(uid, newest, m.server)
}

// Orphans returns the objects of a resource in a namespace that have no controller, in order of creation. It does not find Events
// without owner references. The result must not be modified.
func (c *Client) Orphans(of, namespace string) []Ref { return c.Owned(of + "/" + namespace) }

// Indexed returns the objects of a resource whose indexed field (resource.Strategy.Index) has the given value, such as the pods
// of a node, in key order. The result must not be modified.
func (c *Client) Indexed(of, value string) (items []*resource.Item) {
	c.view(of) // records that the controller reads the resource
	for _, r := range c.Owned(indexKey(of, value)) {
		if it := c.Item(of, r.Namespace, r.Name); it != nil {
			items = append(items, it)
		}
	}
	if d := c.manager.server.Definition(of); d != nil {
		slices.SortFunc(items, func(a, b *resource.Item) int { return cmp.Compare(d.KeyOf(a), d.KeyOf(b)) })
	}
	return items
}

// OfKind returns the definition of a kind, or nil.
func (c *Client) OfKind(apiVersion, kind string) *resource.Definition {
	return c.manager.server.OfKind(schema.ParseGVK(apiVersion, kind))
}

// Enqueue queues a key for the controller.
func (c *Client) Enqueue(key Key) { c.EnqueueAfter(key, 0) }

// EnqueueAfter queues a key for the controller after a delay.
func (c *Client) EnqueueAfter(key Key, wait time.Duration) { c.manager.add(c.loop, key, wait) }

// Live reads an object from the API server and returns a copy. It returns nil if the object does not exist.
func (c *Client) Live(of, namespace, name string) object.Object {
	return c.registry().Reader().Get(of, namespace, name)
}

// Revision returns the current revision of the store, as a list of the API server does.
func (c *Client) Revision() uint64 { return c.registry().Backend.Store().Rev() }

// LiveShared is like Live, but does not copy the object, which is shared and must not be modified.
func (c *Client) LiveShared(of, namespace, name string) object.Object {
	return shared(c.registry().Reader().Item(of, namespace, name))
}

// LiveItems reads the objects of a resource from the API server. It calls yield with each, in key order, until yield returns
// false.
func (c *Client) LiveItems(of, namespace string, yield func(*resource.Item) bool) {
	c.registry().Reader().Items(of, namespace, yield)
}
