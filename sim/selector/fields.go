package selector

import (
	"fmt"
	"slices"
	"strings"
)

// FieldRequirement is a condition on a field of an object. Operator is Equals or NotEquals.
type FieldRequirement struct {
	Label    string
	Operator Operator
	Value    string
}

// String returns the requirement in the syntax of ParseFields.
func (r FieldRequirement) String() string {
	return r.Label + string(r.Operator) + escaper.Replace(r.Value)
}

var escaper = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `=`, `\=`)

// Fields selects objects by some of their fields. The zero value selects everything. It may contain any field labels; Transform
// checks whether a resource supports them.
type Fields struct{ requirements []FieldRequirement }

// ParseFields parses a field selector such as "status.phase!=Failed,spec.nodeName=n1". In values, backslashes, commas and equals
// signs are escaped with a backslash. The requirements are sorted by their text. ParseFields returns an error if a term has no
// operator or an invalid escape sequence.
func ParseFields(s string) (Fields, error) {
	terms := splitTerms(s)
	slices.Sort(terms)
	var f Fields
	for _, term := range terms {
		if term == "" {
			continue
		}
		r, escaped, ok := splitTerm(term)
		if !ok {
			return Fields{}, fmt.Errorf("invalid selector: '%s'; can't understand '%s'", s, term)
		}
		var err error
		if r.Value, err = unescape(escaped); err != nil {
			return Fields{}, err
		}
		if r.Label != "" || r.Value != "" {
			f.requirements = append(f.requirements, r)
		}
	}
	return f, nil
}

// splitTerms splits s at commas that are not preceded by a backslash.
func splitTerms(s string) []string {
	var terms []string
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ',':
			terms = append(terms, s[start:i])
			start = i + 1
		}
	}
	return append(terms, s[start:])
}

// splitTerm splits a term at its first operator. The returned value is still escaped. ok is false if there is no operator.
func splitTerm(term string) (r FieldRequirement, escaped string, ok bool) {
	i := strings.IndexByte(term, '=')
	if i < 0 {
		return r, "", false
	}
	r.Operator, r.Label, escaped = Equals, term[:i], term[i+1:]
	if label, found := strings.CutSuffix(r.Label, "!"); found {
		r.Operator, r.Label = NotEquals, label
	} else {
		escaped = strings.TrimPrefix(escaped, "=")
	}
	return r, escaped, true
}

func unescape(value string) (string, error) {
	if !strings.ContainsAny(value, `\,=`) {
		return value, nil
	}
	var b strings.Builder
	escaped := false
	for _, c := range value {
		special := c == '\\' || c == ',' || c == '='
		switch {
		case escaped && !special:
			return "", fmt.Errorf(`invalid field selector: invalid escape sequence: \%c`, c)
		case escaped || !special:
			b.WriteRune(c)
			escaped = false
		case c == '\\':
			escaped = true
		default: // the real server prints the code of the character
			return "", fmt.Errorf("invalid field selector: unescaped character in value: %d", c)
		}
	}
	if escaped {
		return "", fmt.Errorf(`invalid field selector: invalid escape sequence: \`)
	}
	return b.String(), nil
}

// Matches reports whether f selects an object. value returns the object's value for a field label.
func (f Fields) Matches(value func(label string) string) bool {
	for _, r := range f.requirements {
		if (value(r.Label) == r.Value) != (r.Operator == Equals) {
			return false
		}
	}
	return true
}

// Empty reports whether f selects everything.
func (f Fields) Empty() bool { return len(f.requirements) == 0 }

// RequiresExact returns the value that f requires for a field. If there is no such requirement, ok is false.
func (f Fields) RequiresExact(label string) (value string, ok bool) {
	for _, r := range f.requirements {
		if r.Label == label && r.Operator == Equals {
			return r.Value, true
		}
	}
	return "", false
}

// Transform returns f after converting its labels and values with convert. convert returns an error for a label that a resource
// does not support, and translates the labels of old versions. If it returns two empty strings, the requirement is dropped.
func (f Fields) Transform(convert func(label, value string) (string, string, error)) (Fields, error) {
	var out Fields
	for _, r := range f.requirements {
		label, value, err := convert(r.Label, r.Value)
		if err != nil {
			return Fields{}, err
		}
		if label != "" || value != "" {
			out.requirements = append(out.requirements, FieldRequirement{label, r.Operator, value})
		}
	}
	return out, nil
}

// Requirements returns the requirements of f. The caller must not modify them.
func (f Fields) Requirements() []FieldRequirement { return f.requirements }

// String returns the requirements separated by commas.
func (f Fields) String() string { return join(f.requirements) }

func join[R fmt.Stringer](requirements []R) string {
	texts := make([]string, len(requirements))
	for i, r := range requirements {
		texts[i] = r.String()
	}
	return strings.Join(texts, ",")
}
