// Package patches computes the patches that kubectl sends, and applies patches without a server.
//
//	the object applied last ┐
//	the object applied now  ├─ Between ─▶ a strategic merge patch, or a merge patch
//	the live object         ┘
package patches

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/patch"
	"github.com/kubesim/kubesim/sim/schema"
)

// changes returns the patch that sets the fields of modified in current and removes the fields of original that modified lacks
// (strategicpatch.CreateThreeWayMergePatch). The patch is a strategic merge patch, or a merge patch if t is nil.
func changes(original, modified, current map[string]any, t *schema.Type) map[string]any {
	patch := map[string]any{}
	for _, k := range object.SortedKeys(modified) {
		now, there := current[k]
		wanted := modified[k]
		if there && object.Equal(now, wanted) && object.Equal(original[k], wanted) {
			continue
		}
		changeField(patch, k, original[k], wanted, now, there, fieldOf(t, k))
	}
	for _, k := range object.SortedKeys(original) {
		if _, kept := modified[k]; !kept {
			patch[k] = nil
		}
	}
	return patch
}

// fieldOf returns a field of a type, or nil if it is unknown.
func fieldOf(t *schema.Type, name string) *schema.Field {
	if t == nil {
		return nil
	}
	return t.Field(name)
}

// changeField adds the change of one field to a patch.
func changeField(patch map[string]any, k string, original, wanted, now any, there bool, f *schema.Field) {
	switch w := wanted.(type) {
	case map[string]any:
		n, ok := now.(map[string]any)
		if !ok {
			break
		}
		o, _ := original.(map[string]any)
		var t *schema.Type
		if f != nil {
			t = f.Type
		}
		inner := changes(o, w, n, t)
		if len(inner) > 0 {
			if f != nil && slices.Contains(f.PatchStrategy, "retainKeys") {
				inner["$retainKeys"] = object.FromStrings(object.SortedKeys(w))
			}
			patch[k] = inner
		}
		return
	case []any:
		n, ok := now.([]any)
		if !ok || f == nil || !slices.Contains(f.PatchStrategy, "merge") {
			break
		}
		o, _ := original.([]any)
		if f.PatchMergeKey == "" {
			changeSet(patch, k, o, w, n)
		} else {
			changeList(patch, k, o, w, n, f)
		}
		return
	}
	if !there || !object.Equal(now, wanted) {
		patch[k] = wanted
	}
}

// changeList adds to a patch the change of a list whose objects have a merge key.
func changeList(patch map[string]any, k string, original, wanted, now []any, f *schema.Field) {
	key := f.PatchMergeKey
	with := func(list []any, value any) map[string]any {
		for _, item := range object.ObjectsOf(list) {
			if object.Equal(item[key], value) {
				return item
			}
		}
		return nil
	}
	items, order := []any{}, []any{}
	for _, item := range object.ObjectsOf(wanted) {
		value := item[key]
		order = append(order, map[string]any{key: value})
		current := with(now, value)
		if current == nil {
			items = append(items, map[string]any(item))
			continue
		}
		if inner := changes(with(original, value), item, current, f.Type.Elem); len(inner) > 0 {
			inner[key] = value
			items = append(items, inner)
		}
	}
	for _, item := range object.ObjectsOf(original) {
		if with(wanted, item[key]) == nil {
			items = append(items, map[string]any{"$patch": "delete", key: item[key]})
		}
	}
	if len(items) > 0 {
		patch["$setElementOrder/"+k], patch[k] = order, items
	}
}

// changeSet adds to a patch the change of a set of strings.
func changeSet(patch map[string]any, k string, original, wanted, now []any) {
	has := func(list []any, v any) bool {
		return slices.ContainsFunc(list, func(x any) bool { return object.Equal(x, v) })
	}
	var added, gone []any
	for _, v := range wanted {
		if !has(now, v) {
			added = append(added, v)
		}
	}
	for _, v := range original {
		if !has(wanted, v) {
			gone = append(gone, v)
		}
	}
	if len(added)+len(gone) > 0 {
		patch["$setElementOrder/"+k] = wanted
	}
	if len(added) > 0 {
		patch[k] = added
	}
	if len(gone) > 0 {
		patch["$deleteFromPrimitiveList/"+k] = gone
	}
}

// ContentTypes maps the values of --type to the content types of patches.
var ContentTypes = map[string]string{"json": "application/json-patch+json", "merge": "application/merge-patch+json",
	"strategic": "application/strategic-merge-patch+json", "apply": "application/apply-patch+yaml"}

// Between returns the patch from original to modified and its content type.
func Between(original, modified, current object.Object) (patch map[string]any, contentType string) {
	t := client.TypeOf(current)
	contentType = ContentTypes["strategic"]
	if t == nil {
		contentType = ContentTypes["merge"]
	}
	return changes(original, modified, current, t), contentType
}

// LastApplied is the annotation in which kubectl apply stores the applied object.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Modified returns the object that kubectl apply sends: obj with its own JSON in the last-applied annotation.
func Modified(obj object.Object) object.Object {
	out := Unannotated(obj)
	out.Map("metadata", "annotations")[LastApplied] = string(object.JSON(map[string]any(out))) + "\n"
	return out
}

// Unannotated returns the object that kubectl diff compares: obj with annotations, perhaps none, and without the last-applied one.
func Unannotated(obj object.Object) object.Object {
	out := obj.Copy()
	out.SetDefault(map[string]any{}, "metadata", "annotations")
	out.Remove("metadata", "annotations", LastApplied)
	return out
}

// Original returns the most recently applied object, or nil if there is none.
func Original(live object.Object) object.Object {
	obj, err := object.Parse([]byte(strings.TrimSpace(live.Annotations()[LastApplied])))
	if err != nil {
		return nil
	}
	return obj
}

// Apply applies a patch to an object without a server. kind is a key of ContentTypes. A strategic merge patch of a custom resource
// is applied as a merge patch.
func Apply(obj object.Object, kind string, body []byte) (object.Object, error) {
	doc := object.JSON(map[string]any(obj))
	t := client.TypeOf(obj)
	switch {
	case kind == "json":
		out, _, err := patch.Operations(doc, body)
		if err != nil {
			return nil, err
		}
		return object.Parse(out)
	case kind == "strategic" && t != nil:
		made, s := patch.Strategic(doc, body, t, patch.Warn, true)
		if s != nil {
			return nil, s
		}
		return made.Object, nil
	}
	out, _, s := patch.Merge(doc, body, patch.Warn)
	if s != nil {
		return nil, s
	}
	return object.Parse(out)
}
