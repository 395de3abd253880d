package gotemplate

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// kind returns the kind by which text/template compares values; "" for a missing value.
func kind(value any) string {
	switch value.(type) {
	case nil, missing:
		return ""
	case bool, string, int, float64:
		return fmt.Sprintf("%T", value)
	}
	return "other"
}

var errType = errors.New("invalid type for comparison")

func incompatible(a, b any) error {
	return fmt.Errorf("incompatible types for comparison: %T and %T", a, b)
}

// equal reports whether the first argument equals one of the others.
func equal(args []any) (bool, error) {
	if len(args) == 1 {
		return false, errors.New("missing argument for comparison")
	}
	first := kind(args[0])
	for _, a := range args[1:] {
		switch k := kind(a); {
		case first == "other" || k == "other":
			if first == k {
				return false, fmt.Errorf("non-comparable type %v: %T", args[0], args[0])
			}
			if first != "" && k != "" {
				return false, incompatible(args[0], a)
			}
		case first != k:
			if first != "" && k != "" {
				return false, incompatible(args[0], a)
			}
		case k == "" || args[0] == a:
			return true, nil
		}
	}
	return false, nil
}

// order returns the result of lt, le, gt or ge.
func order(name string, args []any) (any, error) {
	c := 0
	switch a := args[0].(type) {
	case string:
		b, ok := args[1].(string)
		if !ok {
			return false, unordered(a, args[1])
		}
		c = strings.Compare(a, b)
	case int:
		b, ok := args[1].(int)
		if !ok {
			return false, unordered(a, args[1])
		}
		c = cmp.Compare(a, b)
	case float64:
		b, ok := args[1].(float64)
		if !ok {
			return false, unordered(a, args[1])
		}
		c = cmp.Compare(a, b)
	default:
		return false, errType
	}
	switch name {
	case "lt":
		return c < 0, nil
	case "le":
		return c <= 0, nil
	case "gt":
		return c > 0, nil
	}
	return c >= 0, nil
}

// unordered returns the error for two values of which the first has an order.
func unordered(a, b any) error {
	if k := kind(b); k == "" || k == "other" {
		return errType
	}
	return incompatible(a, b)
}
