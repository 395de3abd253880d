package jsonpath

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
)

// valuesMax limits the number of values that a step selects, so that a path cannot exhaust the resources of a server.
const valuesMax = 10_000

// path is a sequence of steps, the contents of braces.
type path []step

// step maps values to the values that it selects.
type step interface {
	from(values []any) ([]any, error)
}

func (p path) follow(values []any) ([]any, error) {
	for _, s := range p {
		var err error
		if values, err = s.from(values); err != nil {
			return nil, err
		}
		values = values[:min(len(values), valuesMax)]
	}
	return values, nil
}

// field selects the value of a field of each object.
type field string

func (f field) from(values []any) (out []any, err error) {
	for _, v := range values {
		if m, ok := v.(map[string]any); ok {
			if x, ok := m[string(f)]; ok {
				out = append(out, x)
			}
		}
	}
	return out, nil
}

// word is a name without a dot: range, or end without a range. Anything else is a syntax error.
type word string

func (w word) from(values []any) ([]any, error) {
	switch w {
	case "range":
		return values, nil
	case "end":
		return nil, errors.New("not in range, nothing to end")
	}
	return nil, fmt.Errorf("unrecognized identifier %s", string(w))
}

// constant is a literal. A string literal yields its value once, and a number or boolean once for each input value.
type constant struct{ value any }

func (c constant) from(values []any) ([]any, error) {
	if _, ok := c.value.(string); ok {
		return []any{c.value}, nil
	}
	out := make([]any, len(values))
	for i := range out {
		out[i] = c.value
	}
	return out, nil
}

// all selects the elements of lists, the values of objects, sorted by key, and the bytes of strings.
type all struct{}

func (all) from(values []any) (out []any, err error) {
	for _, v := range values {
		switch v := v.(type) {
		case []any:
			out = append(out, v...)
		case map[string]any:
			for _, name := range object.SortedKeys(v) {
				out = append(out, v[name])
			}
		case string:
			for i := range len(v) {
				out = append(out, int64(v[i])) // as in Go's reflection
			}
		}
	}
	return out, nil
}

// below selects the input values and all values inside them, except for numbers, booleans and empty values.
type below struct{}

func (b below) from(values []any) (out []any, err error) {
	for _, v := range values {
		if len(out) > valuesMax {
			break
		}
		if text, ok := v.(string); ok {
			if text != "" {
				out = append(out, v)
			}
			continue
		}
		in, _ := all{}.from([]any{v})
		if len(in) == 0 {
			continue
		}
		deeper, _ := b.from(in)
		out = append(append(out, v), deeper...)
	}
	return out, nil
}

// union selects the values of each of its paths in turn.
type union []path

func (u union) from(values []any) (out []any, err error) {
	for _, p := range u {
		found, err := p.follow(values)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// bound is an optional bound of a slice.
type bound struct {
	n     int
	given bool
}

// slice selects the elements of lists in a range, with a step, or a single element.
type slice struct {
	start, end, by bound
	single         bool
}

func (s slice) from(values []any) (out []any, err error) {
	for _, v := range values {
		if v == nil {
			continue
		}
		list, ok := v.([]any)
		if !ok {
			return nil, fmt.Errorf("%T is not array or slice", v)
		}
		from, to := s.bounds(len(list))
		switch {
		case from == to: // an empty slice ends the step: later values are skipped
			return out, nil
		case from < 0 || from >= len(list):
			return nil, fmt.Errorf("array index out of bounds: index %d, length %d", from, len(list))
		case to < 0 || to > len(list):
			return nil, fmt.Errorf("array index out of bounds: index %d, length %d", to-1, len(list))
		case from > to:
			return nil, fmt.Errorf("starting index %d is greater than ending index %d", from, to)
		case s.by.given && s.by.n <= 0:
			return nil, errors.New("step must be > 0")
		}
		for by := max(s.by.n, 1); from < to; from += min(by, to-from) {
			out = append(out, list[from])
		}
	}
	return out, nil
}

// bounds returns the bounds for a list of n elements. Negative bounds count from the end of the list.
func (s slice) bounds(n int) (from, to int) {
	from, to = s.start.n, s.end.n
	switch {
	case s.single:
		to = from + 1
	case !s.end.given:
		to = n
	}
	if from < 0 {
		from += n
	}
	if to < 0 || to == 0 && s.single {
		to += n
	}
	return from, to
}

// filter selects those elements of lists for which a comparison is true, or in which a path exists.
type filter struct {
	left, right path
	op          string // if empty, the filter checks that left exists
}

func (f filter) from(values []any) (out []any, err error) {
	for _, v := range values {
		list, ok := v.([]any)
		if !ok {
			return nil, fmt.Errorf("%v is not array or slice and cannot be filtered", v)
		}
		for _, x := range list {
			if ok, err := f.lets(x); err != nil {
				return nil, err
			} else if ok {
				out = append(out, x)
			}
		}
	}
	return out, nil
}

// lets reports whether the filter selects the element. It returns an error if a side of the comparison has several values.
func (f filter) lets(x any) (bool, error) {
	left, err := f.left.follow([]any{x})
	if f.op == "" {
		return len(left) > 0, nil
	}
	if err != nil || len(left) == 0 {
		return false, err
	}
	right, err := f.right.follow([]any{x})
	if err != nil || len(right) == 0 {
		return false, err
	}
	if len(left) > 1 || len(right) > 1 {
		return false, errors.New("can only compare one element at a time")
	}
	return holds(left[0], f.op, right[0])
}

// holds evaluates a comparison of two values of the same type: strings, integers, floating-point numbers, or booleans. Booleans can
// only be compared for equality. Other comparisons are errors.
func holds(a any, op string, b any) (bool, error) {
	var order int
	var alike bool
	switch x := a.(type) {
	case string:
		order, alike = orderOf(x, b)
	case int64:
		order, alike = orderOf(x, b)
	case float64:
		order, alike = orderOf(x, b)
	case bool:
		y, ok := b.(bool)
		if ok && op != "==" && op != "!=" {
			return false, errBadType
		}
		if alike = ok; x != y {
			order = 1
		}
	default:
		return false, errBadType
	}
	holds, known := map[string]bool{"==": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0,
		">=": order >= 0}[op]
	switch {
	case !known:
		return false, fmt.Errorf("unrecognized filter operator %s", op)
	case alike:
		return holds, nil
	case basic(b):
		return false, errors.New("incompatible types for comparison")
	}
	return false, errBadType
}

var errBadType = errors.New("invalid type for comparison")

// basic reports whether a value can be compared.
func basic(v any) bool {
	switch v.(type) {
	case nil, map[string]any, []any:
		return false
	}
	return true
}

// orderOf compares two values. If their types differ, ok is false.
func orderOf[T cmp.Ordered](a T, other any) (order int, ok bool) {
	b, ok := other.(T)
	return cmp.Compare(a, b), ok
}
