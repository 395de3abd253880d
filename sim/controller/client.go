package controller

import (
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/selector"
)

// Server is the API server that controllers are clients of.
type Server interface {
	// Registry carries out requests of controllers that run in the API server.
	Registry() *registry.Registry
	// Admitted carries out requests of all others, which admission plugins change or refuse.
	Admitted() *registry.Registry
	// Definition returns the hub definition of the resource with a storage name, or nil if there is none.
	Definition(storage string) *resource.Definition
	// Served returns the definition of a group that stores its objects under a name, or nil.
	Served(group, storage string) *resource.Definition
	// Resources returns the served resources, in the versions and the order that discovery prefers.
	Resources() []*resource.Definition
	// OfKind returns the definition that serves a kind, or nil.
	OfKind(kind schema.GVK) *resource.Definition
	// Minor is its version, such as 1.36.
	Minor() string
}

// Client is all that a controller knows of its cluster. Resources are named by where they are stored (pods,
// deployments.apps), and objects are of the version that is stored.
//
// Get, Item, Field, List, Each and Items read the controller's cache, which may lag behind: a Client is a resource.Reader. All
// others ask the API server.
type Client struct {
	loop    *loop
	manager *Manager
	as      string // the field manager; if empty, the controller's
}

// As returns the client with another field manager, for server-side apply.
func (c *Client) As(fieldManager string) *Client { return &Client{c.loop, c.manager, fieldManager} }

// Now is the cluster's time.
func (c *Client) Now() time.Time { return c.manager.schedule.Now() }

// Minor is the version of the API server, such as 1.36.
func (c *Client) Minor() string { return c.manager.server.Minor() }

// Resources returns the resources that the API server serves, in the versions and the order that discovery prefers.
func (c *Client) Resources() []*resource.Definition { return c.manager.server.Resources() }

// Since reports whether the API server is of a minor or a later one: 36 is Kubernetes 1.36.
func (c *Client) Since(minor int) bool { return c.Profile().Since(minor) }

// Profile returns the minor and the feature gates of the API server.
func (c *Client) Profile() resource.Server { return c.registry().Server }

// registry carries out the controller's requests.
func (c *Client) registry() *registry.Registry {
	if c.loop.InServer {
		return c.manager.server.Registry()
	}
	return c.manager.server.Admitted()
}

// Definition returns the API server's definition of a resource, or nil.
func (c *Client) Definition(of string) *resource.Definition { return c.manager.server.Definition(of) }

// Random returns a number in [0, n) that only draws of the controller itself decide.
func (c *Client) Random(n int) int { return c.manager.random.Draw(c.loop.Name, n) }

// Get returns a copy of an object, or nil.
func (c *Client) Get(of, namespace, name string) object.Object {
	if it := c.Item(of, namespace, name); it != nil {
		return it.Object()
	}
	return nil
}

// GetShared is Get without the copy: the object is shared and must not be changed.
func (c *Client) GetShared(of, namespace, name string) object.Object {
	return shared(c.Item(of, namespace, name))
}

func shared(it *resource.Item) object.Object {
	if it == nil {
		return nil
	}
	return it.Shared()
}

// Item returns an object as it is stored, or nil.
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

// CreatedAt returns the revision that created an object, or 0 if there is none.
func (c *Client) CreatedAt(of, namespace, name string) uint64 {
	if d := c.manager.server.Definition(of); d != nil {
		if kv := c.view(of).Get(d.Key(namespace, name)); kv != nil {
			return kv.CreateRev
		}
	}
	return 0
}

// List returns copies of the objects of a namespace, or of all if it is "", whose labels a selector matches.
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

// Field returns the value that a field selector compares, and whether the object exists.
func (c *Client) Field(of, namespace, name, label string) (value string, exists bool) {
	if it := c.Item(of, namespace, name); it != nil {
		return it.Field(label), true
	}
	return "", false
}

// All returns copies of the objects, in key order.
func (c *Client) All(of, namespace string) (all []object.Object) {
	c.Items(of, namespace, func(it *resource.Item) bool {
		all = append(all, it.Object())
		return true
	})
	return all
}

// Items calls yield with each object as it is stored, in key order, until it returns false.
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

// Owned returns the objects that name an owner by its uid, in the order in which they were created. They are not to be
// changed.
func (c *Client) Owned(uid string) []Ref {
	m := c.manager
	newest := m.owned.of(uid, m.log.Newest(), m.server.Resources())
	if m.reconciling.now != nil {
		for _, r := range newest {
			c.view(r.Resource) // which is to be seen
		}
	}
	if len(c.loop.cache.lagging) == 0 {
		return newest
	}
	return c.loop.cache.owned(uid, newest, m.server)
}

// Unowned returns the objects of a namespace that name no owner, in the order in which they were created. They are not to be
// changed.
func (c *Client) Unowned(of, namespace string) []Ref { return c.Owned(of + "/" + namespace) }

// OfKind returns the definition of a kind, or nil.
func (c *Client) OfKind(apiVersion, kind string) *resource.Definition {
	return c.manager.server.OfKind(schema.ParseGVK(apiVersion, kind))
}

// Enqueue queues a key of the controller itself.
func (c *Client) Enqueue(key Key) { c.EnqueueAfter(key, 0) }

// EnqueueAfter queues a key of the controller itself after a time.
func (c *Client) EnqueueAfter(key Key, wait time.Duration) { c.manager.add(c.loop, key, wait) }

// Live returns an object as the API server has it, or nil.
func (c *Client) Live(of, namespace, name string) object.Object {
	return c.registry().Reader().Get(of, namespace, name)
}

// LiveShared is Live without the copy: the object is shared and must not be changed.
func (c *Client) LiveShared(of, namespace, name string) object.Object {
	return shared(c.registry().Reader().Item(of, namespace, name))
}

// LiveItems calls yield with each object of a resource as the API server has it, in key order, until it returns false.
func (c *Client) LiveItems(of, namespace string, yield func(*resource.Item) bool) {
	c.registry().Reader().Items(of, namespace, yield)
}
