package field

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/object"
)

// OrEmpty returns a cursor that treats a missing value as an empty string.
func (c Cursor) OrEmpty() Cursor { return c.or("", orEmpty) }

// OrZero returns a cursor that treats a missing value as 0.
func (c Cursor) OrZero() Cursor { return c.or(int64(0), orZero) }

func (c Cursor) or(zero any, old stored) Cursor {
	value := c.at.value
	switch {
	case value == nil:
		value = zero
	case !c.Updates():
		return c
	}
	c = c.same(value)
	c.at.stored = old
	return c
}

// AsEnum returns a cursor whose errors print its string like a value of a named string type.
func (c Cursor) AsEnum() Cursor {
	if s, ok := c.at.value.(string); ok {
		return c.same(Enum(s))
	}
	return c
}

// IfGiven returns a cursor that treats an empty string, 0 or false as missing.
func (c Cursor) IfGiven() Cursor {
	if c.at.value != nil && object.Blank(c.at.value) {
		return c.same(nil)
	}
	return c
}

// Required reports a value that is missing or empty, with an optional detail. In that case, the checks that follow in the chain are
// skipped.
func (c Cursor) Required(detail ...string) Cursor {
	if object.Blank(c.at.value) {
		c.add(Required(c.Path(), strings.Join(detail, "")))
		return c.same(nil)
	}
	return c
}

// Given is like Required, without a detail.
func (c Cursor) Given() Cursor { return c.Required() }

// OneOf checks that a string is one of the allowed values.
func (c Cursor) OneOf(allowed ...string) Cursor {
	if s, ok := c.at.value.(string); ok && !slices.Contains(allowed, s) {
		c.add(NotSupported(c.Path(), Enum(s), allowed...))
	}
	return c
}

// Check applies a rule to a string and reports each message that the rule returns as an Invalid error.
func (c Cursor) Check(rule func(string) []string) Cursor {
	if s, ok := c.at.value.(string); ok {
		return c.messages(rule(s))
	}
	return c
}

// CheckEnum is like Check, but for a string of a named string type.
func (c Cursor) CheckEnum(rule func(string) []string) Cursor {
	if s, ok := c.at.value.(string); ok {
		c.AsEnum().messages(rule(s))
	}
	return c
}

// CheckEach applies a rule to each string in a list and reports the messages like Check.
func (c Cursor) CheckEach(rule func(string) []string) Cursor {
	for item := range c.Each() {
		item.Check(rule)
	}
	return c
}

// CheckInt applies a rule to a number and reports the messages like Check.
func (c Cursor) CheckInt(rule func(int64) []string) Cursor {
	if n, ok := c.at.value.(int64); ok {
		return c.messages(rule(n))
	}
	return c
}

func (c Cursor) messages(texts []string) Cursor {
	for _, text := range texts {
		c.Invalid(c.at.value, text)
	}
	return c
}

// Min checks that a number is at least lo. detail is the error text.
func (c Cursor) Min(lo int64, detail string) Cursor {
	n, ok := c.at.value.(int64)
	return c.InvalidIf(ok && n < lo, detail)
}

// Max checks that a number is at most hi. detail is the error text.
func (c Cursor) Max(hi int64, detail string) Cursor {
	n, ok := c.at.value.(int64)
	return c.InvalidIf(ok && n > hi, detail)
}

// Range checks that a number is between lo and hi, inclusive.
func (c Cursor) Range(lo, hi int64) Cursor {
	if n, ok := c.at.value.(int64); ok && (n < lo || n > hi) {
		c.Invalid(c.at.value, RangeText(lo, hi))
	}
	return c
}

// NonNegative checks that a number is not negative.
func (c Cursor) NonNegative() Cursor { return c.Min(0, TextNonNegative) }

// Positive checks that a number is greater than zero.
func (c Cursor) Positive() Cursor { return c.Min(1, TextPositive) }

// MaxBytes checks that a string has at most limit bytes.
func (c Cursor) MaxBytes(limit int) Cursor {
	if s, ok := c.at.value.(string); ok && len(s) > limit {
		c.add(TooLong(c.Path(), limit))
	}
	return c
}

// MaxLength checks that a string has at most limit characters (validate.MaxLength).
func (c Cursor) MaxLength(limit int) Cursor {
	if s, ok := c.at.value.(string); ok && utf8.RuneCountInString(s) > limit {
		c.add(TooLongCharacters(c.Path(), limit))
	}
	return c
}

// MaxItems checks that a list has at most limit items. If it has more, the checks that follow in the chain are skipped.
func (c Cursor) MaxItems(limit int) Cursor {
	if n := c.Len(); n > limit {
		c.add(TooMany(c.Path(), n, limit))
		return c.same(nil)
	}
	return c
}

// Unique reports a string that is already in seen as a duplicate, and adds it.
func (c Cursor) Unique(seen Seen) Cursor {
	c.OrEmpty().UniqueBy(seen, c.String())
	return c
}

// UniqueBy reports the value as a duplicate if key is already in seen, and adds key.
func (c Cursor) UniqueBy(seen Seen, key string) Cursor {
	if seen.Again(key) {
		c.Duplicate(c.at.value)
	}
	return c
}

// UniqueItems reports items of a list that repeat an earlier string. If names are given, it compares the string in that field of
// each item.
func (c Cursor) UniqueItems(names ...string) Cursor {
	seen := Seen{}
	for item := range c.Each() {
		text := item.String(names...)
		item.With(text).UniqueBy(seen, text)
	}
	return c
}

// Seen is the set of strings that Unique, UniqueBy and Again have processed.
type Seen map[string]bool

