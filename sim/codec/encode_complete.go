package codec

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Complete makes obj what reading its printed form would give: it adds the zero values that are always printed and
// removes what Append would not print. With a nil t it does nothing.
func Complete(obj object.Object, t *schema.Type) {
	if t != nil {
		completeStruct(obj, t)
	}
}

func completeStruct(m map[string]any, t *schema.Type) {
	for i := range t.Fields {
		f := &t.Fields[i]
		v := m[f.Name]
		if !shown(f, v) {
			delete(m, f.Name)
			continue
		}
		m[f.Name] = complete(stored(f, v), f.Type, f.Pointer)
	}
	for name := range m { // order does not matter
		if t.Field(name) == nil {
			delete(m, name)
		}
	}
}

func complete(v any, t *schema.Type, pointer bool) any {
	if v == nil && !pointer {
		v = zero(t)
	}
	switch x := v.(type) {
	case object.Object:
		return complete(map[string]any(x), t, pointer)
	case map[string]any:
		switch {
		case t.Kind == schema.Struct:
			completeStruct(x, t)
		case t.Kind == schema.Any && t.Elem != nil:
			completeStruct(x, t.Elem)
		case t.Kind == schema.Map:
			for k, e := range x { // order does not matter
				x[k] = complete(e, t.Elem, t.ElemPointer)
			}
		}
	case []any:
		if t.Elem != nil && (t.Kind == schema.List || t.Kind == schema.Any) {
			for i, e := range x {
				x[i] = complete(e, t.Elem, t.ElemPointer)
			}
		}
	}
	return v
}
