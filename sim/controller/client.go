package controller

import (
	"cmp"
	"errors"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

// Server is the API server that controllers are clients of.
type Server interface {
	// Registry carries out requests of those that run in the API server.
	Registry() *registry.Registry
	// Admitted carries out requests of all others, which admission plugins change or refuse.
	Admitted() *registry.Registry
	// Definition returns the hub definition of what is stored under a name, or nil.
	Definition(storage string) *resource.Definition
	// Served returns the definition of a group that stores its objects under a name, or nil.
	Served(group, storage string) *resource.Definition
	// Resources returns what is served, in the versions and the order that discovery prefers.
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
	as      string // the field manager; "": that of the controller
}

// As returns the client under another field manager, for what a controller applies.
func (c *Client) As(fieldManager string) *Client { return &Client{c.loop, c.manager, fieldManager} }

// Now is the cluster's time.
func (c *Client) Now() time.Time { return c.manager.schedule.Now() }

// Minor is the version of the API server, such as 1.36.
func (c *Client) Minor() string { return c.manager.server.Minor() }

// Resources returns what the API server serves, in the versions and the order that discovery prefers.
func (c *Client) Resources() []*resource.Definition { return c.manager.server.Resources() }

// Since reports whether the API server is of a minor or a later one: 36 is Kubernetes 1.36.
func (c *Client) Since(minor int) bool { return c.Profile().Since(minor) }

// Profile is what the API server is like: its minor and feature gates.
func (c *Client) Profile() resource.Server { return c.registry().Server }

// registry carries out the controller's requests.
func (c *Client) registry() *registry.Registry {
	if c.loop.InServer {
		return c.manager.server.Registry()
	}
	return c.manager.server.Admitted()
}

// Definition returns what the API server says of a resource, or nil.
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

// Look is Get for those who change nothing in the object, which everybody shares.
func (c *Client) Look(of, namespace, name string) object.Object {
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
	c.manager.reads(c.loop, of, v)
	return v
}

// Owned returns the objects that name an owner by its uid, in the order in which they were created. They are not to be
// changed.
func (c *Client) Owned(uid string) []Ref {
	m := c.manager
	newest := m.owned.of(uid, m.log.Newest(), m.server.Resources())
	if m.witness.now != nil {
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

// LookLive is Live for those who change nothing in the object, which everybody shares.
func (c *Client) LookLive(of, namespace, name string) object.Object {
	return shared(c.registry().Reader().Item(of, namespace, name))
}

// Create stores a new object, which is used up, in its namespace. It returns what was stored, nil with a Status.
func (c *Client) Create(of string, obj object.Object) (*resource.Item, *status.Status) {
	q, s := c.request(of, obj.Namespace(), obj.Name())
	if s != nil {
		return nil, s
	}
	q.Verb = "create"
	defer c.writes()()
	result, s := c.registry().Create(q, sent(q.Definition, obj))
	if s == nil {
		s = result.Status
	}
	if s != nil {
		return nil, s
	}
	c.loop.wrote(of, result.Item.Rev)
	return result.Item, nil
}

// Update replaces an object, or a subresource of it ("": the object itself). One that somebody else has written since it
// was read is refused, unless it has no resourceVersion.
func (c *Client) Update(of, subresource string, obj object.Object) (object.Object, *status.Status) {
	return stored(c.change(of, subresource, obj.Namespace(), obj.Name(), "update", registry.Put,
		func(q *registry.Request, _ object.Object) (object.Object, *status.Status) {
			return sent(q.Definition, obj), nil
		}))
}

// sent returns an object as the API server reads it from a body: with the defaults of its version.
func sent(d *resource.Definition, obj object.Object) object.Object {
	if d.Default != nil {
		d.Default(obj)
	}
	return obj
}

// Patch changes an object as it is stored now, whoever has written it.
func (c *Client) Patch(of, subresource string, key Key, change func(live object.Object)) *status.Status {
	_, s := c.change(of, subresource, key.Namespace, key.Name, "patch", registry.Patch,
		func(_ *registry.Request, live object.Object) (object.Object, *status.Status) {
			change(live)
			return live, nil
		})
	return s
}

// Connect creates a subresource of an object whose body is not the object itself: binding, eviction, token.
func (c *Client) Connect(of, subresource string, key Key, body object.Object) (object.Object, *status.Status) {
	q, s := c.request(of, key.Namespace, key.Name)
	if s != nil {
		return nil, s
	}
	q.Subresource, q.Verb = subresource, "create"
	defer c.writes()()
	obj, s := c.registry().Connect(q, "create", body)
	if s != nil && s.Success {
		return nil, nil
	}
	return obj, s
}

// Scale returns the Scale of an object of a resource, which may be served in several versions.
func (c *Client) Scale(d *resource.Definition, key Key) (object.Object, *status.Status) {
	q := c.requestOf(d, key.Namespace, key.Name)
	q.Verb, q.Subresource = "get", "scale"
	return c.registry().Connect(q, "get", nil)
}

// SetScale changes the number of replicas of an object to that of a Scale.
func (c *Client) SetScale(d *resource.Definition, scale object.Object) *status.Status {
	q := c.requestOf(d, scale.Namespace(), scale.Name())
	q.Verb, q.Subresource = "update", "scale"
	defer c.writes()()
	_, s := c.registry().Connect(q, "update", scale)
	return s
}

// Apply applies fields of an object, whoever else has them (server-side apply, with force). It creates an object that is
// not there, where that is allowed.
func (c *Client) Apply(of, subresource string, key Key, fields object.Object) (object.Object, *status.Status) {
	r := c.registry()
	return stored(c.change(of, subresource, key.Namespace, key.Name, "patch", registry.Apply,
		func(q *registry.Request, live object.Object) (object.Object, *status.Status) {
			d := q.Definition
			config := object.Object{"kind": d.Kind, "apiVersion": d.GV(), "metadata": map[string]any{"name": key.Name}}
			if key.Namespace != "" {
				config.Set(key.Namespace, "metadata", "namespace")
			}
			for name, v := range fields { // order does not matter: a map again
				config[name] = v
			}
			obj, _, s := r.Fields.Apply(d, live, config, r.By(q), true)
			return obj, s
		}))
}

// Preconditions say which state of an object is to be deleted, and what becomes of its dependents. "" is any.
type Preconditions struct {
	UID, ResourceVersion string
	Propagation          string // Orphan, Background or Foreground
	Now                  bool   // without a grace period
}

// Delete deletes an object, or begins to.
func (c *Client) Delete(of string, key Key, p Preconditions) *status.Status {
	q, s := c.request(of, key.Namespace, key.Name)
	if s != nil {
		return s
	}
	q.Verb = "delete"
	o := registry.DeleteOptions{PropagationPolicy: p.Propagation}
	if p.UID != "" {
		o.UID = &p.UID
	}
	if p.ResourceVersion != "" {
		o.ResourceVersion = &p.ResourceVersion
	}
	if p.Now {
		o.GracePeriodSeconds = new(int64)
	}
	defer c.writes()()
	_, s = c.registry().Delete(q, o)
	return s
}

// DeleteCollection deletes the objects of a resource in a namespace, or begins to.
func (c *Client) DeleteCollection(d *resource.Definition, namespace, propagation string) (failed *status.Status) {
	if c.loop.crashed {
		return crashed
	}
	q := c.requestOf(d, namespace, "")
	q.Verb = "deletecollection"
	defer c.writes()()
	c.registry().DeleteCollection(q, registry.ListOptions{}, registry.DeleteOptions{PropagationPolicy: propagation},
		func(_ *registry.Page, s *status.Status) { failed = s })
	return failed
}

// LiveItems calls yield with each object of a resource as the API server has it, in key order, until it returns false.
func (c *Client) LiveItems(of, namespace string, yield func(*resource.Item) bool) {
	c.registry().Reader().Items(of, namespace, yield)
}

func (c *Client) change(of, subresource, namespace, name, verb string, kind registry.ChangeKind,
	make func(*registry.Request, object.Object) (object.Object, *status.Status)) (*registry.Result, *status.Status) {
	q, s := c.request(of, namespace, name)
	if s != nil {
		return nil, s
	}
	q.Subresource, q.Verb = subresource, verb
	defer c.writes()()
	result, s := c.registry().Update(q, registry.Change{Kind: kind,
		Make: func(live object.Object) (object.Object, *status.Status) { return make(q, live) }})
	if s == nil {
		s = result.Status
	}
	c.wrote(of, result, s)
	return result, s
}

// wrote notes what was written, where the controller has to read it before it goes on.
func (c *Client) wrote(of string, result *registry.Result, failed *status.Status) {
	if failed == nil && result.Item != nil {
		c.loop.wrote(of, result.Item.Rev)
	}
}

// writes says that what is committed from now on is the controller's, until the function it returns is called.
func (c *Client) writes() (done func()) {
	m := c.manager
	before := m.writing
	m.writing = c.loop
	return func() { m.writing = before }
}

// Writing names the controller, or the kubelet, whose request is being served, and the user that it is. "": somebody else's is.
func (m *Manager) Writing() (name, user string) {
	if m.writing == nil {
		return "", ""
	}
	return m.writing.Name, m.writing.User.Name
}

// request is a request of the controller.
func (c *Client) request(of, namespace, name string) (*registry.Request, *status.Status) {
	d := c.manager.server.Definition(of)
	switch {
	case c.loop.crashed:
		return nil, crashed
	case d == nil:
		return nil, status.NotFound(status.Resource{Resource: of}, name)
	}
	return c.requestOf(d, namespace, name), nil
}

// crashed is what a controller hears that has crashed between two writes. Nobody sees what it makes of that.
var crashed = status.Internal(errors.New("the controller has crashed"))

func (c *Client) requestOf(d *resource.Definition, namespace, name string) *registry.Request {
	return &registry.Request{Definition: d, Namespace: namespace, Name: name, User: c.loop.User, Manager: cmp.Or(c.as, c.loop.FieldManager),
		Warn: func(string) {}}
}

func stored(result *registry.Result, s *status.Status) (object.Object, *status.Status) {
	if s != nil {
		return nil, s
	}
	if result.Status != nil || result.Item == nil {
		return nil, result.Status
	}
	return result.Item.Object(), nil
}
