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
// Errors are listed in the order in which they are found. A check says nothing about a value that is absent or null, as a
// field is that is a nil pointer in the real server. A field that is no pointer there has the zero value of its type when
// it is absent: OrEmpty and OrZero read it so, IfGiven leaves its zero value unchecked, and Required reports it.
// Methods that check return the cursor, for further checks.
//
// A Cursor is a value, and cheap to make: it fits into registers, paths are only made for errors, and only the objects that
// cursors come to are noted in memory.
type Cursor struct {
	value, old any // nil: absent or null; old may be unknown
	report     *report
	place      int32  // the object in which the cursor is,
	move       move   // how it came from there,
	name       string // and by which name
}

// unknown is the old value where there is nothing to compare with: on create, and in the items of lists.
type unknown struct{}

// A move leads from an object to a field or an entry, or to an item of a list there. The upper bits count items from 1.
type move uint32

const (
	stay     move = iota // to the place itself
	toField              // .name
	toKey                // [name]
	stepBits = iota - 1
)

func (s move) item(i int) move { return s | move(i+1)<<stepBits }

// report is what the cursors share that come from one: the errors, and the places of objects. The first place is where the
// first cursor is.
type report struct {
	errs   ErrorList
	base   string
	places []place
}

// place is an object that a cursor has come to.
type place struct {
	up   int32
	move move
	name string
}

// reports are those that nobody needs any more, whose places have room.
var reports = sync.Pool{New: func() any { return &report{} }}

func newCursor(base string, value, old any) Cursor {
	r := reports.Get().(*report)
	*r = report{base: base, places: append(r.places[:0], place{})}
	return Cursor{value: value, old: old, report: r}
}

// Done returns the errors, and ends the use of all cursors that came from the first one: their memory is used again. Where
// every object is validated that saves a twentieth of what a write allocates.
func (c Cursor) Done() ErrorList {
	errs := c.report.errs
	reports.Put(c.report)
	return errs
}

// CursorAt returns a cursor with an empty list of errors at a field of an object, or at the object itself. old is the stored
// object that is updated, nil on create.
func CursorAt(obj, old object.Object, names ...string) Cursor {
	if old == nil {
		return newCursor("", map[string]any(obj), unknown{}).Child(names...)
	}
	return newCursor("", map[string]any(obj), map[string]any(old)).Child(names...)
}

// CursorOn returns a cursor with an empty list of errors at a value of which the path is known.
func CursorOn(p Path, value any) Cursor {
	if o, ok := value.(object.Object); ok {
		value = map[string]any(o)
	}
	return newCursor(p.text(), value, unknown{})
}

// Errors returns what is wrong with the object so far.
func (c Cursor) Errors() ErrorList { return c.report.errs }

// Child returns a cursor at a field, or at a field of a field.
func (c Cursor) Child(names ...string) Cursor {
	for _, name := range names {
		c.enter(name, toField)
	}
	return c
}

// Key returns a cursor at an entry of a map, which is printed as [key].
func (c Cursor) Key(key string) Cursor {
	c.enter(key, toKey)
	return c
}

// enter moves the cursor to a member of the object where it is. An object there is noted at once: most cursors at objects go
// on to several of their members.
func (c *Cursor) enter(name string, s move) {
	c.note()
	m, _ := c.value.(map[string]any)
	c.value = m[name]
	switch old := c.old.(type) {
	case map[string]any:
		c.old = old[name]
	case unknown:
	default:
		c.old = nil
	}
	c.name, c.move = name, s
	if _, ok := c.value.(map[string]any); ok {
		c.note()
	}
}

// Index returns a cursor at an item of a list. It has no old value, as that of Each.
func (c Cursor) Index(i int) Cursor {
	if c.move > toKey { // a list in a list
		c.note()
	}
	list, _ := c.value.([]any)
	c.value, c.old, c.move = nil, unknown{}, c.move.item(i)
	if i < len(list) {
		c.value = list[i]
	}
	return c
}

// With returns a cursor at the same place with another value, of which nothing is stored.
func (c Cursor) With(value any) Cursor {
	if o, ok := value.(object.Object); ok {
		value = map[string]any(o)
	}
	c.value, c.old = value, unknown{}
	return c
}

// Was returns a cursor at the same place with another stored object; nil: there is none.
func (c Cursor) Was(old object.Object) Cursor {
	if old == nil {
		c.old = unknown{}
	} else {
		c.old = map[string]any(old)
	}
	return c
}

// note gives the cursor a place of its own.
func (c *Cursor) note() {
	if c.move != stay {
		r := c.report
		r.places = append(r.places, place{c.place, c.move, c.name})
		c.place, c.move = int32(len(r.places)-1), stay
	}
}

// Each returns cursors at the items of a list at a field, or at the list where the cursor is. An item that is null is an
// empty object. Items have no old values: those of the stored list may be others.
func (c Cursor) Each(names ...string) iter.Seq[Cursor] {
	return func(yield func(Cursor) bool) {
		list, _ := c.get(names).([]any)
		if len(list) == 0 {
			return
		}
		at := c.Child(names...)
		if at.move > toKey { // a list in a list
			at.note()
		}
		at.old = unknown{}
		for i, item := range list {
			one := at
			if one.value, one.move = item, at.move.item(i); item == nil {
				one.value = map[string]any{}
			}
			if _, ok := one.value.(map[string]any); ok {
				one.note()
			}
			if !yield(one) {
				return
			}
		}
	}
}

// EachKey returns cursors at the entries of a map at a field, or at the map where the cursor is, sorted by key.
func (c Cursor) EachKey(names ...string) iter.Seq2[string, Cursor] {
	return func(yield func(string, Cursor) bool) {
		m, _ := c.get(names).(map[string]any)
		if len(m) == 0 {
			return
		}
		at := c.Child(names...)
		for _, key := range object.SortedKeys(m) {
			if !yield(key, at.Key(key)) {
				return
			}
		}
	}
}

// ReportAt returns a cursor at the same value that reports errors at another place, as some rules of the real server do.
func (c Cursor) ReportAt(other Cursor) Cursor {
	c.report, c.place, c.move, c.name = other.report, other.place, other.move, other.name
	return c
}

// Path returns the path of a field, or of the place where the cursor is.
func (c Cursor) Path(names ...string) Path {
	p := c.report.path(c.place)
	p.walk(c.name, c.move)
	return p.Child(names...)
}

func (r *report) path(i int32) Path {
	if i == 0 {
		return Root(r.base)
	}
	at := &r.places[i]
	p := r.path(at.up)
	p.walk(at.name, at.move)
	return p
}

func (p *Path) walk(name string, s move) {
	switch s & (1<<stepBits - 1) {
	case toField:
		*p = p.Child(name)
	case toKey:
		*p = p.Key(name)
	}
	if i := int(s >> stepBits); i > 0 {
		*p = p.Index(i - 1)
	}
}

// Value returns the value, nil where it is absent or null.
func (c Cursor) Value() any { return c.value }

// Object returns the value as an object, nil if it is none.
func (c Cursor) Object() object.Object {
	m, _ := c.value.(map[string]any)
	return m
}

// Old returns the stored value as an object, nil if it is none, or on create.
func (c Cursor) Old() object.Object {
	m, _ := c.old.(map[string]any)
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
	v := c.value
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}
