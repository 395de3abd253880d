package resource

import "github.com/kubesim/kubesim/sim/object"

// Field is a text of an object that field selectors can select.
type Field struct {
	Name string // status.phase
	Text func(obj object.Object) string
}

// FieldAt is a field whose text is the string at a path.
func FieldAt(name string, path ...string) Field {
	return Field{name, func(obj object.Object) string { return obj.String(path...) }}
}

// Fields are the selectable fields of one resource.
type Fields []Field

// Text returns the text of the field with a name, or "" if there is none.
func (f Fields) Text(name string, obj object.Object) string {
	for _, one := range f {
		if one.Name == name {
			return one.Text(obj)
		}
	}
	return ""
}
