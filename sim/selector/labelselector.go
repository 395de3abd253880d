package selector

import (
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

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
