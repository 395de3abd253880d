package gotext

import (
	"bytes"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// Same reports whether two structs are equal as the server compares them in memory: empty and missing lists and maps
// are the same, and so are zero and missing values that are no pointers; an empty struct and a nil pointer are not.
// Quantities are compared by their amount, so 1Gi and 1073741824 are the same. It is asked on every update of a pod.
func Same(t Type, a, b object.Object) bool {
	if t == PodSpec {
		a, b = inMemory(a), inMemory(b)
	}
	for i := range goTypes()[t] {
		f := &goTypes()[t][i]
		switch {
		case f.elem == "ObjectMeta":
			if !bytes.Equal(appendMeta(nil, a.Map("metadata")), appendMeta(nil, b.Map("metadata"))) {
				return false
			}
		case f.name == "":
			if !Same(f.elem, a, b) {
				return false
			}
		case !f.same(a[f.json], b[f.json]):
			return false
		}
	}
	return true
}

// SameList reports whether two lists of structs are equal as Same compares them.
func SameList(t Type, a, b any) bool {
	f := goField{kind: '.', elem: t, list: true}
	return f.same(a, b)
}

// SpecChanged returns a SpecChanged for kinds whose spec is the struct t. Most updates leave the spec as it is.
func SpecChanged(t Type) func(obj, old object.Object) bool {
	return func(obj, old object.Object) bool {
		return !object.Equal(obj["spec"], old["spec"]) && !Same(t, obj.At("spec"), old.At("spec"))
	}
}

// same compares two values of a field.
func (f *goField) same(a, b any) bool {
	switch {
	case f.list:
		a, _ := a.([]any)
		b, _ := b.([]any)
		return slices.EqualFunc(a, b, f.sameValue)
	case f.dict:
		a, _ := a.(map[string]any)
		b, _ := b.(map[string]any)
		return len(a) == len(b) && f.sameDict(a, b)
	case f.pointer && (a == nil || b == nil):
		return a == nil && b == nil
	}
	return f.sameValue(a, b)
}

// sameDict compares two maps that have as many keys.
func (f *goField) sameDict(a, b map[string]any) bool {
	for key, x := range a {
		if y, ok := b[key]; !ok || !f.sameValue(x, y) {
			return false
		}
	}
	return true
}

// sameValue compares two values that are no nil pointers: an absent one is the zero value of its kind.
func (f *goField) sameValue(a, b any) bool {
	if f.kind != '.' {
		x, y := f.orZero(a), f.orZero(b)
		return object.Equal(x, y) || f.kind == 'q' && quantity.Of(x).Cmp(quantity.Of(y)) == 0
	}
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	if f.elem == "LabelSelector" {
		return bytes.Equal(LabelSelector(x), LabelSelector(y))
	}
	return Same(f.elem, x, y)
}
