package structural

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// typeOf returns the JSON Schema type of a value, and the format of a number.
func typeOf(v any) (name, format string) {
	switch v.(type) {
	case nil:
		return "null", ""
	case bool:
		return "boolean", ""
	case string:
		return "string", ""
	case int64:
		return "integer", "int64"
	case float64:
		return "number", "float64"
	case []any:
		return "array", ""
	}
	return "object", ""
}

func (s *Schema) allows(name string) bool { return slices.Contains(s.values.types, name) }

func (s *Schema) checkType(r *result, path string, v any) {
	have, haveFormat := typeOf(v)
	if v == nil {
		if len(s.values.types) > 0 && !s.Nullable {
			r.typed(path, strings.Join(s.values.types, ","), have)
		} else {
			r.matches++
		}
		return
	}
	whole := false
	if f, ok := v.(float64); ok {
		whole = s.isWhole(f) && s.allows("integer")
	}
	fits := s.allows(have) || whole || have == "integer" && s.allows("number")
	text := have == "string" || have == "array"
	numeric := s.allows("number") || s.allows("integer")
	switch format := s.values.format; {
	case format != "" && !text && !fits && haveFormat != format:
		r.typed(path, format, haveFormat)
	case fits, format != "" && text && !numeric: // the format is checked instead
		r.matches++
	default:
		r.typed(path, strings.Join(s.values.types, ","), have)
	}
}

func (r *result) typed(path, want, have string) {
	text := fmt.Sprintf("%s in body must be of type %s: %q", path, want, have)
	r.add(path, text, field.TypeInvalid(field.Path{}, have, text))
}

// isWhole reports whether f counts as an integer: it is one, except for a relative error of 1e-9 (go-openapi/swag's
// IsFloat64AJSONInteger). Servers before 1.37 compare a positive number with the integer below it, and accept no error in a negative one.
func (s *Schema) isWhole(f float64) bool {
	const limit, epsilon = 1<<53 - 1, 1e-9
	near := math.Round(f)
	if !s.values.rounds {
		near = math.Trunc(f)
	}
	switch {
	case math.IsNaN(f) || math.Abs(f) > limit:
		return false
	case f == near || near == 0:
		return f == near
	case s.values.rounds:
		return math.Abs(f-near) < epsilon*math.Abs(near)
	}
	return f > 0 && f-near < epsilon*(f+near)
}

func (s *Schema) checkString(r *result, path, v string) {
	s.checkText(r, path, v)
	if check := formats[normal(s.values.format)]; check != nil && !check(v) {
		r.typed(path, s.values.format, v)
	}
}

// checkText reports the first string rule that v violates.
func (s *Schema) checkText(r *result, path, v string) {
	n := int64(utf8.RuneCountInString(v))
	rules := &s.values
	switch {
	case rules.maxLength != nil && n > *rules.maxLength:
		r.add(path, fmt.Sprintf("%s in body should be at most %d chars long", path, *rules.maxLength),
			field.TooLong(field.Path{}, int(*rules.maxLength)))
	case rules.minLength != nil && n < *rules.minLength:
		r.invalid(path, v, fmt.Sprintf("%s in body should be at least %d chars long", path, *rules.minLength))
	case rules.pattern != "" && (rules.compiled == nil || !rules.compiled.MatchString(v)):
		r.invalid(path, v, fmt.Sprintf("%s in body should match '%s'", path, rules.pattern))
	}
}

func (s *Schema) checkNumber(r *result, path string, v any) {
	rules := &s.values
	s.inRange(r, "Checked", path, v)
	// against returns the number in the form in which it is compared with a limit. If the limit does not fit the type, that is a
	// float64.
	against := func(what string, limit float64) any {
		n, whole := v.(int64)
		if !s.inRange(r, what, path, limit) && whole {
			return float64(n)
		}
		return v
	}
	if limit := rules.multipleOf; limit != nil {
		s.checkMultiple(r, path, against("MultipleOf", *limit), *limit)
	}
	if limit := rules.minimum; limit != nil {
		n := against("Minimum boundary", *limit)
		if c := compare(n, *limit); c < 0 || rules.exclusiveMin && c == 0 {
			r.bound(path, n, *limit, "greater than", rules.exclusiveMin)
		}
	}
	if limit := rules.maximum; limit != nil {
		n := against("Maximum boundary", *limit)
		if c := compare(n, *limit); c > 0 || rules.exclusiveMaximum && c == 0 {
			r.bound(path, n, *limit, "less than", rules.exclusiveMaximum)
		}
	}
	r.matches++
}

