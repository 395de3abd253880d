package field

import (
	"iter"
	"sync"

	"github.com/kubesim/kubesim/sim/object"
)

// Cursor is a position in an object that is being validated. It provides the value at that position, its path, the stored
// value at the same position, and the list of errors, which all cursors derived from one cursor share.
//
//	at := field.CursorAt(obj, old, "spec")
//	at.Child("provisioner").Required().Check(field.QualifiedName)
//	at.Child("reclaimPolicy").OneOf("Delete", "Retain").Immutable()
//	for term := range at.Each("allowedTopologies") {
//		term.Child("weight").OrZero().Positive()
//	}
//	return at.Errors()
//
// Errors are listed in the order in which they are found. A check skips a value that is missing or null, like a field that is a
// nil pointer in the real server. If the field is not a pointer in the real server, a missing value is the zero value of its
// type: OrEmpty and OrZero replace it accordingly, IfGiven skips the checks of a zero value, and Required reports it. The
// checking methods return the cursor for further checks.
//
// A Cursor is one word and cheap to create: it refers to an element of a preallocated slice. Paths and stored values are
// computed only when a check needs them.
type Cursor struct{ at *place }

// reports is a pool of unused reports, whose places are empty.
var reports = sync.Pool{New: func() any { return &report{} }}

// first returns a cursor at the first place of an empty report. was is the stored object, or nil.
func (r *report) first(base string, value any, was object.Object) Cursor {
	r.base = base
	c := Cursor{r.place(nil)}
	c.at.value = value
	c.at.store(was)
	return c
}

// Collect calls check with a cursor at an object, and returns the errors that it reports. On update, old is the stored object; on
// create, it is nil. Cursors must not be used after Collect has returned, because their memory is reused. Without reuse, this
// memory would be a quarter of the bytes that the update of a pod allocates.
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

// CursorAt returns a cursor with an empty list of errors at a field of an object, or at the object itself. On update, old
// is the stored object; on create, it is nil.
func CursorAt(obj, old object.Object, names ...string) Cursor {
	return (&report{}).first("", map[string]any(obj), old).Child(names...)
}

// CursorOn returns a cursor at a value, with an empty list of errors. p is the path of the value.
func CursorOn(p Path, value any) Cursor { return (&report{}).first(p.text(), plain(value), nil) }

// plain converts an Object to a plain map.
func plain(value any) any {
	if o, ok := value.(object.Object); ok {
		return map[string]any(o)
	}
	return value
}

// Errors returns the errors that have been reported so far.
func (c Cursor) Errors() ErrorList { return c.at.report.errs }

// Child returns a cursor at a field of the value. Further names select a field of that field, and so on.
func (c Cursor) Child(names ...string) Cursor {
	for _, name := range names {
		c = c.enter(name, toField)
	}
	return c
}

// Key returns a cursor at an entry of a map. Paths print the entry as [key].
func (c Cursor) Key(key string) Cursor { return c.enter(key, toKey) }

// enter returns a cursor at a member of the object at the cursor.
func (c Cursor) enter(name string, s move) Cursor {
	p := c.at.report.place(c.at)
	p.name, p.move = name, s
	if m, ok := c.at.value.(map[string]any); ok {
		p.value = m[name]
	}
	return Cursor{p}
}

// Index returns a cursor at an item of a list. Like the cursors of Each, it has no old value.
func (c Cursor) Index(i int) Cursor {
	list, _ := c.at.value.([]any)
	if i < len(list) {
		return c.item(i, list[i])
	}
	return c.item(i, nil)
}

// item returns a cursor at an item of the list at the cursor.
func (c Cursor) item(i int, value any) Cursor {
	p := c.at.report.place(c.at)
	p.value, p.move, p.stored = value, toItem+move(i), nothing
	return Cursor{p}
}

// same returns a cursor at the same position, but with another value.
func (c Cursor) same(value any) Cursor {
	p := c.at.report.place(c.at)
	p.value = value
	return Cursor{p}
}

// With returns a cursor at the same position, but with another value and without a stored value.
func (c Cursor) With(value any) Cursor {
	c = c.same(plain(value))
	c.at.stored = nothing
	return c
}

// Was returns a cursor at the same position, but with another stored value. If old is nil, it has no stored value.
func (c Cursor) Was(old object.Object) Cursor {
	c = c.same(c.at.value)
	c.at.store(old)
	return c
}

// Each yields cursors at the items of the list at a field, or at the cursor. A null item counts as an empty object. Items have no
// old values, because the items of the stored list may be different ones.
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

// reach returns a cursor at a field whose value the caller already has.
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

// EachKey yields each key and a cursor at its entry of the map at a field, or at the cursor, sorted by key.
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

// ReportAt returns a cursor at the same value that reports its errors at the position of another cursor, as some rules of the real
// server do.
func (c Cursor) ReportAt(other Cursor) Cursor {
	shown := other.same(c.at.value)
	shown.at.stored, shown.at.other = elsewhere, c.at
	return shown
}

// Path returns the path of the cursor, or of a field below it.
func (c Cursor) Path(names ...string) Path { return c.at.path().Child(names...) }

// Value returns the value. If it is missing or null, Value returns nil.
func (c Cursor) Value() any { return c.at.value }

// Object returns the value as an object, or nil if it is not an object.
func (c Cursor) Object() object.Object {
	m, _ := c.at.value.(map[string]any)
	return m
}

// Old returns the stored value as an object. If there is no stored value, or it is not an object, Old returns nil.
func (c Cursor) Old() object.Object {
	m, _ := c.at.old().(map[string]any)
	return m
}

// Has reports whether the value at a field, or at the cursor, is neither missing nor null.
func (c Cursor) Has(names ...string) bool { return c.get(names) != nil }

// String returns the string at a field, or at the cursor. If there is no string, it returns "".
func (c Cursor) String(names ...string) string {
	s, _ := c.get(names).(string)
	return s
}

// Int returns the integer at a field, or at the cursor. If there is no integer, ok is false.
func (c Cursor) Int(names ...string) (n int64, ok bool) {
	n, ok = c.get(names).(int64)
	return n, ok
}

// Int64 returns the integer at a field, or at the cursor. If there is no integer, it returns 0.
func (c Cursor) Int64(names ...string) int64 {
	n, _ := c.Int(names...)
	return n
}

// True reports whether the value at a field, or at the cursor, is true.
func (c Cursor) True(names ...string) bool { return c.get(names) == true }

// Len returns the length of the list or object at a field, or at the cursor.
func (c Cursor) Len(names ...string) int {
	switch v := c.get(names).(type) {
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

// List returns the list at a field, or at the cursor. If there is no list, it returns nil.
func (c Cursor) List(names ...string) []any {
	list, _ := c.get(names).([]any)
	return list
}

// Strings returns the strings in the list at a field, or at the cursor.
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
