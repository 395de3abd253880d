package apiserver

import (
	"encoding/json"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/patch"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// patch answers a PATCH of any of the four kinds.
func (c *call) patch() *status.Status {
	d := c.route.def
	kind, s := patch.Type(c.q.Header.Get("Content-Type"), d.Custom)
	if s != nil {
		return s
	}
	if c.route.name == "" {
		return status.BadRequest("name must be provided")
	}
	if s := c.negotiate(); s != nil {
		return s
	}
	if s := c.checkBody(); s != nil {
		return s
	}
	o, s := c.writeOptions("PatchOptions", kind == patch.ApplyPatch)
	if s != nil {
		return s
	}
	if s := c.checkPatch(kind); s != nil {
		return s
	}
	q := c.request(o)
	p := &patcher{c: c, kind: kind, o: o, q: q}
	change := registry.Change{Kind: registry.Patch, Edit: p.edit}
	if kind == patch.ApplyPatch {
		change = registry.Change{Kind: registry.Apply, Make: p.apply}
	}
	if c.connects() {
		return c.patchConnected(q, p)
	}
	result, s := c.s.Registry.Update(q, change)
	c.result(wire.StatusOK, result, s)
	return nil
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
func (c *call) patchConnected(q *registry.Request, p *patcher) *status.Status {
	verb := "patch"
	if p.kind == patch.ApplyPatch {
		verb = "apply"
	}
	current, s := c.s.Registry.Connect(q, verb, nil)
	switch {
	case s != nil:
	case p.kind == patch.ApplyPatch:
		current, s = p.apply(current)
	default:
		current, s = p.edit(codec.Append(nil, current, c.s.Schema.Kind(c.kindOf())), nil)
	}
	if s == nil {
		s = registry.CheckIdentity(q, current)
	}
	if s != nil {
		return s
	}
	c.connect(q, verb, current)
	return nil
}

// patcher makes the new object of a PATCH.
type patcher struct {
	c    *call
	kind patch.Kind
	o    writeOptions
	q    *registry.Request

	plain bool // an applied configuration that is plain JSON
}

// edit applies the patch to a printed object, that of item if that is not nil, and fills in the defaults. Field errors of
// the result are an error only under fieldValidation=Strict.
func (p *patcher) edit(printed []byte, item *resource.Item) (object.Object, *status.Status) {
	edit := p.text
	if p.kind == patch.StrategicPatch {
		edit = p.merge
	}
	obj, shown, strict, s := edit(printed, item)
	switch {
	case s != nil:
		return nil, s
	case len(strict) > 0 && p.o.level == codec.Strict:
		return nil, patch.StrictlyUndecodable(shown, strict)
	case p.o.level == codec.Warn:
		p.c.warnings = append(p.c.warnings, codec.Warnings(strict)...)
	}
	if err := registry.Hold(p.c.definition(), obj); err != nil { // only of a strategic patch: text has done it
		return nil, status.Plain("%v", err)
	}
	p.c.setDefaults(obj)
	return obj, nil
}

// text applies a patch of the printed object, and reads the result as the kind of the path. shown is the result as errors
// show it.
func (p *patcher) text(printed []byte, item *resource.Item) (obj object.Object, shown string, strict []string, s *status.Status) {
	apply := patch.Merge
	if p.kind == patch.JSONPatch {
		apply = patch.JSON
	}
	doc, strict, s := apply(printed, p.c.q.Body, p.level())
	if s != nil {
		return nil, "", nil, s
	}
	obj, more, err := p.c.s.Decoder.Patched(doc, p.c.kindOf(), p.c.s.Schema.Kind(p.c.kindOf()), item)
	if err != nil {
		return nil, "", nil, patch.Undecodable(string(doc), err)
	}
	if err := registry.Hold(p.c.definition(), obj); err != nil {
		return nil, "", nil, patch.Undecodable(string(doc), err)
	}
	return obj, string(doc), append(strict, more...), nil
}

// merge is text for a strategic merge patch, whose result is not read from JSON: what it makes of apiVersion and kind does
// not matter. Fields of the object that the patch does not name are not converted but taken from item, which saves a patch
// of a pod's labels a third of its time and half of its memory.
func (p *patcher) merge(printed []byte, item *resource.Item) (obj object.Object, shown string, strict []string, s *status.Status) {
	kind := p.c.kindOf()
	t := p.c.s.Schema.Kind(kind)
	whole := item == nil || p.c.definition().Places() != nil // raw values are merged as what they say
	merged, s := patch.Strategic(printed, p.c.q.Body, t, p.level(), whole)
	if s != nil {
		return nil, "", nil, s
	}
	obj, unknown, err := codec.Convert(merged.Object, t)
	if err != nil {
		return nil, "", nil, patch.Undecodable(merged.Text, err)
	}
	for _, path := range merged.Left {
		switch v, ok := item.Shared().Get(path...); {
		case !ok:
		case path[len(path)-1] == "managedFields": // whose entries nobody changes
			obj.Set(v, path...)
		default:
			obj.Set(object.Copy(v), path...)
		}
	}
	obj["apiVersion"], obj["kind"] = kind.GV(), kind.Kind
	return obj, merged.Text, append(merged.Strict, unknown...), nil
}

func (p *patcher) level() patch.Level {
	if p.o.level == codec.Ignore {
		return patch.Ignore
	}
	return patch.Warn
}
