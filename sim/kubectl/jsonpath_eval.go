package kubectl

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// print prints the template for a value.
func (t *template) print(value any) (string, error) {
	var b strings.Builder
	err := printNodes(&b, t.nodes, value)
	return b.String(), err
}

func printNodes(b *strings.Builder, nodes []node, value any) error {
	for _, n := range nodes {
		if n.steps == nil {
			b.WriteString(n.text)
			continue
		}
		found, err := follow(n.steps, []any{value}, value)
		if err != nil {
			return err
		}
		for i, v := range found {
			if n.loop {
				if err := printNodes(b, n.body, v); err != nil {
					return err
				}
				continue
			}
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(plain(v))
		}
	}
	return nil
}

// all returns the values of all paths.
func (t *template) all(value any) ([]any, error) {
	out := []any{}
	for _, n := range t.nodes {
		if n.steps == nil {
			continue
		}
		found, err := follow(n.steps, []any{value}, value)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// plain prints a value: a text as it is, objects and arrays as JSON.
func plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return ""
	}
	return string(object.JSON(v))
}

// follow takes the steps of a path from some values. What is not there is left out.
func follow(steps []step, values []any, root any) ([]any, error) {
	for i := range steps {
		var next []any
		for _, v := range values {
			found, err := steps[i].take(v, root)
			if err != nil {
				return nil, err
			}
			next = append(next, found...)
		}
		values = next
	}
	return values, nil
}

func (s *step) take(v, root any) ([]any, error) {
	switch s.kind {
	case 'v':
		return []any{s.value}, nil
	case 'f':
		if m, ok := v.(map[string]any); ok {
			if found, ok := m[s.field]; ok {
				return []any{found}, nil
			}
		}
		return nil, nil
	case '*':
		return children(v), nil
	case 'r':
		return below(v), nil
	case 'u':
		var out []any
		for i := range s.union {
			found, err := s.union[i].take(v, root)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
		return out, nil
	case '?':
		var out []any
		for _, item := range children(v) {
			if ok, err := s.lets(item, root); err != nil {
				return nil, err
			} else if ok {
				out = append(out, item)
			}
		}
		return out, nil
	}
	return s.slice(v)
}

// slice takes elements of an array.
func (s *step) slice(v any) ([]any, error) {
	list, ok := v.([]any)
	if !ok {
		if v == nil {
			return nil, nil
		}
		return nil, fmt.Errorf("%s is not array or slice", plain(v))
	}
	at := func(text string, otherwise int) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			return otherwise
		}
		if n < 0 {
			n += len(list)
		}
		return n
	}
	from := at(s.bounds[0], 0)
	if s.bounds[1] == "-" {
		if from < 0 || from >= len(list) {
			return nil, fmt.Errorf("array index out of bounds: index %s, length %d", s.bounds[0], len(list))
		}
		return list[from : from+1], nil
	}
	to, by := min(at(s.bounds[1], len(list)), len(list)), at(s.bounds[2], 1)
	var out []any
	for i := max(from, 0); i < to && by > 0; i += by {
		out = append(out, list[i])
	}
	return out, nil
}

// children returns the elements of an array, or the values of an object by the order of their names.
func children(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case map[string]any:
		out := make([]any, 0, len(v))
		for _, k := range object.SortedKeys(v) {
			out = append(out, v[k])
		}
		return out
	}
	return nil
}

// below returns a value and everything in it.
func below(v any) []any {
	out := []any{v}
	for _, child := range children(v) {
		out = append(out, below(child)...)
	}
	return out
}

// lets reports whether a filter lets an element through.
func (s *step) lets(item, root any) (bool, error) {
	left, err := follow(s.left, []any{item}, root)
	if err != nil || s.op == "" {
		return len(left) > 0, err
	}
	right, err := follow(s.right, []any{item}, root)
	if err != nil || len(left) == 0 || len(right) == 0 {
		return false, err
	}
	order := compare(left[0], right[0])
	switch s.op {
	case "==":
		return order == 0, nil
	case "!=":
		return order != 0, nil
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	}
	return order >= 0, nil
}

// compare orders two values: numbers by their size, others by what they are printed as.
func compare(a, b any) int {
	x, err := strconv.ParseFloat(plain(a), 64)
	y, err2 := strconv.ParseFloat(plain(b), 64)
	if err == nil && err2 == nil {
		return cmp.Compare(x, y)
	}
	return strings.Compare(plain(a), plain(b))
}
