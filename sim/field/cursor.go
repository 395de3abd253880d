package field

import (
	"iter"
	"sync"

	"github.com/kubesim/kubesim/sim/object"
)

// Cursor is a place in an object that is being validated: the value there, its path, the value that the stored object has
// there, and the list of errors, which all cursors share that come from one.
//
//	at := field.CursorAt(obj, old, "spec")
//	at.Child("provisioner").Required().Check(field.QualifiedName)
//	at.Child("reclaimPolicy").OneOf("Delete", "Retain").Immutable()
//	for term := range at.Each("allowedTopologies") {
//		term.Child("weight").OrZero().Positive()
//	}
//	return at.Errors()
//
// Errors are listed in the order in which they are found. A check skips a value that is absent or null, like a field that is a nil
// pointer in the real server. A field that is not a pointer there has the zero value of its type when it is absent: OrEmpty and
// OrZero read it so, IfGiven leaves its zero value unchecked, and Required reports it. Methods that check return the cursor, for
// further checks.
//
// A Cursor is one word, and cheap to make: it names a place that stands among others in one piece of memory. Paths, and the
// values that are stored, are only looked for when a check asks for them.
type Cursor struct{ at *place }

// reports holds unused reports, whose places are empty.
var reports = sync.Pool{New: func() any { return &report{} }}

// first returns a cursor at the first place of an empty report. was is the stored object, or nil.
func (r *report) first(base string, value any, was object.Object) Cursor {
	r.base = base
	c := Cursor{r.place(nil)}
	c.at.value = value
	c.at.store(was)
	return c
}

// Collect calls check with a cursor at an object, and returns the errors. old is the stored object that is updated, nil on create. No
// cursor may be used after that: their memory, a quarter of the bytes that the update of a pod allocates, is used for the next object.
func Collect(obj, old object.Object, check func(Cursor)) ErrorList {
	r := reports.Get().(*report)
	check(r.first("", map[string]any(obj), old))
	errs := r.errs
	clear(r.places)
	if r.errs, r.places = nil, r.places[:0]; cap(r.places) <= placesMax {
		reports.Put(r)
	}
	return errs
}

// CursorAt returns a cursor with an empty list of errors at a field of an object, or at the object itself. old is the stored
// object that is updated, nil on create.
func CursorAt(obj, old object.Object, names ...string) Cursor {
	return (&report{}).first("", map[string]any(obj), old).Child(names...)
}

// CursorOn returns a cursor with an empty list of errors at a value of which the path is known.
func CursorOn(p Path, value any) Cursor { return (&report{}).first(p.text(), plain(value), nil) }

// plain returns an Object as the map that it is.
func plain(value any) any {
	if o, ok := value.(object.Object); ok {
		return map[string]any(o)
	}
	return value
}

// Errors returns the errors of the object so far.
func (c Cursor) Errors() ErrorList { return c.at.report.errs }

// Child returns a cursor at a field, or at a field of a field.
func (c Cursor) Child(names ...string) Cursor {
	for _, name := range names {
		c = c.enter(name, toField)
	}
	return c
}

// Key returns a cursor at an entry of a map, which is printed as [key].
func (c Cursor) Key(key string) Cursor { return c.enter(key, toKey) }

// enter returns a cursor at a member of the object where the cursor is.
func (c Cursor) enter(name string, s move) Cursor {
	p := c.at.report.place(c.at)
	p.name, p.move = name, s
	if m, ok := c.at.value.(map[string]any); ok {
		p.value = m[name]
	}
	return Cursor{p}
}

// Index returns a cursor at an item of a list. It has no old value, as that of Each.
func (c Cursor) Index(i int) Cursor {
	list, _ := c.at.value.([]any)
	if i < len(list) {
		return c.item(i, list[i])
	}
	return c.item(i, nil)
}

// item returns a cursor at an item of the list where the cursor is.
func (c Cursor) item(i int, value any) Cursor {
	p := c.at.report.place(c.at)
	p.value, p.move, p.stored = value, toItem+move(i), nothing
	return Cursor{p}
}

// same returns a cursor at the same place with another value.
func (c Cursor) same(value any) Cursor {
	p := c.at.report.place(c.at)
	p.value = value
	return Cursor{p}
}

