package selector

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// FieldRequirement is one condition on a field of an object. Operator is Equals or NotEquals.
type FieldRequirement struct {
	Label    string
	Operator Operator
	Value    string
}

// String prints the requirement so that ParseFields reads it back.
func (r FieldRequirement) String() string {
	return r.Label + string(r.Operator) + escaper.Replace(r.Value)
}

var escaper = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `=`, `\=`)

// Fields selects objects by some of their fields. The zero value selects everything. Which labels a resource knows is
// not decided here: see Transform.
type Fields struct{ requirements []FieldRequirement }

// ParseFields reads a field selector such as "status.phase!=Failed,spec.nodeName=n1". In a value, backslash, comma and
// equals sign have a backslash in front. Requirements are kept in the order of their text.
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

// splitTerms splits at commas that have no backslash in front.
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

// splitTerm splits at the first operator and returns the text after it, still escaped.
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
		default: // the real server prints the number of the character
			return "", fmt.Errorf("invalid field selector: unescaped character in value: %d", c)
		}
	}
	if escaped {
		return "", fmt.Errorf(`invalid field selector: invalid escape sequence: \`)
	}
	return b.String(), nil
}

// Matches reports whether an object is selected; value returns the text of the field with the given label.
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

// RequiresExact returns the value that the field must have, if f asks for one.
func (f Fields) RequiresExact(label string) (value string, ok bool) {
	for _, r := range f.requirements {
		if r.Label == label && r.Operator == Equals {
			return r.Value, true
		}
	}
	return "", false
}

// Transform returns f with every label and value replaced by the results of convert: a resource refuses unknown labels and
// translates those of old versions. If convert returns two empty strings, the requirement is dropped.
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

// String prints the requirements, separated by commas.
func (f Fields) String() string { return join(f.requirements) }

func join[R fmt.Stringer](requirements []R) string {
	texts := make([]string, len(requirements))
	for i, r := range requirements {
		texts[i] = r.String()
	}
	return strings.Join(texts, ",")
}

var operators = map[string]Operator{"In": In, "NotIn": NotIn, "Exists": Exists, "DoesNotExist": DoesNotExist}

// FromLabelSelector turns a metav1.LabelSelector into Labels. nil selects nothing, an empty one everything.
func FromLabelSelector(selector map[string]any) (Labels, error) {
	if selector == nil {
		return Nothing(), nil
	}
	labels, expressions := parts(selector)
	var list []Requirement
	for _, key := range object.SortedKeys(labels) {
		r, err := newRequirement(key, Equals, []string{labels[key]})
		if err != nil {
			return Labels{}, err
		}
		list = append(list, r)
	}
	for _, e := range expressions {
		op, ok := operators[e.operator]
		if !ok {
			return Labels{}, fmt.Errorf("%q is not a valid label selector operator", e.operator)
		}
		r, err := newRequirement(e.key, op, e.values)
		if err != nil {
			return Labels{}, err
		}
		list = append(list, r)
	}
	sortByKey(list)
	return Labels{requirements: list}, nil
}

// FormatLabelSelector prints a metav1.LabelSelector for people, as printer columns do: "<none>" when there is nothing
// to print and "<error>" when it is not valid.
func FormatLabelSelector(selector map[string]any) string {
	s, err := FromLabelSelector(selector)
	if err != nil {
		return "<error>"
	}
	if text := s.String(); text != "" {
		return text
	}
	return "<none>"
}

// ValidateOptions are the errors in a metav1.LabelSelector that are allowed. The zero value allows none.
type ValidateOptions struct {
	// AllowInvalidValues lets bad label values in expressions pass, because the stored object has some already.
	AllowInvalidValues bool
	// AllowUnknownOperators lets operators pass that this server does not know: those of a SubjectAccessReview.
	AllowUnknownOperators bool
}

// ValidateLabelSelector checks the metav1.LabelSelector at p. nil is valid.
func ValidateLabelSelector(p field.Path, selector map[string]any, o ValidateOptions) field.ErrorList {
	labels, expressions := parts(selector)
	errs := field.CheckLabels(p.Child("matchLabels"), labels)
	for i, e := range expressions {
		errs = append(errs, e.validate(p.Child("matchExpressions").Index(i), o)...)
	}
	return errs
}

// ValidateRequirement checks the metav1.LabelSelectorRequirement at p.
func ValidateRequirement(p field.Path, requirement map[string]any, o ValidateOptions) field.ErrorList {
	return expressionOf(requirement).validate(p, o)
}

// HasInvalidValue reports whether an expression of the metav1.LabelSelector has a bad label value. Updates of such
// objects set AllowInvalidValues.
func HasInvalidValue(selector map[string]any) bool {
	_, expressions := parts(selector)
	isBad := func(v string) bool { return len(field.LabelValue(v)) > 0 }
	return slices.ContainsFunc(expressions, func(e expression) bool { return slices.ContainsFunc(e.values, isBad) })
}

// expression is a metav1.LabelSelectorRequirement.
type expression struct {
	key, operator string
	values        []string
}

func (e expression) validate(p field.Path, o ValidateOptions) field.ErrorList {
	var errs field.ErrorList
	switch operators[e.operator] {
	case In, NotIn:
		if len(e.values) == 0 {
			errs = append(errs, field.Required(p.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'"))
		}
	case Exists, DoesNotExist:
		if len(e.values) > 0 {
			errs = append(errs, field.Forbidden(p.Child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
		}
	default:
		if !o.AllowUnknownOperators {
			errs = append(errs, field.Invalid(p.Child("operator"), field.Enum(e.operator), "not a valid selector operator"))
		}
	}
	errs = append(errs, field.Check(p.Child("key"), e.key, field.QualifiedName)...)
	if o.AllowInvalidValues {
		return errs
	}
	for i, v := range e.values {
		errs = append(errs, field.Check(p.Child("values").Index(i), v, field.LabelValue)...)
	}
	return errs
}

// parts takes a metav1.LabelSelector apart.
func parts(selector map[string]any) (labels map[string]string, expressions []expression) {
	o := object.Object(selector)
	for _, r := range o.Objects("matchExpressions") {
		expressions = append(expressions, expressionOf(r))
	}
	return object.StringMap(o.Map("matchLabels")), expressions
}

func expressionOf(requirement object.Object) expression {
	e := expression{key: requirement.String("key"), operator: requirement.String("operator")}
	if values := requirement.List("values"); len(values) > 0 {
		e.values = object.Strings(values)
	}
	return e
}