// Again adds key to the set, and reports whether it was already there.
func (s Seen) Again(key string) bool {
	before := s[key]
	s[key] = true
	return before
}

// Declared applies a rule. If the first argument is true, the real server declares the rule as a tag on the type
// (declarative validation): its errors follow all others and have the wording of the tag.
func (c Cursor) Declared(is bool, rule func(Cursor) Cursor) Cursor {
	return c.tagged(tag{declared: is}, rule)
}

// Discriminated is like Declared, but for a rule on the enclosing struct that depends on another field of the struct. Its errors
// precede those of rules on the fields.
func (c Cursor) Discriminated(is bool, rule func(Cursor) Cursor) Cursor {
	return c.tagged(tag{declared: is, around: is}, rule)
}

// OnlyDeclared applies rules, and discards the errors of rules that are not declared on the type. The real server applies the declared
// ones, too, if its other rules ignore a value.
func (c Cursor) OnlyDeclared(rules func()) {
	r := c.at.report
	before := len(r.errs)
	rules()
	kept := slices.DeleteFunc(r.errs[before:], func(e *Error) bool { return !e.Declared })
	r.errs = r.errs[:before+len(kept)]
}

// tagged applies a rule and marks its errors with a tag.
func (c Cursor) tagged(t tag, rule func(Cursor) Cursor) Cursor {
	r := c.at.report
	before := r.tag
	if t.declared {
		r.tag = tag{declared: true, around: t.around || before.around}
	}
	next := rule(c)
	r.tag = before
	return next
}

// Changed reports whether this is an update that changes the value. It treats null, {} and [] as missing values.
func (c Cursor) Changed() bool {
	return c.Updates() && !object.SemanticEqual(c.at.value, c.at.old())
}

// Updates reports whether this is an update and the stored value at this position is known.
func (c Cursor) Updates() bool { return c.at.updates() }

// Immutable checks that an update does not change the value. The error prints it like a value of a named string type.
func (c Cursor) Immutable() Cursor {
	if c.Changed() {
		c.AsEnum().InvalidIf(true, TextImmutable)
	}
	return c
}

// InvalidIf reports that the value is invalid if broken is true. The detail states the rule.
func (c Cursor) InvalidIf(broken bool, detail string) Cursor {
	if broken {
		c.add(Invalid(c.Path(), c.at.value, detail))
	}
	return c
}

// CheckError reports that the value is invalid, with the text of err, unless err is nil.
func (c Cursor) CheckError(err error) Cursor {
	if err != nil {
		c.Invalid(c.at.value, err.Error())
	}
	return c
}

// ForbidIf reports that the field must not be set or changed if broken is true.
func (c Cursor) ForbidIf(broken bool, detail string) Cursor {
	if broken {
		c.add(Forbidden(c.Path(), detail))
	}
	return c
}

// RequireIf reports that the value is missing if missing is true.
func (c Cursor) RequireIf(missing bool, detail string) Cursor {
	if missing {
		c.add(Required(c.Path(), detail))
	}
	return c
}

// Invalid reports that the given value is invalid. The detail states the rule that it breaks.
func (c Cursor) Invalid(value any, detail string) Cursor {
	return c.add(Invalid(c.Path(), value, detail))
}

// InvalidEnum reports that a string of a named string type is invalid, even if it is missing.
func (c Cursor) InvalidEnum(detail string) Cursor { return c.Invalid(Enum(c.String()), detail) }

// Forbidden reports that the field must not be set or changed.
func (c Cursor) Forbidden(detail string) Cursor { return c.add(Forbidden(c.Path(), detail)) }

// Internal reports an internal error that occurred while the field was being checked.
func (c Cursor) Internal(err error) Cursor { return c.add(Internal(c.Path(), err)) }

// Missing reports that a required value is missing. The detail states why it is required.
func (c Cursor) Missing(detail string) Cursor { return c.add(Required(c.Path(), detail)) }

// NotSupported reports that the given value is not one of the allowed values.
func (c Cursor) NotSupported(value any, allowed ...string) Cursor {
	return c.add(NotSupported(c.Path(), value, allowed...))
}

// TooLong reports a string of more than limit bytes.
func (c Cursor) TooLong(limit int) Cursor { return c.add(TooLong(c.Path(), limit)) }

// NotFound reports that the given value refers to something that does not exist.
func (c Cursor) NotFound(value any, detail ...string) Cursor {
	e := NotFound(c.Path(), value)
	e.Detail = strings.Join(detail, "")
	return c.add(e)
}

// ForbidAny reports each of the named fields that is set.
func (c Cursor) ForbidAny(detail string, names ...string) Cursor {
	for _, name := range names {
		if c.Has(name) {
			c.Child(name).Forbidden(detail)
		}
	}
	return c
}

// Require reports each of the named fields that is missing or empty.
func (c Cursor) Require(names ...string) Cursor {
	for _, name := range names {
		if object.Blank(c.get([]string{name})) {
			c.Child(name).Missing("")
		}
	}
	return c
}

// Labels checks the keys and values of a map of labels.
func (c Cursor) Labels() Cursor {
	if m := c.Object(); len(m) > 0 {
		c.Report(CheckLabels(c.Path(), m))
	}
	return c
}

// Duplicate reports a value that occurs more than once.
func (c Cursor) Duplicate(value any) Cursor { return c.add(Duplicate(c.Path(), value)) }

// Report adds errors that were found without the cursor.
func (c Cursor) Report(errs ErrorList) Cursor {
	for _, e := range errs {
		c.add(e)
	}
	return c
}

func (c Cursor) add(e *Error) Cursor {
	c.at.report.errs = append(c.at.report.errs, c.at.report.tag.word(e))
	return c
}
