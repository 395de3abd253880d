package structural

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Validate validates a new value against the schema. p is the path of the value; it is empty for a whole object. The paths in
// the error texts are relative to the value.
func (s *Schema) Validate(v any, p field.Path) field.ErrorList {
	r := &result{}
	s.validate(r, "", v, nil)
	return r.list(p)
}

// ValidateUpdate is like Validate, but for a value that replaces old. Parts that have not changed may remain invalid (KEP-4008,
// "CRD Validation Ratcheting").
func (s *Schema) ValidateUpdate(v, old any, p field.Path) field.ErrorList {
	r := &result{}
	s.ratchet(r, "", v, Correlate(s, v, old))
	return r.list(p)
}

// result contains the problems with a value. matches counts the checks that were performed. If several alternative
// schemas all fail, the errors of the schema with the most matches are shown.
type result struct {
	problems []problem
	matches  int
}

// problem is a violation of one rule: the field's path relative to the value, the text, and the error without its field.
type problem struct {
	at, text string
	err      *field.Error
}

func (r *result) add(at, text string, err *field.Error) {
	r.problems = append(r.problems, problem{at, text, err})
}

// invalid adds a problem with the given text. Problems that concern allOf, anyOf, oneOf or not have neither a path nor a value.
func (r *result) invalid(at string, v any, text string) {
	r.add(at, text, field.Invalid(field.Path{}, v, text))
}

func (r *result) merge(other *result) {
	r.problems = append(r.problems, other.problems...)
	r.matches += other.matches
}

func (r *result) valid() bool { return len(r.problems) == 0 }

// list converts the problems to errors about fields below p. It omits repeated texts.
func (r *result) list(p field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := field.Seen{}
	for _, x := range r.problems {
		if seen.Again(x.text) {
			continue
		}
		x.err.Field = p
		if name := strings.TrimPrefix(x.at, "."); name != "" {
			x.err.Field = p.Child(name)
		}
		errs = append(errs, x.err)
	}
	return errs
}

// validate checks a value and everything below it. On update, c correlates it with the old value; otherwise c is nil.
func (s *Schema) validate(r *result, path string, v any, c *Correlation) {
	if s == nil {
		return
	}
	if v == nil {
		s.checkType(r, path, v)
		s.checkEnum(r, path, v)
		return
	}
	if len(s.values.types) > 0 || s.values.format != "" {
		s.checkType(r, path, v)
		r.matches++
	}
	s.checkComposites(r, path, v)
	r.matches++
	switch v := v.(type) {
	case string:
		s.checkString(r, path, v)
		r.matches++
	case int64, float64:
		s.checkNumber(r, path, v)
		r.matches++
	case []any:
		s.checkItems(r, path, v, c)
		r.matches++
	}
	s.checkEnum(r, path, v)
	if m, ok := v.(map[string]any); ok {
		s.checkObject(r, path, m, c)
		r.matches++
	}
	r.matches += 2 // one for the enum, and one for the value as a whole
}

// ratchet validates a value. If the value has not changed, it may remain invalid.
func (s *Schema) ratchet(r *result, path string, v any, c *Correlation) {
	if c == nil {
		s.validate(r, path, v, nil)
		return
	}
	own := &result{}
	s.validate(own, path, v, c)
	if !own.valid() && c.Unchanged() {
		own.problems = nil
	}
	r.merge(own)
}

func (s *Schema) checkObject(r *result, path string, m map[string]any, c *Correlation) {
	r.count(path, int64(len(m)), s.values.minProperties, s.values.maxProperties, "properties")
	if s.Closed || s.Additional != nil {
		for _, name := range object.SortedKeys(m) {
			if _, declared := s.Properties[name]; declared {
				continue
			}
			if s.Closed {
				r.invalid(path, name, path+"."+name+" in body is a forbidden property")
				continue
			}
			s.Additional.ratchet(r, path+"."+name, m[name], c.Field(name))
		}
	}
	for _, name := range s.names {
		v, ok := m[name]
		if !ok {
			continue
		}
		at := name
		if path != "" {
			at = path + "." + name
		}
		next := c.Field(name)
		if path == "" && (name == "kind" || name == "apiVersion") {
			next = nil
		}
		s.Properties[name].ratchet(r, at, v, next)
	}
	for _, name := range s.values.required {
		if _, ok := m[name]; !ok {
			at := path + "." + name
			r.add(at, at+" in body is required", field.Required(field.Path{}, ""))
		}
	}
}

func (s *Schema) checkItems(r *result, path string, list []any, c *Correlation) {
	if s.Items != nil {
		for i, v := range list {
			s.Items.ratchet(r, path+"["+strconv.Itoa(i)+"]", v, c.Item(i))
		}
	}
	r.count(path, int64(len(list)), s.values.minItems, s.values.maxItems, "items")
	r.matches++
}

// count checks the number of fields or items of a value.
func (r *result) count(path string, n int64, min, max *int64, what string) {
	if min != nil && n < *min {
		r.invalid(path, n, fmt.Sprintf("%s in body should have at least %d %s", path, *min, what))
	}
	if max != nil && n > *max {
		r.add(path, fmt.Sprintf("%s in body should have at most %d %s", path, *max, what),
			field.TooMany(field.Path{}, int(n), int(*max)))
	}
}

// checkComposites checks allOf, anyOf, oneOf and not, in which unchanged values must be valid, too.
func (s *Schema) checkComposites(r *result, path string, v any) {
	if len(s.values.anyOf) > 0 {
		best, n := attempt(s.values.anyOf, path, v, true)
		if n == 0 {
			r.invalid("", "", strconv.Quote(path)+" must validate at least one schema (anyOf)")
		}
		r.merge(best)
	}
	if len(s.values.oneOf) > 0 {
		best, n := attempt(s.values.oneOf, path, v, false)
		switch {
		case n == 0:
			r.invalid("", "", strconv.Quote(path)+" must validate one and only one schema (oneOf). Found none valid")
		case n > 1:
			r.invalid("", "", strconv.Quote(path)+
				" must validate one and only one schema (oneOf). Found "+strconv.Itoa(n)+" valid alternatives")
			best = &result{}
		}
		r.merge(best)
	}
	if len(s.values.allOf) > 0 {
		n := 0
		for _, x := range s.values.allOf {
			one := &result{}
			x.validate(one, path, v, nil)
			if one.valid() {
				n++
			}
			r.merge(one)
		}
		if n != len(s.values.allOf) {
			text := strconv.Quote(path) + " must validate all the schemas (allOf)"
			if n == 0 {
				text += ". None validated"
			}
			r.invalid("", "", text)
		}
	}
	if s.values.not != nil {
		one := &result{}
		s.values.not.validate(one, path, v, nil)
		if one.valid() {
			r.invalid("", "", strconv.Quote(path)+" must not validate the schema (not)")
		}
	}
	r.matches++
}

// attempt validates a value against several schemas. If first is true, it stops at the first schema that accepts the value.
// It returns the number of such schemas, and the result for the first of them, or else for the schema with the most
// matches.
func attempt(schemas []*Schema, path string, v any, first bool) (best *result, n int) {
	for _, x := range schemas {
		one := &result{}
		x.validate(one, path, v, nil)
		switch {
		case one.valid() && n == 0:
			best, n = one, 1
			if first {
				return best, n
			}
		case one.valid():
			n++
		case n == 0 && (best == nil || one.matches > best.matches):
			best = one
		}
	}
	return best, n
}
