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

// patch handles a PATCH of any of the four types.
func (e *Exchange) patch() *status.Status {
	d := e.route.def
	kind, s := patch.Type(e.Header.Get("Content-Type"), d.Custom, e.s.Decoder.CBOR != nil)
	if s != nil {
		return s
	}
	if e.route.name == "" {
		return status.BadRequest("name must be provided")
	}
	if s := e.negotiate(); s != nil {
		return s
	}
	if s := e.checkBody(); s != nil {
		return s
	}
	o, s := e.writeOptions("PatchOptions", kind == patch.ApplyPatch)
	if s != nil {
		return s
	}
	if s := e.checkPatch(kind); s != nil {
		return s
	}
	e.auditPatch()
	q := e.request(o)
	p := &patcher{e: e, kind: kind, o: o, q: q}
	change := registry.Change{Kind: registry.Patch, Edit: p.edit}
	if kind == patch.ApplyPatch {
		change = registry.Change{Kind: registry.Apply, Make: p.apply}
	}
	if e.hasOwnBodyKind() {
		return e.patchConnected(q, p)
	}
	result, s := e.s.Registry.Update(q, change)
	e.result(wire.StatusOK, result, s)
	return nil
}

// checkPatch rejects a patch that cannot be parsed for the audit log. Since 1.37, servers parse the patch before they look up the
// object (endpoints/handlers.validateAndTranscodePatch).
func (e *Exchange) checkPatch(kind patch.Kind) *status.Status {
	if !e.s.Registry.Server.Since(37) {
		return nil
	}
	if kind != patch.ApplyPatch {
		if !json.Valid(e.Body) {
			return status.BadRequest("invalid JSON patch")
		}
		return nil
	}
	body, err := e.patchText()
	if _, plain := codec.PlainJSON(body); plain {
		return nil
	}
	if err == nil {
		_, err = codec.YAMLToJSON(body)
	}
	if err != nil {
		return status.BadRequest("error encoding patch: %v", err)
	}
	return nil
}

// patchConnected patches a subresource that has its own body: the body is read, patched and written as a whole.
func (e *Exchange) patchConnected(q *registry.Request, p *patcher) *status.Status {
	verb := "patch"
	if p.kind == patch.ApplyPatch {
		verb = "apply"
	}
	current, s := e.s.Registry.Connect(q, verb, nil)
	switch {
	case s != nil:
	case p.kind == patch.ApplyPatch:
		current, s = p.apply(current)
	default:
		current, s = p.edit(codec.Append(nil, current, e.s.Schema.Kind(e.kindOf())), nil)
	}
	if s == nil {
		s = registry.CheckIdentity(q, current)
	}
	if s != nil {
		return s
	}
	e.connect(q, verb, current)
	return nil
}

// patcher creates the new object of a PATCH.
type patcher struct {
	e    *Exchange
	kind patch.Kind
	o    writeOptions
	q    *registry.Request

	plain bool // the applied configuration is plain JSON
}

// edit applies the patch to an encoded object and sets the defaults. item is the item of that object, or nil. Unknown and duplicate
// fields in the result are errors only with fieldValidation=Strict.
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
		p.e.warnings = append(p.e.warnings, codec.Warnings(strict)...)
	}
	if err := registry.Hold(p.e.definition(), obj); err != nil { // text has already called it for other patches
		return nil, status.Plain("%v", err)
	}
	p.e.setDefaults(obj)
	return obj, nil
}

// text applies a patch to the encoded object and decodes the result as the kind of the path. shown is the result as it appears in
// error messages. strict contains the errors about unknown and duplicate fields.
func (p *patcher) text(printed []byte, item *resource.Item) (obj object.Object, shown string, strict []string, s *status.Status) {
	apply := patch.Merge
	if p.kind == patch.JSONPatch {
		apply = patch.JSON
	}
	doc, strict, s := apply(printed, p.e.Body, p.level())
	if s != nil {
		return nil, "", nil, s
	}
	obj, more, err := p.e.s.Decoder.Patched(doc, p.e.kindOf(), p.e.s.Schema.Kind(p.e.kindOf()), item)
	if err != nil {
		return nil, "", nil, patch.Undecodable(string(doc), err)
	}
	if err := registry.Hold(p.e.definition(), obj); err != nil {
		return nil, "", nil, patch.Undecodable(string(doc), err)
	}
	return obj, string(doc), append(strict, more...), nil
}

// merge is like text, but applies a strategic merge patch. Because the result is not decoded from JSON, its apiVersion and kind do not
// matter. merge takes the fields that the patch does not contain from item instead of converting them. For a patch of a pod's labels,
// this saves a third of the time and half of the memory.
func (p *patcher) merge(printed []byte, item *resource.Item) (obj object.Object, shown string, strict []string, s *status.Status) {
	kind := p.e.kindOf()
	t := p.e.s.Schema.Kind(kind)
	whole := item == nil || p.e.definition().Places() != nil // raw values are merged in parsed form
	merged, s := patch.Strategic(printed, p.e.Body, t, p.level(), whole)
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
		case path[len(path)-1] == "managedFields": // the entries of managedFields are not changed
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
