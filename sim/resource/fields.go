package resource

import "github.com/kubesim/kubesim/sim/object"

// Field is a string field of an object that a field selector can use.
type Field struct {
	Name string // status.phase
	Text func(obj object.Object) string
}

// FieldAt returns a Field with the name whose value is the string at the path.
func FieldAt(name string, path ...string) Field {
	return Field{name, func(obj object.Object) string { return obj.String(path...) }}
}

// Fields are the selectable fields of one resource.
type Fields []Field

// Text returns the value of the named field, or "" if there is no such field.
func (f Fields) Text(name string, obj object.Object) string {
	for _, one := range f {
		if one.Name == name {
			return one.Text(obj)
		}
	}
	return ""
}
