package apiserver

import (
	"cmp"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// create handles a POST to a collection or to a subresource.
func (e *Exchange) create() *status.Status {
	media, s := e.contentType()
	if s == nil {
		s = e.checkBody()
	}
	if s != nil {
		return s
	}
	o, s := e.writeOptions("CreateOptions", false)
	if s != nil {
		return s
	}
	q := e.request(o)
	obj, s := e.decode(media, o.level, nil)
	if s != nil {
		return s
	}
	if e.route.sub != nil || e.route.def.Connect != nil {
		e.connect(q, "create", obj)
		return nil
	}
	result, s := e.s.Registry.Create(q, obj)
	e.result(wire.StatusCreated, result, s)
	return nil
}

// update handles a PUT.
func (e *Exchange) update() *status.Status {
	if e.route.name == "" {
		return status.BadRequest("name must be provided")
	}
	if s := e.checkBody(); s != nil {
		return s
	}
	o, s := e.writeOptions("UpdateOptions", false)
	if s != nil {
		return s
	}
	media, s := e.contentType()
	if s != nil {
		return s
	}
	q := e.request(o)
	var current *resource.Item
	if !e.hasOwnBodyKind() {
		current = e.s.Registry.Current(q)
	}
	obj, s := e.decode(media, o.level, current)
	if s == nil {
		s = registry.CheckIdentity(q, obj)
	}
	if s == nil {
		s = e.route.checkName()
	}
	if s != nil {
		return s
	}
	if e.hasOwnBodyKind() {
		q.Unversioned = !e.s.Decoder.SaysVersion(e.Body, media.String())
		e.connect(q, "update", obj)
		return nil
	}
	result, s := e.s.Registry.Update(q, registry.Change{Kind: registry.Put,
		Make: func(object.Object) (object.Object, *status.Status) { return obj, nil }})
	e.result(wire.StatusOK, result, s)
	return nil
}

// hasOwnBodyKind reports whether the path is that of a subresource with its own kind of body.
func (e *Exchange) hasOwnBodyKind() bool { return e.kindOf() != e.route.def.GVK }

// connect passes a request for a subresource with its own kind of body to its Connector, and responds with the result.
func (e *Exchange) connect(q *registry.Request, verb string, body object.Object) {
	obj, s := e.s.Registry.Connect(q, verb, body)
	if s == nil {
		s = e.checkTable()
	}
	switch {
	case s != nil && !s.Success:
		e.fail(s)
	case s != nil:
		e.result(wire.StatusOK, &registry.Result{Status: s}, nil)
	case verb == "create":
		e.replyUnstored(wire.StatusCreated, e.kindOf(), obj)
	default:
		e.replyUnstored(wire.StatusOK, e.kindOf(), obj)
	}
}

// result sends the response to a write: its object or Status, or the error s.
func (e *Exchange) result(code int, r *registry.Result, s *status.Status) {
	if s == nil {
		s = e.checkTable()
	}
	switch {
	case s != nil:
		e.fail(s)
	case r.Status != nil:
		if r.Status.Code != 0 {
			code = r.Status.Code
		}
		e.writeStatus(code, r.Status) // in the negotiated encoding; the server does not convert it to a Table
	case r.Created:
		e.object(wire.StatusCreated, r.Item)
	default:
		e.object(code, r.Item)
	}
}

// checkBody rejects a body that is too large or did not arrive completely.
func (e *Exchange) checkBody() *status.Status {
	if len(e.Body) > bodyMax {
		return status.BodyTooLarge(bodyMax)
	}
	if e.BodyError != nil {
		return status.Plain("%s", e.BodyError.Error())
	}
	return nil
}

// contentType returns the encoding of the body.
func (e *Exchange) contentType() (codec.Media, *status.Status) {
	return codec.ContentType(e.Header.Get("Content-Type"), e.s.Decoder.CBOR != nil)
}

// decode decodes the body as the kind of the path and sets the defaults of its version. current is the stored object, or nil; parts
// that are equal in both need not be decoded again. Warnings go into the response.
func (e *Exchange) decode(media codec.Media, level codec.Level, current *resource.Item) (object.Object, *status.Status) {
	obj, _, warnings, s := e.s.Decoder.Changed(e.Body, media.String(), e.kindOf(), level, current)
	e.warnings = append(e.warnings, warnings...)
	if s != nil && s.Code == wire.StatusBadRequest && e.isCustomScale() {
		s = status.BadRequest("no kind is registered for the type %s.%s in scheme %q", e.kindOf().Version, e.kindOf().Kind, "pkg/runtime/scheme.go:111")
	}
	if s == nil {
		e.setDefaults(obj)
	}
	if d := e.definition(); obj != nil && d.GVK == e.kindOf() {
		s = cmp.Or(registry.Decoded(d, obj), s) // an object with unknown fields is converted before it is refused
	}
	if s != nil {
		return nil, s
	}
	e.auditObject(obj)
	return obj, nil
}

// isCustomScale reports whether the path is that of a custom resource's Scale. The decoder and merger of custom resources do not support
// that kind, and return the same error for every invalid body.
func (e *Exchange) isCustomScale() bool { return e.route.def.Custom && e.hasOwnBodyKind() }

// definition returns the definition of the kind of the path: that of the body for a subresource with its own kind, and otherwise
// that of the resource.
func (e *Exchange) definition() *resource.Definition {
	if sub := e.route.sub; sub != nil && sub.Body != nil {
		return sub.Body
	}
	return e.route.def
}

// setDefaults sets the defaults of the kind of the path.
func (e *Exchange) setDefaults(obj object.Object) {
	if d := e.definition(); d.GVK == e.kindOf() {
		e.s.setDefaults(d, obj)
	}
}

// kindOf returns the kind of the body that the path expects.
func (e *Exchange) kindOf() schema.GVK {
	if e.route.sub != nil {
		return e.route.sub.GVK
	}
	return e.route.def.GVK
}
