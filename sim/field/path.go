package field

import "strconv"

// Path is the path of a field inside an object, as the API server prints it in errors: spec.containers[0].name,
// metadata.labels[app]. The zero value is the object itself. A Path is a value: appending to it makes a new one.
type Path string

// Root returns the path of a top-level field.
func Root(name string) Path { return Path(name) }

// Child returns the path of the field name below p, and of further names below that.
func (p Path) Child(names ...string) Path {
	for _, name := range names {
		if p == "" {
			p = Path(name)
		} else {
			p = p + "." + Path(name) // one sum, so one new string
		}
	}
	return p
}

// Index returns the path of element i of the list at p.
func (p Path) Index(i int) Path { return p + "[" + Path(strconv.Itoa(i)) + "]" }

// Key returns the path of the entry key of the map at p.
func (p Path) Key(key string) Path { return p + "[" + Path(key) + "]" }

// String returns the path as printed in errors; the empty path prints as <nil>.
func (p Path) String() string {
	if p == "" {
		return "<nil>"
	}
	return string(p)
}
