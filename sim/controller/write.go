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

// Create creates an object in its namespace. An object without a kind gets that of the resource. The caller must not use obj
// afterwards. Create returns the stored object, or nil and an error Status.
func (c *Client) Create(of string, obj object.Object) (*resource.Item, *status.Status) {
	q, s := c.request(of, obj.Namespace(), obj.Name())
	if s != nil {
		return nil, s
	}
	q.Verb = "create"
	if obj.Kind() == "" {
		obj["kind"], obj["apiVersion"] = q.Definition.Kind, q.Definition.GV()
	}
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

// Update replaces an object or one of its subresources, and returns the stored object. If subresource is "", it replaces the object
// itself. Update fails with a conflict if another client has written the object since it was read, unless obj has no
// resourceVersion. The caller may change obj afterwards.
func (c *Client) Update(of, subresource string, obj object.Object) (object.Object, *status.Status) {
	return stored(c.change(of, subresource, obj.Namespace(), obj.Name(), "update", registry.Put,
		func(q *registry.Request, _ object.Object) (object.Object, *status.Status) {
			return withDefaults(q.Definition, obj.Copy()), nil
		}))
}

// withDefaults sets the defaults of the object's version, as the API server does after decoding a body, and returns the object.
func withDefaults(d *resource.Definition, obj object.Object) object.Object {
	if d.Default != nil {
		d.Default(obj)
	}
	return obj
}

// Patch applies change to the stored object, even if the object has changed since it was read. It fails with 404 if the object does
// not exist.
func (c *Client) Patch(of, subresource string, key Key, change func(live object.Object)) *status.Status {
	_, s := c.change(of, subresource, key.Namespace, key.Name, "patch", registry.Patch,
		func(_ *registry.Request, live object.Object) (object.Object, *status.Status) {
			change(live)
			return live, nil
		})
	return s
}

// Connect creates a subresource whose body is not the object itself, such as binding, eviction or token, and returns the response.
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

// Scale reads the Scale of an object from the API server, in the version of the resource that d defines.
func (c *Client) Scale(d *resource.Definition, key Key) (object.Object, *status.Status) {
	q := c.requestOf(d, key.Namespace, key.Name)
	q.Verb, q.Subresource = "get", "scale"
	return c.registry().Connect(q, "get", nil)
}

// SetScale updates the Scale of an object through the API server, and thereby the object's number of replicas.
func (c *Client) SetScale(d *resource.Definition, scale object.Object) *status.Status {
	q := c.requestOf(d, scale.Namespace(), scale.Name())
	q.Verb, q.Subresource = "update", "scale"
	_, s := c.registry().Connect(q, "update", scale)
	return s
}

// Apply applies fields with server-side apply and force: it takes over fields that other managers own. If the object does not
// exist, Apply creates it if the server allows that.
func (c *Client) Apply(of, subresource string, key Key, fields object.Object) (object.Object, *status.Status) {
	r := c.registry()
	return stored(c.change(of, subresource, key.Namespace, key.Name, "patch", registry.Apply,
		func(q *registry.Request, live object.Object) (object.Object, *status.Status) {
			d := q.Definition
			config := object.Object{"kind": d.Kind, "apiVersion": d.GV(), "metadata": map[string]any{"name": key.Name}}
			if key.Namespace != "" {
				config.Set(key.Namespace, "metadata", "namespace")
			}
			for name, v := range fields { // order does not matter: the result is a map
				config[name] = v
			}
			obj, _, s := r.Fields.Apply(d, live, config, r.By(q), true)
			return obj, s
		}))
}

// Preconditions contains the required state of an object to delete, and the options of the deletion. Empty fields match any
// state.
type Preconditions struct {
	UID, ResourceVersion string
	Propagation          string // Orphan, Background or Foreground
	Now                  bool   // delete without a grace period
}

// Delete deletes an object, or marks it as deleted if it has finalizers or a grace period. If the object does not meet the
// preconditions, Delete returns a conflict.
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

// DeleteCollection deletes the objects of a resource in a namespace, or marks them as deleted if they have finalizers or a grace
// period.
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

// wrote records the revision of a write if the cache must show it before the controller reconciles the key again.
func (c *Client) wrote(of string, result *registry.Result, failed *status.Status) {
	if failed == nil && result.Item != nil {
		c.loop.wrote(of, result.Item.Rev)
	}
}

// Actor implements resource.Author.
func (l *loop) Actor() resource.Actor {
	return resource.Actor{Client: l.Name, User: l.User.Name, Own: true}
}

// request returns a request of the controller for an object, or an error if the controller has crashed or the resource is not
// defined.
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

// crashed is the error for a controller that has crashed during a reconcile. Its further writes have no effect.
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

// SetCondition sets the status, reason and message of a condition, and reports whether any of them changed. It updates the
// transition time if the status changed.
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
