package selector

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Operator is the comparison operator of a requirement.
type Operator string

const (
	In           Operator = "in"
	NotIn        Operator = "notin"
	Equals       Operator = "="
	DoubleEquals Operator = "=="
	NotEquals    Operator = "!="
	Exists       Operator = "exists"
	DoesNotExist Operator = "!"
	GreaterThan  Operator = "gt"
	LessThan     Operator = "lt"
)

// Requirement is a condition on the labels of an object.
type Requirement struct {
	Key      string
	Operator Operator
	Values   []string
}

// newRequirement returns a requirement. It returns an error if the requirement is invalid (labels.NewRequirement).
func newRequirement(key string, op Operator, values []string) (Requirement, error) {
	r := Requirement{key, op, values}
	if errs := r.check(); len(errs) > 0 {
		return Requirement{}, invalid(errs)
	}
	return r, nil
}

// invalid combines field errors into one error.
type invalid field.ErrorList

func (e invalid) Error() string { return field.ErrorList(e).Text() }

func (r Requirement) check() field.ErrorList {
	var errs field.ErrorList
	if err := checkKey(r.Key, field.Root("key")); err != nil {
		errs = append(errs, err)
	}
	path := field.Root("values")
	switch r.Operator {
	case In, NotIn:
		if len(r.Values) == 0 {
			errs = append(errs, field.Invalid(path, r.Values, "for 'in', 'notin' operators, values set can't be empty"))
		}
	case Exists, DoesNotExist:
		if len(r.Values) != 0 {
			errs = append(errs, field.Invalid(path, r.Values, "values set must be empty for exists and does not exist"))
		}
	case GreaterThan, LessThan: // created only by the parser, with a single value
		if _, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil {
			errs = append(errs, field.Invalid(path.Index(0), r.Values[0], "for 'Gt', 'Lt' operators, the value must be an integer"))
		}
	}
	for i, v := range r.Values {
		if msgs := field.LabelValue(v); len(msgs) > 0 {
			errs = append(errs, field.Invalid(path.Index(i).Key(r.Key), v, strings.Join(msgs, "; ")))
		}
	}
	return errs
}

func checkKey(key string, p field.Path) *field.Error {
	if msgs := field.QualifiedName(key); len(msgs) > 0 {
		return field.Invalid(p, key, strings.Join(msgs, "; "))
	}
	return nil
}

// matches reports whether the labels meet the requirement.
func (r Requirement) matches(label func(name string) (value string, ok bool)) bool {
	value, ok := label(r.Key)
	switch r.Operator {
	case In, Equals, DoubleEquals:
		return ok && slices.Contains(r.Values, value)
	case NotIn, NotEquals:
		return !ok || !slices.Contains(r.Values, value)
	case Exists:
		return ok
	case DoesNotExist:
		return !ok
	case GreaterThan, LessThan:
		return ok && r.compare(value)
	}
	return false
}

func (r Requirement) compare(value string) bool {
	n, err := strconv.ParseInt(value, 10, 64)
	limit, err2 := strconv.ParseInt(r.Values[0], 10, 64)
	if err != nil || err2 != nil {
		return false
	}
	return r.Operator == GreaterThan && n > limit || r.Operator == LessThan && n < limit
}

// String returns the requirement in the syntax of ParseLabels. Values are sorted.
func (r Requirement) String() string {
	switch r.Operator {
	case Exists:
		return r.Key
	case DoesNotExist:
		return "!" + r.Key
	}
	values := r.Values
	if !slices.IsSorted(values) {
		values = slices.Sorted(slices.Values(values))
	}
	text := strings.Join(values, ",")
	switch r.Operator {
	case In, NotIn:
		return r.Key + " " + string(r.Operator) + " (" + text + ")"
	case GreaterThan:
		return r.Key + ">" + text
	case LessThan:
		return r.Key + "<" + text
	}
	return r.Key + string(r.Operator) + text
}

// Labels selects objects by their labels. The zero value selects everything. Requirements are sorted by key.
type Labels struct {
	requirements []Requirement
	nothing      bool
}

// Nothing returns the selector that matches no objects.
func Nothing() Labels { return Labels{nothing: true} }

// FromSet returns the selector for objects that have all given labels. The labels are not validated. If there are none, it selects
// everything.
func FromSet(labels map[string]string) Labels {
	var s Labels
	for _, key := range object.SortedKeys(labels) {
		s.requirements = append(s.requirements, Requirement{key, Equals, []string{labels[key]}})
	}
	return s
}

// Matches reports whether s selects an object with the given labels.
func (s Labels) Matches(labels map[string]string) bool {
	return s.Match(func(name string) (string, bool) { value, ok := labels[name]; return value, ok })
}

// Match is like Matches, but calls a function to look up labels.
func (s Labels) Match(label func(name string) (value string, ok bool)) bool {
	for _, r := range s.requirements {
		if !r.matches(label) {
			return false
		}
	}
	return !s.nothing
}

// Requirements returns the requirements of s. The caller must not modify them. Nothing has none.
func (s Labels) Requirements() []Requirement { return s.requirements }

// Empty reports whether s selects everything.
func (s Labels) Empty() bool { return !s.nothing && len(s.requirements) == 0 }

// IsNothing reports whether s selects nothing, whatever the labels are.
func (s Labels) IsNothing() bool { return s.nothing }

// Required yields the labels that an object must have to be selected.
func (s Labels) Required(yield func(key, value string) bool) {
	for _, r := range s.requirements {
		switch r.Operator {
		case In, Equals, DoubleEquals:
			if len(r.Values) == 1 && !yield(r.Key, r.Values[0]) {
				return
			}
		}
	}
}

// String returns the requirements separated by commas. It returns "" both for Nothing and for a selector that selects everything.
func (s Labels) String() string { return join(s.requirements) }

func sortByKey(list []Requirement) {
	slices.SortStableFunc(list, func(a, b Requirement) int { return strings.Compare(a.Key, b.Key) })
}