// With returns a cursor at the same place with another value, of which nothing is stored.
func (c Cursor) With(value any) Cursor {
	c = c.same(plain(value))
	c.at.stored = nothing
	return c
}

// Was returns a cursor at the same place with another stored object, or nil if there is none.
func (c Cursor) Was(old object.Object) Cursor {
	c = c.same(c.at.value)
	c.at.store(old)
	return c
}

// Each returns cursors at the items of a list at a field, or at the list where the cursor is. An item that is null is an
// empty object. Items have no old values: those of the stored list may be others.
func (c Cursor) Each(names ...string) iter.Seq[Cursor] {
	return func(yield func(Cursor) bool) {
		value := c.get(names)
		list, _ := value.([]any)
		if len(list) == 0 {
			return
		}
		at := c.reach(names, value)
		for i, item := range list {
			if item == nil {
				item = map[string]any{}
			}
			if !yield(at.item(i, item)) {
				return
			}
		}
	}
}

// reach returns a cursor at a field of which the value is known.
func (c Cursor) reach(names []string, value any) Cursor {
	if len(names) == 0 {
		return c
	}
	last := len(names) - 1
	c = c.Child(names[:last]...)
	p := c.at.report.place(c.at)
	p.value, p.name, p.move = value, names[last], toField
	return Cursor{p}
}

// EachKey returns cursors at the entries of a map at a field, or at the map where the cursor is, sorted by key.
func (c Cursor) EachKey(names ...string) iter.Seq2[string, Cursor] {
	return func(yield func(string, Cursor) bool) {
		m, _ := c.get(names).(map[string]any)
		if len(m) == 0 {
			return
		}
		at := c.reach(names, m)
		for _, key := range object.SortedKeys(m) {
			if !yield(key, at.Key(key)) {
				return
			}
		}
	}
}

// ReportAt returns a cursor at the same value that reports errors at another place, as some rules of the real server do.
func (c Cursor) ReportAt(other Cursor) Cursor {
	shown := other.same(c.at.value)
	shown.at.stored, shown.at.other = elsewhere, c.at
	return shown
}

// Path returns the path of a field, or of the place where the cursor is.
func (c Cursor) Path(names ...string) Path { return c.at.path().Child(names...) }

// Value returns the value, nil where it is absent or null.
func (c Cursor) Value() any { return c.at.value }

// Object returns the value as an object, nil if it is none.
func (c Cursor) Object() object.Object {
	m, _ := c.at.value.(map[string]any)
	return m
}

// Old returns the stored value as an object, nil if it is none, or on create.
func (c Cursor) Old() object.Object {
	m, _ := c.at.old().(map[string]any)
	return m
}

// Has reports whether there is something other than null at a field, or where the cursor is.
func (c Cursor) Has(names ...string) bool { return c.get(names) != nil }

// String returns the string at a field, or where the cursor is; "" if it is none.
func (c Cursor) String(names ...string) string {
	s, _ := c.get(names).(string)
	return s
}

// Int returns the integer at a field, or where the cursor is, and whether there is one.
func (c Cursor) Int(names ...string) (n int64, ok bool) {
	n, ok = c.get(names).(int64)
	return n, ok
}

// Int64 returns the integer at a field, or where the cursor is; 0 if it is none.
func (c Cursor) Int64(names ...string) int64 {
	n, _ := c.Int(names...)
	return n
}

// True reports whether true is at a field, or where the cursor is.
func (c Cursor) True(names ...string) bool { return c.get(names) == true }

// Len returns how many items or members the list or object at a field, or where the cursor is, has.
func (c Cursor) Len(names ...string) int {
	switch v := c.get(names).(type) {
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

// List returns the list at a field, or where the cursor is; nil if it is none.
func (c Cursor) List(names ...string) []any {
	list, _ := c.get(names).([]any)
	return list
}

// Strings returns the strings in the list at a field, or where the cursor is.
func (c Cursor) Strings(names ...string) []string {
	return object.Strings(c.List(names...))
}

func (c *Cursor) get(names []string) any {
	v := c.at.value
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}
