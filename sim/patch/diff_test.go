package patch

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// A client that has both states can send the same change as a PUT of the new state or as a strategic merge patch of the difference,
// like kubectl apply. Both must result in the new state, including the order of lists.
func TestStrategicEqualsPut(t *testing.T) {
	for _, typ := range []*schema.Type{
		typeOf(t, "apps", "v1", "Deployment"), typeOf(t, "", "v1", "Pod"), typeOf(t, "", "v1", "Service"), typeOf(t, "", "v1", "ServiceAccount"),
	} {
		for seed := int64(0); seed < 500; seed++ {
			t.Run(fmt.Sprintf("%s/%d", typ.GoType, seed), func(t *testing.T) {
				is := is.New(t)
				g := generator{rand.New(rand.NewSource(seed))}
				from, to := g.object(typ, 0), g.object(typ, 0)
				change := difference(from, to, typ)
				text := object.JSON(change)
				got, s := Strategic(object.JSON(from), text, typ, Warn, true)
				is.Equal(s, nil)
				is.Equal(string(object.JSON(map[string]any(got.Object))), string(object.JSON(to))) // the patch is equivalent to the PUT
				part, s := Strategic(object.JSON(from), text, typ, Warn, false)
				is.Equal(s, nil)
				for _, path := range part.Left {
					v, _ := object.Object(from).Get(path...)
					part.Object.Set(v, path...)
				}
				is.Equal(part.Object, got.Object) // together with the paths that were left out it is the whole
			})
		}
	}
}

// difference returns the strategic merge patch from one object of type t to another.
func difference(from, to map[string]any, t *schema.Type) map[string]any {
	patch := map[string]any{}
	for key := range from {
		if _, ok := to[key]; !ok {
			patch[key] = nil
		}
	}
	for key, want := range to {
		have, ok := from[key]
		if ok && object.Equal(have, want) {
			continue
		}
		patch[key] = object.Copy(want)
		if !ok || t.Kind != schema.Struct {
			continue
		}
		f := t.Field(key)
		switch want := want.(type) {
		case map[string]any:
			patch[key] = difference(have.(map[string]any), want, f.Type)
		case []any:
			if f.PatchStrategy != nil && f.PatchStrategy[0] != "replace" {
				differenceOfLists(patch, f, have.([]any), want)
			}
		}
	}
	return patch
}

// differenceOfLists adds the change of a merged list to patch.
func differenceOfLists(patch map[string]any, f *schema.Field, from, to []any) {
	var order, items, gone []any
	key := func(v any) any {
		if m, ok := v.(map[string]any); ok {
			return m[f.PatchMergeKey]
		}
		return v
	}
	find := func(list []any, v any) any {
		for _, x := range list {
			if key(x) == key(v) {
				return x
			}
		}
		return nil
	}
	for _, v := range to {
		have := find(from, v)
		m, isMap := v.(map[string]any)
		if !isMap {
			order = append(order, v)
			if have == nil {
				items = append(items, v)
			}
			continue
		}
		order = append(order, map[string]any{f.PatchMergeKey: key(v)})
		if have == nil {
			items = append(items, object.Copy(v))
		} else if d := difference(have.(map[string]any), m, f.Type.Elem); len(d) > 0 {
			d[f.PatchMergeKey] = key(v)
			items = append(items, d)
		}
	}
	for _, v := range from {
		if find(to, v) != nil {
			continue
		}
		if _, ok := v.(map[string]any); ok {
			items = append(items, map[string]any{f.PatchMergeKey: key(v), directive: "delete"})
		} else {
			gone = append(gone, v)
		}
	}
	delete(patch, f.Name)
	if len(items) > 0 {
		patch[f.Name] = items
	}
	if len(gone) > 0 {
		patch[deleteFromList+"/"+f.Name] = gone
	}
	if len(from) > 0 {
		patch[setElementOrder+"/"+f.Name] = append([]any{}, order...)
	}
}

// generator generates objects of a type. It uses few different names, so that objects overlap.
type generator struct{ *rand.Rand }

func (g generator) object(t *schema.Type, depth int) map[string]any {
	m := map[string]any{}
	for n := 1 + g.Intn(4); n > 0; n-- {
		f := &t.Fields[g.Intn(len(t.Fields))]
		for try := 0; try < 5 && f.PatchStrategy == nil; try++ {
			f = &t.Fields[g.Intn(len(t.Fields))]
		}
		if v := g.value(f.Type, f.PatchMergeKey, depth+1); v != nil {
			m[f.Name] = v
		}
	}
	return m
}

func (g generator) value(t *schema.Type, key string, depth int) any {
	switch t.Kind {
	case schema.Struct:
		if depth < 6 && len(t.Fields) > 0 {
			return g.object(t, depth)
		}
		return nil
	case schema.Map:
		if t.Elem.Kind != schema.String {
			return nil
		}
		m := map[string]any{}
		for n := g.Intn(3); n > 0; n-- {
			m[g.word()] = g.word()
		}
		return m
	case schema.List:
		return g.list(t, key, depth)
	case schema.Int:
		return int64(g.Intn(4))
	case schema.Bool:
		return g.Intn(2) == 0
	}
	return g.word()
}

// list returns a list without duplicates, of names or of objects with different keys.
func (g generator) list(t *schema.Type, key string, depth int) any {
	if t.Elem.Kind == schema.Struct && depth >= 6 {
		return nil
	}
	items, seen := []any{}, map[any]bool{}
	for n := 1 + g.Intn(4); n > 0; n-- {
		v := g.value(t.Elem, "", depth+1)
		id := v
		if m, ok := v.(map[string]any); ok {
			if id = nil; key != "" {
				id = g.value(t.Elem.Field(key).Type, "", depth)
				m[key] = id
			}
		}
		if id == nil && key != "" || id != nil && seen[id] || v == nil {
			continue
		}
		seen[id] = true
		items = append(items, v)
	}
	if len(items) == 0 {
		return nil
	}
	return items
}

func (g generator) word() string { return string(rune('a' + g.Intn(5))) }
