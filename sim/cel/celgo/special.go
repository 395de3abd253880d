package celgo

import (
	"fmt"
	"reflect"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// special is a value of a type that Kubernetes adds, such as a quantity, a URL or an IP address.
type special struct {
	typ   *cel.Type
	value any
	equal func(other any) bool
	text  string // string(x)
	texts bool   // string(x) is allowed
	size  int64  // the cost of comparing two values, in bytes

	pointer bool // see computedQuantity
}

func (s *special) ConvertToNative(to reflect.Type) (any, error) {
	if reflect.TypeOf(s.value).AssignableTo(to) {
		return s.value, nil
	}
	if to.Kind() == reflect.String {
		return s.text, nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%v'", s.typ, to)
}

func (s *special) ConvertToType(to ref.Type) ref.Val {
	switch to.TypeName() {
	case s.typ.TypeName():
		return s
	case types.TypeType.TypeName():
		return s.typ
	case types.StringType.TypeName():
		if s.texts {
			return types.String(s.text)
		}
	}
	return conversionError(s.typ, to)
}

func (s *special) Equal(other ref.Val) ref.Val {
	o, ok := other.(*special)
	if !ok || o.typ != s.typ || o.pointer {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(s.equal(o.value))
}

func (s *special) Type() ref.Type { return s.typ }
func (s *special) Value() any     { return s.value }
func (s *special) Size() ref.Val  { return types.Int(max(s.size, 1)) }

// unary returns the binding of a function with one argument of Go type T.
func unary[T any](f func(T) ref.Val) cel.OverloadOpt {
	return cel.UnaryBinding(func(v ref.Val) ref.Val {
		x, ok := v.Value().(T)
		if !ok {
			return types.MaybeNoSuchOverloadErr(v)
		}
		return f(x)
	})
}

// binary returns the binding of a function with two arguments of Go types T and U.
func binary[T, U any](f func(T, U) ref.Val) cel.OverloadOpt {
	return cel.BinaryBinding(func(v, w ref.Val) ref.Val {
		x, ok := v.Value().(T)
		if !ok {
			return types.MaybeNoSuchOverloadErr(v)
		}
		y, ok := w.Value().(U)
		if !ok {
			return types.MaybeNoSuchOverloadErr(w)
		}
		return f(x, y)
	})
}

// parsing returns an overload that converts a string. parse parses the string, and value converts the result to a CEL value.
func parsing[T any](id string, typ *cel.Type, parse func(string) (T, error), value func(T) ref.Val) cel.FunctionOpt {
	return overload(id, typ, unary(func(s string) ref.Val {
		x, err := parse(s)
		if err != nil {
			return types.WrapErr(err)
		}
		return value(x)
	}), cel.StringType)
}

// parses declares a function that reports whether parse accepts a string.
func parses[T any](function, id string, parse func(string) (T, error)) cel.EnvOption {
	return cel.Function(function, overload(id, cel.BoolType, unary(func(s string) ref.Val {
		_, err := parse(s)
		return types.Bool(err == nil)
	}), cel.StringType))
}

// comparing declares isLessThan, isGreaterThan and compareTo for a type.
func comparing[T any](prefix string, typ *cel.Type, compare func(a, b T) int) []cel.EnvOption {
	function := func(name, id string, result *cel.Type, f func(order int) ref.Val) cel.EnvOption {
		return cel.Function(name, member(prefix+id, result, binary(func(a, b T) ref.Val { return f(compare(a, b)) }), typ, typ))
	}
	return []cel.EnvOption{
		function("isGreaterThan", "_is_greater_than", cel.BoolType, func(order int) ref.Val { return types.Bool(order > 0) }),
		function("isLessThan", "_is_less_than", cel.BoolType, func(order int) ref.Val { return types.Bool(order < 0) }),
		function("compareTo", "_compare_to", cel.IntType, func(order int) ref.Val { return types.Int(order) }),
	}
}

// property declares a method without arguments for a type.
func property[T any](name, id string, of, result *cel.Type, f func(T) ref.Val) cel.EnvOption {
	return cel.Function(name, member(id, result, unary(f), of))
}

// overload and member are shorter forms of the declarations in cel-go.
func overload(id string, result *cel.Type, binding cel.OverloadOpt, args ...*cel.Type) cel.FunctionOpt {
	return cel.Overload(id, args, result, binding)
}

func member(id string, result *cel.Type, binding cel.OverloadOpt, args ...*cel.Type) cel.FunctionOpt {
	return cel.MemberOverload(id, args, result, binding)
}
