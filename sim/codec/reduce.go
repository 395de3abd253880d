package codec

import (
	"math"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Reduce makes obj what DecodeJSON returns for its printed form: it removes what Append would not print and what
// reading drops, and adds the zero values that are always printed. A client that sends back what it got has its object
// read in this form, so that the two are alike where nothing was changed.
//
//	{"spec":{"containers":[{"name":"c","resources":{}}]},"status":{}}  as it is stored
//	{"spec":{"containers":[{"name":"c"}]}}                             reduced
//
// Parts that are reduced are not written to, so obj may share them. Reduce reports false when obj has a value that is
// read back as another one; obj is then of no use. With a nil t it only finds that out, for object.Parse. Sets of managed
// fields in obj must not be changed any more: see fieldSets.
func Reduce(obj object.Object, t *schema.Type) bool {
	r := reduction{exact: true}
	if t != nil {
		r.structure(obj, t)
	} else {
		r.check(map[string]any(obj))
	}
	return r.exact
}

// reduction is one walk over an object.
type reduction struct{ exact bool }

// structure reduces the fields of a Go struct.
func (r *reduction) structure(m map[string]any, t *schema.Type) {
	known := 0
	for i := range t.Fields {
		f := &t.Fields[i]
		v, ok := m[f.Name]
		if n, whole := v.(int64); whole && f.Type.Kind == schema.Float {
			v = float64(n) // printed as 1, and read by who does not know the type
			m[f.Name] = v
		}
		is := r.field(f, v)
		switch {
		case is != nil:
			known++
			if v == nil {
				m[f.Name] = is
			}
		case ok:
			delete(m, f.Name)
		}
	}
	if known == len(m) {
		return
	}
	for name := range m { // order does not matter
		if t.Field(name) == nil {
			delete(m, name)
		}
	}
}

// field returns the reduced value of a field that has v, nil for one that is left out.
func (r *reduction) field(f *schema.Field, v any) any {
	switch {
	case !shown(f, v) || v == nil && f.Pointer:
		return nil
	case v == nil:
		v = zero(f.Type)
	case !f.Pointer && (f.Type.Kind == schema.List || f.Type.Kind == schema.Map) && isEmpty(v):
		return nil
	}
	r.value(v, f.Type)
	if !f.Pointer && needless(f, v) {
		return nil
	}
	return v
}

// value reduces what is below a value of type t.
func (r *reduction) value(v any, t *schema.Type) {
	switch x := v.(type) {
	case string:
		r.text(x)
	case map[string]any:
		switch {
		case t.Kind == schema.Struct:
			r.structure(x, t)
		case t.Kind == schema.Any && t.Elem != nil:
			r.structure(x, t.Elem)
		case t.Kind == schema.Map:
			for k, e := range x { // order does not matter
				r.text(k)
				if e == nil && !t.ElemPointer {
					if e = zero(t.Elem); e != nil {
						x[k] = e
					}
				}
				r.value(e, t.Elem)
			}
		case t.Kind == schema.FieldsV1:
			if fieldSets.learn(x) {
				r.check(x)
			}
		default:
			r.check(v)
		}
	case []any:
		if t.Elem == nil || t.Kind != schema.List && t.Kind != schema.Any {
			r.check(v)
			return
		}
		for i, e := range x {
			if e == nil && !t.ElemPointer {
				if e = zero(t.Elem); e != nil {
					x[i] = e
				}
			}
			r.value(e, t.Elem)
		}
	case int64:
		r.exact = r.exact && t.Kind != schema.Float
	case float64:
		r.exact = r.exact && (t.Kind == schema.Float || x != math.Trunc(x))
	default:
		r.check(v)
	}
}

// check looks for what is not read back as it is: numbers of other types, whole numbers in a float, broken UTF-8.
func (r *reduction) check(v any) {
	switch x := v.(type) {
	case nil, bool, int64:
	case string:
		r.text(x)
	case float64:
		r.exact = r.exact && x != math.Trunc(x)
	case map[string]any:
		for k, e := range x { // order does not matter
			r.text(k)
			r.check(e)
		}
	case []any:
		for _, e := range x {
			r.check(e)
		}
	default:
		r.exact = false
	}
}

func (r *reduction) text(s string) { r.exact = r.exact && utf8.ValidString(s) }
