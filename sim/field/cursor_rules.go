package field

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/object"
)

// OrEmpty reads an absent value as an empty string.
func (c Cursor) OrEmpty() Cursor { return c.or("", orEmpty) }

// OrZero reads an absent value as the number 0.
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

// AsEnum returns a cursor whose value errors print as one of a named string type.
func (c Cursor) AsEnum() Cursor {
	if s, ok := c.at.value.(string); ok {
		return c.same(Enum(s))
	}
	return c
}

// IfGiven reads an empty string, 0 or false as an absent value.
func (c Cursor) IfGiven() Cursor {
	if c.at.value != nil && object.Blank(c.at.value) {
		return c.same(nil)
	}
	return c
}

// Required reports a value that is absent or empty, with or without a detail. Further checks in the chain are left out then.
func (c Cursor) Required(detail ...string) Cursor {
	if object.Blank(c.at.value) {
		c.add(Required(c.Path(), strings.Join(detail, "")))
		return c.same(nil)
	}
	return c
}

// Given is Required without a detail.
func (c Cursor) Given() Cursor { return c.Required() }

// OneOf checks that a string is among the allowed ones.
func (c Cursor) OneOf(allowed ...string) Cursor {
	if s, ok := c.at.value.(string); ok && !slices.Contains(allowed, s) {
		c.add(NotSupported(c.Path(), Enum(s), allowed...))
	}
	return c
}

// Check applies a rule to a string.
func (c Cursor) Check(rule func(string) []string) Cursor {
	if s, ok := c.at.value.(string); ok {
		return c.messages(rule(s))
	}
	return c
}

// CheckEnum applies a rule to a string of a named type.
func (c Cursor) CheckEnum(rule func(string) []string) Cursor {
	if s, ok := c.at.value.(string); ok {
		c.AsEnum().messages(rule(s))
	}
	return c
}

// CheckEach applies a rule to the strings of a list.
func (c Cursor) CheckEach(rule func(string) []string) Cursor {
	for item := range c.Each() {
		item.Check(rule)
	}
	return c
}

// CheckInt applies a rule to a number.
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

// Min checks that a number is at least lo. detail is the text of the error.
func (c Cursor) Min(lo int64, detail string) Cursor {
	n, ok := c.at.value.(int64)
	return c.InvalidIf(ok && n < lo, detail)
}

// Max checks that a number is at most hi. detail is the text of the error.
func (c Cursor) Max(hi int64, detail string) Cursor {
	n, ok := c.at.value.(int64)
	return c.InvalidIf(ok && n > hi, detail)
}

// Range checks that a number lies between lo and hi; both are allowed.
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

// MaxItems checks that a list has at most limit items. Further checks in the chain are left out if it has more.
func (c Cursor) MaxItems(limit int) Cursor {
	if n := c.Len(); n > limit {
		c.add(TooMany(c.Path(), n, limit))
		return c.same(nil)
	}
	return c
}

// Unique reports a string that was seen before, as a duplicate.
func (c Cursor) Unique(seen Seen) Cursor {
	c.OrEmpty().UniqueBy(seen, c.String())
	return c
}

// UniqueBy reports a value of which the key was seen before, as a duplicate.
func (c Cursor) UniqueBy(seen Seen, key string) Cursor {
	if seen.Again(key) {
		c.Duplicate(c.at.value)
	}
	return c
}

// UniqueItems reports the strings of a list that repeat an earlier one, or the items of which a field does.
func (c Cursor) UniqueItems(names ...string) Cursor {
	seen := Seen{}
	for item := range c.Each() {
		text := item.String(names...)
		item.With(text).UniqueBy(seen, text)
	}
	return c
}

// Seen are the strings that Unique, UniqueBy and Again have seen.
type Seen map[string]bool

// Again reports whether a string was seen before; from now on it was.
func (s Seen) Again(key string) bool {
	before := s[key]
	s[key] = true
	return before
}

