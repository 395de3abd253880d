package schema

import "github.com/kubesim/kubesim/sim/object"

// Raw returns where objects of type t have a RawExtension, nil if nowhere. It walks over the whole type. A type inside
// itself is taken to have none there.
func (t *Type) Raw() *object.Places { return t.raw(map[*Type]bool{}) }

// raw is Raw for a type inside others.
func (t *Type) raw(outer map[*Type]bool) *object.Places {
	if t == nil || outer[t] {
		return nil
	}
	outer[t] = true
	defer delete(outer, t)
	var at object.Places
	switch t.Kind {
	case RawExtension:
		at.Raw = true
	case Struct:
		for i := range t.Fields {
			f := &t.Fields[i]
			if in := f.Type.raw(outer); in != nil {
				if at.Fields == nil {
					at.Fields = map[string]*object.Places{}
				}
				at.Fields[f.Name] = in
			}
		}
	case List, Map:
		at.Elem = t.Elem.raw(outer)
	}
	if !at.Raw && at.Fields == nil && at.Elem == nil {
		return nil
	}
	return &at
}