func (r *result) bound(path string, v any, limit float64, words string, exclusive bool) {
	if !exclusive {
		words += " or equal to"
	}
	r.invalid(path, v, fmt.Sprintf("%s in body should be %s %v", path, words, like(v, limit)))
}

// like converts a limit to the type of v: to an int64 if v is one, and otherwise to a float64.
func like(v any, limit float64) any {
	if _, ok := v.(int64); ok {
		return int64(limit)
	}
	return limit
}

// compare compares a value with a limit. It compares an integer with the integer part of the limit.
func compare(v any, limit float64) int {
	if n, ok := v.(int64); ok {
		return cmp.Compare(n, int64(limit))
	}
	return cmp.Compare(v.(float64), limit)
}

func (s *Schema) checkMultiple(r *result, path string, v any, factor float64) {
	n, isInt := v.(int64)
	whole := int64(factor)
	var ok bool
	switch divisor := like(v, factor); {
	case isInt && whole <= 0, !isInt && factor <= 0:
		r.invalid(path, divisor, fmt.Sprintf("factor MultipleOf declared for %s must be positive: %v", path, divisor))
		return
	case isInt:
		ok = n%whole == 0
	case factor < 1:
		ok = s.isWhole(1 / factor * v.(float64))
	default:
		ok = s.isWhole(v.(float64) / factor)
	}
	if !ok {
		r.invalid(path, v, fmt.Sprintf("%s in body should be a multiple of %v", path, like(v, factor)))
	}
}

// inRange checks that a number, or a limit for it, fits the type and the format. what describes the number in the error text.
func (s *Schema) inRange(r *result, what, path string, v any) bool {
	if len(s.values.types) != 1 {
		return true
	}
	bad := false
	switch n := v.(type) {
	case int64:
		bad = s.Type == "integer" && s.values.format == "int32" && n != int64(int32(n)) ||
			s.Type == "number" && s.values.format == "float" && math.Abs(float64(n)) > math.MaxFloat32
	case float64:
		_, err := strconv.ParseInt(strconv.FormatFloat(n, 'f', -1, 64), 10, 64)
		bad = s.Type == "integer" && (err != nil || s.values.format == "int32" && n != float64(int32(n))) ||
			s.Type == "number" && s.values.format == "float" && math.Abs(n) > math.MaxFloat32
	}
	if !bad {
		return true
	}
	format := "(default format)"
	if KnownFormat(s.Type, s.values.format) {
		format = "with format " + s.values.format
	}
	r.invalid("", "", fmt.Sprintf("%s value must be of type %s %s in %s", what, s.Type, format, path))
	return false
}

func (s *Schema) checkEnum(r *result, path string, v any) {
	same := func(allowed any) bool { return allowed != nil && sameNumber(v, allowed) }
	if enum := s.values.enum; len(enum) > 0 && !slices.ContainsFunc(enum, same) {
		allowed := make([]string, len(enum))
		for i, x := range enum {
			if text, ok := x.(string); ok {
				allowed[i] = text
			} else {
				allowed[i] = string(object.JSON(x))
			}
		}
		r.add(path, fmt.Sprintf("%s in body should be one of %v", path, enum), field.NotSupported(field.Path{}, v, allowed...))
	}
}

// sameNumber compares a value with a value of an enum. If both are numbers, it compares them as numbers of the enum value's type.
func sameNumber(v, allowed any) bool {
	switch a := allowed.(type) {
	case int64:
		if f, ok := v.(float64); ok {
			return int64(f) == a
		}
	case float64:
		if n, ok := v.(int64); ok {
			return float64(n) == a
		}
	}
	return object.Equal(v, allowed)
}
