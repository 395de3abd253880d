package controller

import (
	"cmp"
	"errors"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Create stores a new object in its namespace. The object must not be used afterwards. Create returns the stored object, or nil
// with a Status.
func (c *Client) Create(of string, obj object.Object) (*resource.Item, *status.Status) {
	q, s := c.request(of, obj.Namespace(), obj.Name())
	if s != nil {
		return nil, s
	}
	q.Verb = "create"
	result, s := c.registry().Create(q, withDefaults(q.Definition, obj))
	if s == nil {
		s = result.Status
	}
	if s != nil {
		return nil, s
	}
	c.loop.wrote(of, result.Item.Rev)
	return result.Item, nil
}

// Update replaces an object, or a subresource of it; the empty subresource is the object itself. If another client has written the
// object since it was read, Update fails, unless the object has no resourceVersion.
func (c *Client) Update(of, subresource string, obj object.Object) (object.Object, *status.Status) {
	return stored(c.change(of, subresource, obj.Namespace(), obj.Name(), "update", registry.Put,
		func(q *registry.Request, _ object.Object) (object.Object, *status.Status) {
			return withDefaults(q.Definition, obj), nil
		}))
}

// withDefaults returns an object as the API server reads it from a body: with the defaults of its version.
func withDefaults(d *resource.Definition, obj object.Object) object.Object {
	if d.Default != nil {
		d.Default(obj)
	}
	return obj
}

// Patch changes the stored object, even if it has been changed since it was read.
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
	_, s := c.registry().Connect(q, "update", scale)
	return s
}

// Apply applies fields of an object with server-side apply and force: it takes over fields that other managers own. It creates an
// object that does not exist, where that is allowed.
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

// Preconditions are the required state of an object to delete, and the propagation policy. Empty fields match any state.
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
	c.registry().DeleteCollection(q, registry.ListOptions{}, registry.DeleteOptions{PropagationPolicy: propagation},
		func(_ *registry.Page, s *status.Status) { failed = s })
	return failed
}

func (c *Client) change(of, subresource, namespace, name, verb string, kind registry.ChangeKind,
	make func(*registry.Request, object.Object) (object.Object, *status.Status)) (*registry.Result, *status.Status) {
	q, s := c.request(of, namespace, name)
	if s != nil {
		return nil, s
	}
	q.Subresource, q.Verb = subresource, verb
	result, s := c.registry().Update(q, registry.Change{Kind: kind,
		Make: func(live object.Object) (object.Object, *status.Status) { return make(q, live) }})
	if s == nil {
		s = result.Status
	}
	c.wrote(of, result, s)
	return result, s
}

// wrote notes a write that the controller has to see in its cache before it reconciles the key again.
func (c *Client) wrote(of string, result *registry.Result, failed *status.Status) {
	if failed == nil && result.Item != nil {
		c.loop.wrote(of, result.Item.Rev)
	}
}

// Actor implements resource.Author.
func (l *loop) Actor() resource.Actor {
	return resource.Actor{Client: l.Name, User: l.User.Name, Own: true}
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

// crashed is the error for a controller that has crashed between two writes. Its reaction has no effect.
var crashed = status.Internal(errors.New("the controller has crashed"))

func (c *Client) requestOf(d *resource.Definition, namespace, name string) *registry.Request {
	return &registry.Request{By: c.loop, Definition: d, Namespace: namespace, Name: name, User: c.loop.User, Manager: cmp.Or(c.as, c.loop.FieldManager)}
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

// SetCondition sets the status, the reason and the message of a condition, and reports whether any of them changed. Its transition
// time is updated if the status changed.
func SetCondition(obj object.Object, now time.Time, kind, value, reason, message string) (changed bool) {
	c := obj.Condition(kind)
	if c == nil {
		c = object.Object{"type": kind}
		obj.Set(append(obj.List("status", "conditions"), map[string]any(c)), "status", "conditions")
	}
	if c.String("status") == value && c.String("reason") == reason && c.String("message") == message {
		return false
	}
	if c.String("status") != value {
		c["lastTransitionTime"] = object.Time(now)
	}
	c["status"], c["reason"], c["message"] = value, reason, message
	return true
}
