package admission

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/patch"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// draft is the object of a write in the version in which the last mutating webhook was called. Webhooks patch the draft. As in
// the real server, the object itself is updated only when a webhook requires another version, and after the last webhook. A
// patched draft that cannot be converted, for example because its kind has changed, causes an error only then, and no error if
// a later patch corrects it.
//
//	object ─▶ draft in v1: webhook a ─ webhook b ─▶ object ─▶ draft in v2: webhook c ─▶ object
type draft struct {
	kind     *resource.Definition // the version of the resource, or the kind of the subresource
	obj, old object.Object        // nil if the write has none
	layout   *schema.Type         // the structure of obj; nil if it has no Go type
	other    error                // the error if a patch has changed obj to another kind, which cannot be converted
	dirty    bool                 // a webhook has patched obj
}

// draftIn makes a.draft the draft in version d. If the current draft has another version, it first updates the object of the write
// from it.
func (a *Attributes) draftIn(h *Server, d *resource.Definition) error {
	kind := a.matchedKind(d)
	if a.draft != nil && a.draft.kind.GVK == kind.GVK {
		return nil
	}
	next := &draft{kind: kind, layout: kind.Layout()}
	var err error
	if a.Old != nil {
		if next.old, err = a.convert(a.Old, d); err != nil {
			return err
		}
	}
	if err := a.applyDraft(h); err != nil {
		return err
	}
	if a.Object != nil {
		if next.obj, err = a.convert(a.Object, d); err != nil {
			return err
		}
	}
	a.draft = next
	return nil
}

// applyDraft updates the object of the write from the draft if a webhook has patched it. It returns an error if the draft cannot be
// converted.
func (a *Attributes) applyDraft(h *Server) error {
	f := a.draft
	if f == nil || f.obj == nil || !f.dirty {
		return nil
	}
	obj, err := f.obj.Copy(), error(nil)
	switch {
	case a.Definition.Custom && a.body() == nil:
		if obj, err = a.toVersion(obj, a.Object.APIVersion()); err != nil {
			return err
		}
		put(a.Object, obj)
		return nil
	case f.layout == nil: // a patched Scale of a custom resource
		obj, _, err = h.Decoder.Mutated(object.JSON(map[string]any(obj)), f.kind.GVK, f.kind.Layout())
	default:
		err = f.other
	}
	if err == nil {
		obj, err = a.toHub(obj, f.kind)
	}
	if err != nil {
		return err
	}
	kind, apiVersion := a.Object["kind"], a.Object["apiVersion"]
	put(a.Object, obj)
	a.Object["kind"], a.Object["apiVersion"] = kind, apiVersion // a patch may have removed them
	return nil
}

// print returns the JSON of the object as webhooks receive it, or nil if the write has none.
func (f *draft) print() []byte {
	if f.obj == nil {
		return nil
	}
	return codec.AppendSent(nil, f.obj, f.layout)
}

// printOld returns the JSON of the object before the write as webhooks receive it, or nil if the write has none.
func (f *draft) printOld() []byte {
	if f.old == nil {
		return nil
	}
	return codec.AppendSent(nil, f.old, f.kind.Layout())
}

// patch applies a webhook's patch to the draft. It reports whether the draft changed.
func (f *draft) patch(a *Attributes, h *Server, ops patch.JSONOperations) (changed bool, err error) {
	before := f.print()
	data, err := ops.Apply(before)
	if err != nil {
		return false, err
	}
	layout := f.kind.Layout()
	if a.Definition.Custom { // from here on, a Scale has no Go type either
		layout = nil
	}
	obj, read, err := h.Decoder.Mutated(data, f.kind.GVK, layout)
	other := codec.OtherKindError("")
	if err != nil && !errors.As(err, &other) {
		return false, err
	}
	was, _, err := h.Decoder.Mutated(before, f.kind.GVK, f.layout)
	if err != nil && f.other == nil {
		return false, err
	}
	changed = read != f.layout || a.precise() || !object.SemanticEqual(map[string]any(was), map[string]any(obj))
	f.obj, f.layout, f.other, f.dirty, a.rounded = obj, read, nil, true, true
	if other != "" {
		f.other = other
	}
	f.setDefaults(h)
	return changed, nil
}

// setDefaults sets the defaults for the draft's kind and version, if the server serves them.
func (f *draft) setDefaults(h *Server) {
	kind := schema.ParseGVK(f.obj.APIVersion(), f.obj.Kind())
	d := f.kind
	if kind != d.GVK && (d.Custom || f.other != nil) {
		if d = h.Table.OfKind(kind); d == nil {
			return
		}
	}
	if d.Default != nil {
		d.Default(f.obj)
	}
}

// precise reports whether the time of the request's managedFields entry would still have nanoseconds in the real server. There, the
// first patch rounds the time, which counts as a change of the object.
func (a *Attributes) precise() bool {
	now := object.Time(a.Now)
	return !a.rounded && !a.Definition.Custom && slices.ContainsFunc(a.Object.Objects("metadata", "managedFields"), func(entry object.Object) bool {
		return entry.String("time") == now
	})
}

// latest returns the object of the write, with the patches of all webhooks that have been called.
func (a *Attributes) latest() object.Object {
	if a.draft != nil && a.draft.obj != nil {
		return a.draft.obj
	}
	return a.Object
}

// toVersion converts a custom resource to a version of the write's resource. It returns an error if patches have moved the object
// to another group.
func (a *Attributes) toVersion(obj object.Object, apiVersion string) (object.Object, error) {
	from, to := schema.ParseGVK(obj.APIVersion(), obj.Kind()), schema.ParseGVK(apiVersion, "")
	if from.Group != to.Group {
		return nil, fmt.Errorf("%v is unstructured and is not suitable for converting to %q", from, to.GV())
	}
	return a.Definition.StorageCodec.Convert(a.Asker, obj, apiVersion)
}
