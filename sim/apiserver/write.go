package apiserver

import (
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// create answers a POST to a collection or to a subresource.
func (c *call) create() *status.Status {
	media, s := codec.ContentType(c.q.Header.Get("Content-Type"))
	if s == nil {
		s = c.checkBody()
	}
	if s != nil {
		return s
	}
	o, s := c.writeOptions("CreateOptions", false)
	if s != nil {
		return s
	}
	q := c.request(o)
	obj, s := c.decode(media, o.level, nil)
	if s != nil {
		return s
	}
	if c.route.sub != nil || c.route.def.Connect != nil {
		c.connect(q, "create", obj)
		return nil
	}
	result, s := c.s.Registry.Create(q, obj)
	c.result(wire.StatusCreated, result, s)
	return nil
}

// update answers a PUT.
func (c *call) update() *status.Status {
	if c.route.name == "" {
		return status.BadRequest("name must be provided")
	}
	if s := c.checkBody(); s != nil {
		return s
	}
	o, s := c.writeOptions("UpdateOptions", false)
	if s != nil {
		return s
	}
	media, s := codec.ContentType(c.q.Header.Get("Content-Type"))
	if s != nil {
		return s
	}
	q := c.request(o)
	var current *resource.Item
	if !c.connects() {
		current = c.s.Registry.Current(q)
	}
	obj, s := c.decode(media, o.level, current)
	if s == nil {
		s = registry.CheckIdentity(q, obj)
	}
	if s == nil {
		s = c.route.placed()
	}
	if s != nil {
		return s
	}
	if c.connects() {
		q.Unversioned = !codec.SaysVersion(c.q.Body, media.String())
		c.connect(q, "update", obj)
		return nil
	}
	result, s := c.s.Registry.Update(q, registry.Change{Kind: registry.Put,
		Make: func(object.Object) (object.Object, *status.Status) { return obj, nil }})
	c.result(wire.StatusOK, result, s)
	return nil
}

// connects reports whether the path is that of a subresource with a body of its own.
func (c *call) connects() bool { return c.kindOf() != c.route.def.GVK }

// connect answers such a subresource.
func (c *call) connect(q *registry.Request, verb string, body object.Object) {
	obj, s := c.s.Registry.Connect(q, verb, body)
	if s == nil {
		s = c.checkTable()
	}
	switch {
	case s != nil && !s.Success:
		c.fail(s)
	case s != nil:
		c.result(wire.StatusOK, &registry.Result{Status: s}, nil)
	case verb == "create":
		c.unstored(wire.StatusCreated, c.kindOf(), obj)
	default:
		c.unstored(wire.StatusOK, c.kindOf(), obj)
	}
}

// result answers with what a write came to.
func (c *call) result(code int, r *registry.Result, s *status.Status) {
	if s == nil {
		s = c.checkTable()
	}
	switch {
	case s != nil:
		c.fail(s)
	case r.Status != nil:
		if r.Status.Code != 0 {
			code = r.Status.Code
		}
		c.writeStatus(code, r.Status) // in the encoding asked for; what it was to be turned into does not matter
	case r.Created:
		c.object(wire.StatusCreated, r.Item)
	default:
		c.object(code, r.Item)
	}
}

// checkBody refuses a body that is too large or did not arrive whole.
func (c *call) checkBody() *status.Status {
	if len(c.q.Body) > bodyMax {
		return status.BodyTooLarge(bodyMax)
	}
	if c.q.BodyError != nil {
		return status.Plain("%s", c.q.BodyError.Error())
	}
	return nil
}

// decode reads the body as the kind the path is about, with the defaults of its version. current is what it may be the
// changed form of, or nil.
func (c *call) decode(media codec.Media, level codec.Level, current *resource.Item) (object.Object, *status.Status) {
	obj, _, warnings, s := c.s.Decoder.Changed(c.q.Body, media.String(), c.kindOf(), level, current)
	c.warnings = append(c.warnings, warnings...)
	if s != nil && s.Code == wire.StatusBadRequest && c.foreign() {
		s = status.BadRequest("no kind is registered for the type %s.%s in scheme %q", c.kindOf().Version, c.kindOf().Kind, "pkg/runtime/scheme.go:111")
	}
	if s != nil {
		return nil, s
	}
	c.setDefaults(obj)
	return obj, nil
}

// foreign reports whether the kind of the path is that of a custom resource's subresource, a Scale. What decodes and merges
// custom resources does not know such a kind, and has only that to say about a body with a mistake.
func (c *call) foreign() bool { return c.route.def.Custom && c.connects() }

// definition is that of the kind of the path.
func (c *call) definition() *resource.Definition {
	if sub := c.route.sub; sub != nil && sub.Body != nil {
		return sub.Body
	}
	return c.route.def
}

// setDefaults fills in the defaults of the kind of the path.
func (c *call) setDefaults(obj object.Object) {
	if d := c.definition(); d.GVK == c.kindOf() {
		c.s.setDefaults(d, obj)
	}
}

// kindOf is the kind of the objects of the path.
func (c *call) kindOf() schema.GVK {
	if c.route.sub != nil {
		return c.route.sub.GVK
	}
	return c.route.def.GVK
}
