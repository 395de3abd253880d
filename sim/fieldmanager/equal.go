package fieldmanager

import (
	"maps"
	"slices"

	"github.com/kubesim/kubesim/sim/schema"
)

// equal reports whether two values have the same JSON, apart from the order of keys.
func (d *differ) equal(s *shape, a, b any) bool { return d.same(s, a, b, false) }

// same is equal with the option inList, for values in a list. The real server compares Go values in lists in memory
// (structured-merge-diff's listReflect), where [] differs from an absent list.
func (d *differ) same(s *shape, a, b any, inList bool) bool {
	if (a == nil) != (b == nil) {
		return false // null is not {} or []
	}
	switch s.kind {
	case structure:
		if isMapOrNull(a) && isMapOrNull(b) {
			return d.sameFields(s, a, b, inList)
		}
	case dictionary:
		if isMapOrNull(a) && isMapOrNull(b) {
			return d.sameKeys(s, a, b, inList)
		}
	case list, set, listMap:
		if isListOrNull(a) && isListOrNull(b) {
			x, _ := a.([]any)
			y, _ := b.([]any)
			return d.equalLists(s, x, y)
		}
	}
	return equalValues(a, b)
}

// mayBeEmpty reports whether the field of a Go struct is a list or map that is omitted if it is empty.
func (f *member) mayBeEmpty() bool {
	switch f.shape.kind {
	case list, set, listMap, dictionary:
		return f.show == schema.NotEmpty && !f.pointer
	}
	return false
}

func (d *differ) sameFields(s *shape, aAny, bAny any, inList bool) bool {
	a, _ := aAny.(map[string]any)
	b, _ := bAny.(map[string]any)
	typed := s.typed
	for i := range s.fields {
		f := &s.fields[i]
		x, inA := f.in(a, typed)
		y, inB := f.in(b, typed)
		if inList && typed && f.mayBeEmpty() {
			x, y, inA, inB = a[f.name], b[f.name], true, true
		}
		if inA != inB || inA && !d.same(f.shape, x, y, inList) {
			return false
		}
	}
	if s.elem == nil {
		return true
	}
	return d.sameKeys(s, aAny, bAny, inList)
}

// sameKeys reports whether two objects have the same undeclared fields with equal values.
func (d *differ) sameKeys(s *shape, aAny, bAny any, inList bool) bool {
	a, _ := aAny.(map[string]any)
	b, _ := bAny.(map[string]any)
	for name, x := range a { // order does not matter
		if s.field(name) != nil {
			continue
		}
		if y, ok := b[name]; !ok || !d.same(s.elem, x, y, inList) {
			return false
		}
	}
	for name := range b { // order does not matter
		if _, ok := a[name]; !ok && s.field(name) == nil {
			return false
		}
	}
	return true
}

func (d *differ) equalLists(s *shape, a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !d.same(s.elem, a[i], b[i], true) {
			return false
		}
	}
	return true
}

// equalValues compares values without a shape. 1 and 1.0 are equal.
func equalValues(a, b any) bool {
	switch x := a.(type) {
	case int64:
		if y, ok := b.(float64); ok {
			return float64(x) == y
		}
	case float64:
		if y, ok := b.(int64); ok {
			return x == float64(y)
		}
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, equalValues)
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equalValues)
	}
	return !isContainer(b) && a == b
}

func isContainer(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}
