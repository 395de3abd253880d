package selector

import (
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

var operators = map[string]Operator{"In": In, "NotIn": NotIn, "Exists": Exists, "DoesNotExist": DoesNotExist}

// FromLabelSelector converts a metav1.LabelSelector to Labels. A nil selector selects nothing, and an empty selector selects
// everything. FromLabelSelector returns an error if a requirement is invalid.
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

// FormatLabelSelector returns a metav1.LabelSelector in the format of printer columns. It returns "<none>" for an empty selector
// and "<error>" for an invalid one.
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

// ValidateOptions specifies which errors in a metav1.LabelSelector are allowed. The zero value allows none.
type ValidateOptions struct {
	// AllowInvalidValues allows invalid label values in expressions. It is for objects whose stored version already contains some.
	AllowInvalidValues bool
	// AllowUnknownOperators allows operators that this server does not support. It is for SubjectAccessReviews.
	AllowUnknownOperators bool
}

// ValidateLabelSelector validates a metav1.LabelSelector. p is its path. A nil selector is valid.
func ValidateLabelSelector(p field.Path, selector map[string]any, o ValidateOptions) field.ErrorList {
	labels, expressions := parts(selector)
	errs := field.CheckLabels(p.Child("matchLabels"), labels)
	for i, e := range expressions {
		errs = append(errs, e.validate(p.Child("matchExpressions").Index(i), o)...)
	}
	return errs
}

// ValidateRequirement validates a metav1.LabelSelectorRequirement. p is its path.
func ValidateRequirement(p field.Path, requirement map[string]any, o ValidateOptions) field.ErrorList {
	return expressionOf(requirement).validate(p, o)
}

// HasInvalidValue reports whether an expression of a metav1.LabelSelector contains an invalid label value. For updates of such
// objects, AllowInvalidValues must be set.
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

// parts returns the labels and expressions of a metav1.LabelSelector.
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
