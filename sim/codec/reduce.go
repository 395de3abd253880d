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
//
// old is nil or an earlier state of the object, reduced: where obj is as it was, it gets the parts of old.
func Reduce(obj, old object.Object, t *schema.Type) bool {
	r := reduction{exact: true}
	switch {
	case t != nil:
		r.structure(obj, old, t)
	case old == nil:
		r.check(map[string]any(obj))
	default:
		for name, v := range obj { // order does not matter
			if !taken(obj, old, name, v) {
				r.check(v)
			}
		}
	}
	return r.exact
}

// taken replaces a part of m by that of old if they are equal.
func taken(m, old map[string]any, name string, v any) bool {
	was := old[name]
	switch v.(type) {
	case map[string]any, []any:
		if was != nil && object.Equal(v, was) {
			m[name] = was
			return true
		}
	}
	return false
}

// reduction is one walk over an object.
type reduction struct{ exact bool }

// structure reduces the fields of a Go struct. old is nil or its earlier state.
func (r *reduction) structure(m, old map[string]any, t *schema.Type) {
	known := 0
	for i := range t.Fields {
		f := &t.Fields[i]
		v, ok := m[f.Name]
		if n, whole := v.(int64); whole && f.Type.Kind == schema.Float {
			v = float64(n) // printed as 1, and read by who does not know the type
			m[f.Name] = v
		}
		if old != nil && taken(m, old, f.Name, v) {
			known++
			continue
		}
		is := r.field(f, v, old[f.Name])
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

// field returns the reduced value of a field that has v and had old, nil for one that is left out.
func (r *reduction) field(f *schema.Field, v, old any) any {
	switch {
	case !shown(f, v) || v == nil && f.Pointer:
		return nil
	case v == nil:
		v = Zero(f.Type)
	case !f.Pointer && (f.Type.Kind == schema.List || f.Type.Kind == schema.Map) && object.Blank(v):
		return nil
	}
	r.value(v, old, f.Type)
	if !f.Pointer && needless(f, v) {
		return nil
	}
	return v
}

// value reduces what is below a value of type t that was old.
func (r *reduction) value(v, old any, t *schema.Type) {
	switch x := v.(type) {
	case string:
		r.text(x)
	case map[string]any:
		switch {
		case t.Kind == schema.Struct:
			was, _ := old.(map[string]any)
			r.structure(x, was, t)
		case t.Kind == schema.Any && t.Elem != nil:
			r.structure(x, nil, t.Elem)
		case t.Kind == schema.Map:
			for k, e := range x { // order does not matter
				r.text(k)
				if e == nil && !t.ElemPointer {
					if e = Zero(t.Elem); e != nil {
						x[k] = e
					}
				}
				r.value(e, nil, t.Elem)
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
				if e = Zero(t.Elem); e != nil {
					x[i] = e
				}
			}
			r.value(e, nil, t.Elem)
		}
	case int64:
		r.exact = r.exact && t.Kind != schema.Float
	case float64:
		r.exact = r.exact && (t.Kind == schema.Float || x != math.Trunc(x))
	default:
		r.check(v)
	}
}

// check looks for what is not read back as it is: numbers of other types, whole numbers in a float, broken UTF-8, raw
// values that are shown in another form.
func (r *reduction) check(v any) {
	switch x := v.(type) {
	case nil, bool, int64:
	case object.Raw:
		r.exact = r.exact && string(object.JSON(x)) == string(x)
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
