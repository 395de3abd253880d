package apiserver

import (
	"encoding/json"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/patch"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// patch answers a PATCH of any of the four kinds.
func (c *call) patch() {
	d := c.route.def
	kind, s := patch.Type(c.q.Header.Get("Content-Type"), d.Custom)
	if s != nil {
		c.fail(s)
		return
	}
	if c.route.name == "" {
		c.fail(status.BadRequest("name must be provided"))
		return
	}
	if !c.negotiate() {
		return
	}
	if s := c.checkBody(); s != nil {
		c.fail(s)
		return
	}
	o, s := c.writeOptions("PatchOptions", kind == patch.ApplyPatch)
	if s != nil {
		c.fail(s)
		return
	}
	if s := c.checkPatch(kind); s != nil {
		c.fail(s)
		return
	}
	q := c.request(o)
	p := &patcher{c: c, kind: kind, o: o, q: q}
	change := registry.Change{Kind: registry.Patch, Make: p.make}
	if kind == patch.ApplyPatch {
		change.Kind = registry.Apply
	}
	if c.route.sub != nil && c.route.sub.GVK != d.GVK {
		c.patchConnected(q, p)
		return
	}
	result, s := c.s.Registry.Update(q, change)
	c.result(wire.StatusOK, result, s)
}

// checkPatch refuses a patch that cannot be logged: since 1.37 servers read it before they look for the object
// (endpoints/handlers.validateAndTranscodePatch).
func (c *call) checkPatch(kind patch.Kind) *status.Status {
	if !c.s.Registry.Server.Since(37) {
		return nil
	}
	if kind != patch.ApplyPatch {
		if !json.Valid(c.q.Body) {
			return status.BadRequest("invalid JSON patch")
		}
		return nil
	}
	if _, plain := codec.PlainJSON(c.q.Body); plain {
		return nil
	}
	if _, err := codec.YAMLToJSON(c.q.Body); err != nil {
		return status.BadRequest("error encoding patch: %v", err)
	}
	return nil
}

// patchConnected patches a subresource with a body of its own: it is read, patched and written as a whole.
func (c *call) patchConnected(q *registry.Request, p *patcher) {
	verb := "patch"
	if p.kind == patch.ApplyPatch {
		verb = "apply"
	}
	current, s := c.s.Registry.Connect(q, verb, nil)
	if s == nil {
		current, s = p.make(current)
	}
	if s == nil {
		s = registry.CheckIdentity(q, current)
	}
	if s != nil {
		c.fail(s)
		return
	}
	c.connect(q, verb, current)
}

// patcher makes the new object of a PATCH.
type patcher struct {
	c    *call
	kind patch.Kind
	o    writeOptions
	q    *registry.Request

	plain bool // an applied configuration that is plain JSON
}

func (p *patcher) make(current object.Object) (object.Object, *status.Status) {
	if p.kind == patch.ApplyPatch {
		return p.apply(current)
	}
	obj, strict, s := p.patched(current)
	if s != nil {
		return nil, s
	}
	if p.o.level == codec.Warn {
		for _, w := range codec.Warnings(strict) {
			p.c.warn(w)
		}
	}
	p.c.setDefaults(obj)
	return obj, nil
}

// patched applies the patch to the object and reads the result as the kind of the path. Field errors of the result are
// an error only under fieldValidation=Strict.
func (p *patcher) patched(current object.Object) (obj object.Object, strict []string, s *status.Status) {
	if p.kind == patch.StrategicPatch {
		return p.merged(current)
	}
	t, kind := p.c.s.Schema.Kind(p.c.kindOf()), p.c.kindOf()
	apply := patch.Merge
	if p.kind == patch.JSONPatch {
		apply = patch.JSON
	}
	doc, strict, s := apply(codec.Append(nil, current, t), p.c.q.Body, p.level())
	if s != nil {
		return nil, nil, s
	}
	obj, more, err := p.c.s.Decoder.Patched(doc, kind, t)
	if err != nil {
		return nil, nil, patch.Undecodable(string(doc), err)
	}
	if strict = append(strict, more...); len(strict) > 0 && p.o.level == codec.Strict {
		return nil, nil, patch.StrictlyUndecodable(string(doc), strict)
	}
	return obj, strict, nil
}

// merged is patched for a strategic merge patch, whose result is not read from JSON: what it makes of apiVersion and
// kind does not matter.
func (p *patcher) merged(current object.Object) (obj object.Object, strict []string, s *status.Status) {
	kind := p.c.kindOf()
	t := p.c.s.Schema.Kind(kind)
	result, shown, strict, s := patch.Strategic(current, p.c.q.Body, t, p.level())
	if s != nil {
		return nil, nil, s
	}
	obj, unknown, err := codec.Convert(result, t)
	if err != nil {
		return nil, nil, patch.Undecodable(shown, err)
	}
	obj["apiVersion"], obj["kind"] = kind.GV(), kind.Kind
	if strict = append(strict, unknown...); len(strict) > 0 && p.o.level == codec.Strict {
		return nil, nil, patch.StrictlyUndecodable(shown, strict)
	}
	return obj, strict, nil
}

func (p *patcher) level() patch.Level {
	switch p.o.level {
	case codec.Ignore:
		return patch.Ignore
	case codec.Strict:
		return patch.Strict
	}
	return patch.Warn
}
