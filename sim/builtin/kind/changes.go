package kind

import (
	"maps"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/schema"
)

// comparison is how the API server compares a sent value with the stored one.
type comparison bool

const (
	// Semantically is apiequality.Semantic.DeepEqual: empty and missing lists and maps are the same.
	Semantically comparison = false
	// Literally is reflect.DeepEqual: an empty list or map in the request differs from a missing one. Stored objects have no empty ones.
	Literally comparison = true
)

// Changes makes the Strategy.SpecChanged of a kind whose objects have a type.
type Changes func(typ func() *schema.Type) func(obj, old object.Object) bool

// Of returns Changes that compare top-level fields.
func (c comparison) Of(names ...string) Changes {
	return func(typ func() *schema.Type) func(obj, old object.Object) bool {
		return func(obj, old object.Object) bool {
			for _, name := range names {
				value, before := obj[name], old[name]
				if c == Semantically && object.Equal(value, before) {
					continue // most updates leave it as it is
				}
				if !c.sameField(typ().Field(name), value, before) {
					return true
				}
			}
			return false
		}
	}
}

// sameField compares two values of a field: a missing value that is no pointer is the zero value of its type.
func (c comparison) sameField(f *schema.Field, value, old any) bool {
	if f.Pointer && (value == nil || old == nil) {
		return value == nil && old == nil
	}
	return c.same(f.Type, value, old)
}

func (c comparison) same(t *schema.Type, value, old any) bool {
	switch t.Kind {
	case schema.Struct:
		x, _ := value.(map[string]any)
		y, _ := old.(map[string]any)
		for i := range t.Fields {
			if f := &t.Fields[i]; !c.sameField(f, x[f.Name], y[f.Name]) {
				return false
			}
		}
		return true
	case schema.List:
		x, _ := value.([]any)
		y, _ := old.([]any)
		return !c.emptied(value, len(x)) && slices.EqualFunc(x, y, func(a, b any) bool {
			return (!t.ElemPointer || (a == nil) == (b == nil)) && c.same(t.Elem, a, b)
		})
	case schema.Map:
		x, _ := value.(map[string]any)
		y, _ := old.(map[string]any)
		return !c.emptied(value, len(x)) && maps.EqualFunc(x, y, func(a, b any) bool { return c.same(t.Elem, a, b) })
	case schema.Quantity:
		x, errX := quantity.Parse(textOrZero(value))
		y, errY := quantity.Parse(textOrZero(old))
		return errX == nil && errY == nil && x.Cmp(y) == 0
	case schema.Any:
		return object.Equal(value, old)
	}
	return object.Blank(value) && object.Blank(old) || object.Equal(value, old)
}

// emptied reports whether a list or map was sent empty, which counts when everything does.
func (c comparison) emptied(value any, n int) bool { return c == Literally && value != nil && n == 0 }

func textOrZero(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return "0"
}
