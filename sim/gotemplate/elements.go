package gotemplate

import (
	"errors"
	"fmt"
)

// length returns the number of elements of a list or a map, or of bytes of a string.
func length(value any) (any, error) {
	switch v := value.(type) {
	case string:
		return len(v), nil
	case []any:
		return len(v), nil
	case map[string]any:
		return len(v), nil
	case nil:
		return nil, errors.New("len of nil pointer")
	case missing:
		return nil, errors.New("reflect: call of reflect.Value.Type on zero Value")
	}
	return nil, fmt.Errorf("len of type %T", value)
}

// index returns an element of nested lists and maps.
func index(args []any) (any, error) {
	value := args[0]
	if _, ok := value.(missing); ok || value == nil {
		return nil, errors.New("index of untyped nil")
	}
	for _, key := range args[1:] {
		switch v := value.(type) {
		case map[string]any:
			name, ok := key.(string)
			if !ok {
				return nil, fmt.Errorf("value has type %T; should be string", key)
			}
			if value, ok = v[name]; !ok {
				value = nil
			}
		case []any:
			i, err := position(key, len(v))
			if err != nil {
				return nil, err
			}
			if i == len(v) {
				return nil, errors.New("reflect: slice index out of range")
			}
			value = v[i]
		case string:
			i, err := position(key, len(v))
			if err != nil {
				return nil, err
			}
			if i == len(v) {
				return nil, errors.New("reflect: string index out of range")
			}
			value = int(v[i])
		case nil:
			return nil, errors.New("index of nil pointer")
		default:
			return nil, fmt.Errorf("can't index item of type %T", value)
		}
	}
	return value, nil
}

// position returns the value of an index, which is from 0 to n.
func position(key any, n int) (int, error) {
	i, ok := key.(int)
	switch {
	case !ok && (key == nil || key == any(missing{})):
		return 0, errors.New("cannot index slice/array with nil")
	case !ok:
		return 0, fmt.Errorf("cannot index slice/array with type %T", key)
	case i < 0 || i > n:
		return 0, fmt.Errorf("index out of range: %d", i)
	}
	return i, nil
}

// slice returns a part of a list or a string.
func slice(args []any) (any, error) {
	n := 0
	switch v := args[0].(type) {
	case string:
		if n = len(v); len(args) == 4 {
			return nil, errors.New("cannot 3-index slice a string")
		}
	case []any:
		n = len(v)
	case nil, missing:
		return nil, errors.New("slice of untyped nil")
	default:
		return nil, fmt.Errorf("can't slice item of type %T", args[0])
	}
	bounds := []int{0, n, n}
	for i, a := range args[1:] {
		at, err := position(a, n)
		if err != nil {
			return nil, err
		}
		bounds[i] = at
	}
	if bounds[0] > bounds[1] || bounds[1] > bounds[2] {
		return nil, fmt.Errorf("invalid slice index: %d > %d", bounds[0], bounds[1])
	}
	if v, ok := args[0].(string); ok {
		return v[bounds[0]:bounds[1]], nil
	}
	return args[0].([]any)[bounds[0]:bounds[1]:bounds[2]], nil
}

// exists implements kubectl's function exists: it reports whether index would find a value.
func exists(args []any) bool {
	value := args[0]
	for _, key := range args[1:] {
		switch v := value.(type) {
		case map[string]any:
			name, _ := key.(string)
			var ok bool
			if value, ok = v[name]; !ok {
				return false
			}
		case []any:
			i, ok := key.(int)
			if !ok || i < 0 || i >= len(v) {
				return false
			}
			value = v[i]
		default:
			return false
		}
	}
	return true
}