// Declared applies a rule. If is is true, the rule is a tag on the type of the real server: its errors come after all others, in the words
// of the tag.
func (c Cursor) Declared(is bool, rule func(Cursor) Cursor) Cursor {
	return c.tagged(tag{declared: is}, rule)
}

// Discriminated is Declared for a rule on the struct around the field, because another field of it decides. Its errors come before those
// of the fields.
func (c Cursor) Discriminated(is bool, rule func(Cursor) Cursor) Cursor {
	return c.tagged(tag{declared: is, around: is}, rule)
}

// tagged applies a rule of which the errors are those of a tag.
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

// Changed reports whether this is an update and the value differs from the stored one. null, {} and [] count as absent.
func (c Cursor) Changed() bool {
	return c.Updates() && !object.SemanticEqual(c.at.value, c.at.old())
}

// Updates reports whether this is an update and the stored value at this place is known.
func (c Cursor) Updates() bool { return c.at.updates() }

// Immutable checks on update that the value has not changed, and prints it as one of a named type.
func (c Cursor) Immutable() Cursor {
	if c.Changed() {
		c.AsEnum().InvalidIf(true, TextImmutable)
	}
	return c
}

// InvalidIf reports the value if it is broken; detail names the rule.
func (c Cursor) InvalidIf(broken bool, detail string) Cursor {
	if broken {
		c.add(Invalid(c.Path(), c.at.value, detail))
	}
	return c
}

// CheckError reports the value with the text of err, if err is not nil.
func (c Cursor) CheckError(err error) Cursor {
	if err != nil {
		c.Invalid(c.at.value, err.Error())
	}
	return c
}

// ForbidIf reports a field that may not be set, or not be changed, here.
func (c Cursor) ForbidIf(broken bool, detail string) Cursor {
	if broken {
		c.add(Forbidden(c.Path(), detail))
	}
	return c
}

// RequireIf reports a missing value.
func (c Cursor) RequireIf(missing bool, detail string) Cursor {
	if missing {
		c.add(Required(c.Path(), detail))
	}
	return c
}

// Invalid reports a value that breaks a rule; detail names the rule.
func (c Cursor) Invalid(value any, detail string) Cursor {
	return c.add(Invalid(c.Path(), value, detail))
}

// InvalidEnum reports a string of a named type that breaks a rule, or its absence.
func (c Cursor) InvalidEnum(detail string) Cursor { return c.Invalid(Enum(c.String()), detail) }

// Forbidden reports a field that may not be set, or not be changed, here.
func (c Cursor) Forbidden(detail string) Cursor { return c.add(Forbidden(c.Path(), detail)) }

// Internal reports a failure of the server while it looked at the field.
func (c Cursor) Internal(err error) Cursor { return c.add(Internal(c.Path(), err)) }

// Missing reports that a value is required; detail is the condition.
func (c Cursor) Missing(detail string) Cursor { return c.add(Required(c.Path(), detail)) }

// NotSupported reports a value outside a list of allowed values.
func (c Cursor) NotSupported(value any, allowed ...string) Cursor {
	return c.add(NotSupported(c.Path(), value, allowed...))
}

// TooLong reports a string of more than limit bytes.
func (c Cursor) TooLong(limit int) Cursor { return c.add(TooLong(c.Path(), limit)) }

// NotFound reports a value that names something which does not exist.
func (c Cursor) NotFound(value any, detail ...string) Cursor {
	e := NotFound(c.Path(), value)
	e.Detail = strings.Join(detail, "")
	return c.add(e)
}

// ForbidAny reports those of the fields that are given.
func (c Cursor) ForbidAny(detail string, names ...string) Cursor {
	for _, name := range names {
		if c.Has(name) {
			c.Child(name).Forbidden(detail)
		}
	}
	return c
}

// Require reports those of the fields that are absent or empty.
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

// Duplicate reports a value that may occur only once.
func (c Cursor) Duplicate(value any) Cursor { return c.add(Duplicate(c.Path(), value)) }

// Report adds errors that others have found.
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
