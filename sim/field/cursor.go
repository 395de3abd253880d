package field

import (
	"iter"
	"slices"
	"strings"

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
// A Cursor is a value, and cheap to make: paths are printed only in errors.
type Cursor struct {
	path       Path
	value, old any // nil: absent or null
	updates    bool
	errs       *ErrorList
}

// CursorAt returns a cursor with an empty list of errors at a field of an object, or at the object itself. old is the stored
// object that is updated, nil on create.
func CursorAt(obj, old object.Object, names ...string) Cursor {
	c := Cursor{value: map[string]any(obj), updates: old != nil, errs: new(ErrorList)}
	if c.updates {
		c.old = map[string]any(old)
	}
	return c.Child(names...)
}

// CursorOn returns a cursor with an empty list of errors at a value of which the path is known.
func CursorOn(p Path, value any) Cursor {
	if o, ok := value.(object.Object); ok {
		value = map[string]any(o)
	}
	return Cursor{path: p, value: value, errs: new(ErrorList)}
}

// Errors returns what is wrong with the object so far.
func (c Cursor) Errors() ErrorList { return *c.errs }

// Child returns a cursor at a field, or at a field of a field.
func (c Cursor) Child(names ...string) Cursor {
	for _, name := range names {
		c.path.push(step{name: name})
		c.value, c.old = member(c.value, name), member(c.old, name)
	}
	return c
}

func member(v any, name string) any {
	m, _ := v.(map[string]any)
	return m[name]
}

// Each returns cursors at the items of a list at a field, or at the list where the cursor is. An item that is null is an
// empty object. Items have no old values: those of the stored list may be others.
func (c Cursor) Each(names ...string) iter.Seq[Cursor] {
	return func(yield func(Cursor) bool) {
		at := c.Child(names...)
		list, _ := at.value.([]any)
		at.old, at.updates = nil, false
		p := at.path
		for i, item := range list {
			if at.path, at.value = p.Index(i), item; item == nil {
				at.value = map[string]any{}
			}
			if !yield(at) {
				return
			}
		}
	}
}

// ReportAt returns a cursor at the same value that reports errors at another path, as some rules of the real server do.
func (c Cursor) ReportAt(p Path) Cursor {
	c.path = p
	return c
}

// Path returns the path of a field, or of the place where the cursor is.
func (c Cursor) Path(names ...string) Path { return c.path.Child(names...) }

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
func (c Cursor) Has(names ...string) bool { return c.Child(names...).value != nil }

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

// Strings returns the strings in the list at a field, or where the cursor is.
func (c Cursor) Strings(names ...string) []string {
	list, _ := c.get(names).([]any)
	return object.Strings(list)
}

func (c *Cursor) get(names []string) any {
	v := c.value
	for _, name := range names {
		v = member(v, name)
	}
	return v
}

// OrEmpty reads an absent value as an empty string.
func (c Cursor) OrEmpty() Cursor { return c.or("") }

// OrZero reads an absent value as the number 0.
func (c Cursor) OrZero() Cursor { return c.or(int64(0)) }

func (c Cursor) or(zero any) Cursor {
	if c.value == nil {
		c.value = zero
	}
	if c.old == nil {
		c.old = zero
	}
	return c
}

// IfGiven reads an empty string, 0 or false as an absent value.
func (c Cursor) IfGiven() Cursor {
	if object.Blank(c.value) {
		c.value = nil
	}
	return c
}

// Required reports a value that is absent or empty, with or without a detail. Further checks in the chain are left out then.
func (c Cursor) Required(detail ...string) Cursor {
	if object.Blank(c.value) {
		c.add(Required(c.path, strings.Join(detail, "")))
		c.value = nil
	}
	return c
}

// OneOf checks that a string is among the allowed ones.
func (c Cursor) OneOf(allowed ...string) Cursor {
	if s, ok := c.value.(string); ok && !slices.Contains(allowed, s) {
		c.add(NotSupported(c.path, Enum(s), allowed...))
	}
	return c
}

// Check applies a rule to a string.
func (c Cursor) Check(rule func(string) []string) Cursor {
	if s, ok := c.value.(string); ok {
		c.Report(Messages(c.path, c.value, rule(s)))
	}
	return c
}

// CheckInt applies a rule to a number.
func (c Cursor) CheckInt(rule func(int64) []string) Cursor {
	if n, ok := c.value.(int64); ok {
		c.Report(Messages(c.path, c.value, rule(n)))
	}
	return c
}

// Min checks that a number is at least lo; detail says what is wrong otherwise.
func (c Cursor) Min(lo int64, detail string) Cursor {
	n, ok := c.value.(int64)
	return c.InvalidIf(ok && n < lo, detail)
}

// Max checks that a number is at most hi; detail says what is wrong otherwise.
func (c Cursor) Max(hi int64, detail string) Cursor {
	n, ok := c.value.(int64)
	return c.InvalidIf(ok && n > hi, detail)
}

// Range checks that a number lies between lo and hi; both are allowed.
func (c Cursor) Range(lo, hi int64) Cursor {
	if n, ok := c.value.(int64); ok && (n < lo || n > hi) {
		c.Invalid(c.value, RangeText(lo, hi))
	}
	return c
}

// NonNegative checks that a number is not negative.
func (c Cursor) NonNegative() Cursor { return c.Min(0, TextNonNegative) }

// Positive checks that a number is greater than zero.
func (c Cursor) Positive() Cursor { return c.Min(1, TextPositive) }

// MaxBytes checks that a string has at most limit bytes.
func (c Cursor) MaxBytes(limit int) Cursor {
	if s, ok := c.value.(string); ok && len(s) > limit {
		c.add(TooLong(c.path, limit))
	}
	return c
}

// MaxItems checks that a list has at most limit items. Further checks in the chain are left out if it has more.
func (c Cursor) MaxItems(limit int) Cursor {
	if n := c.Len(); n > limit {
		c.add(TooMany(c.path, n, limit))
		c.value = nil
	}
	return c
}

// Unique reports a string that was seen before, as a duplicate.
func (c Cursor) Unique(seen Seen) Cursor {
	s := c.String()
	if seen[s] {
		c.add(Duplicate(c.path, s))
	}
	seen[s] = true
	return c
}

// Seen are the strings that Unique has seen.
type Seen map[string]bool

// Changed reports whether this is an update and the value is another one than what is stored; null, {} and [] count as absent.
func (c Cursor) Changed() bool { return c.updates && !object.SemanticEqual(c.value, c.old) }

// Updates reports whether this is an update of something stored.
func (c Cursor) Updates() bool { return c.updates }

// Immutable checks on update that the value has not changed, and prints it as one of a named type.
func (c Cursor) Immutable() Cursor {
	if !c.Changed() {
		return c
	}
	if s, ok := c.value.(string); ok {
		return c.Invalid(Enum(s), TextImmutable)
	}
	return c.Invalid(c.value, TextImmutable)
}

// InvalidIf reports the value if it is broken; detail names the rule.
func (c Cursor) InvalidIf(broken bool, detail string) Cursor {
	if broken {
		c.add(Invalid(c.path, c.value, detail))
	}
	return c
}

// ForbidIf reports a field that may not be set, or not be changed, here.
func (c Cursor) ForbidIf(broken bool, detail string) Cursor {
	if broken {
		c.add(Forbidden(c.path, detail))
	}
	return c
}

// RequireIf reports a missing value.
func (c Cursor) RequireIf(missing bool, detail string) Cursor {
	if missing {
		c.add(Required(c.path, detail))
	}
	return c
}

// Invalid reports a value that breaks a rule; detail names the rule.
func (c Cursor) Invalid(value any, detail string) Cursor {
	return c.add(Invalid(c.path, value, detail))
}

// Forbidden reports a field that may not be set, or not be changed, here.
func (c Cursor) Forbidden(detail string) Cursor { return c.add(Forbidden(c.path, detail)) }

// Missing reports that a value is required; detail says when.
func (c Cursor) Missing(detail string) Cursor { return c.add(Required(c.path, detail)) }

// NotSupported reports a value outside a list of allowed values.
func (c Cursor) NotSupported(value any, allowed ...string) Cursor {
	return c.add(NotSupported(c.path, value, allowed...))
}

// TooLong reports a string of more than limit bytes.
func (c Cursor) TooLong(limit int) Cursor { return c.add(TooLong(c.path, limit)) }

// Duplicate reports a value that may occur only once.
func (c Cursor) Duplicate(value any) Cursor { return c.add(Duplicate(c.path, value)) }

// Report adds errors that others have found.
func (c Cursor) Report(errs ErrorList) Cursor {
	if len(errs) > 0 {
		*c.errs = append(*c.errs, errs...)
	}
	return c
}

func (c Cursor) add(e *Error) Cursor {
	*c.errs = append(*c.errs, e)
	return c
}
