package celgo

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"
	"cel.dev/cel-go/interpreter"
)

// listFunctions returns isSorted, sum, min, max, indexOf and lastIndexOf, and since 1.37 includes.
func listFunctions(withIncludes bool) []cel.EnvOption {
	var sorted, sum, least, greatest []cel.FunctionOpt
	element := []struct {
		name string
		typ  *cel.Type
		zero ref.Val // nil if the type does not support sums
	}{
		{"int", cel.IntType, types.Int(0)}, {"uint", cel.UintType, types.Uint(0)}, {"double", cel.DoubleType, types.Double(0)},
		{"bool", cel.BoolType, nil}, {"duration", cel.DurationType, types.Duration{}}, {"timestamp", cel.TimestampType, nil},
		{"string", cel.StringType, nil}, {"bytes", cel.BytesType, nil},
	}
	for _, e := range element {
		list := cel.ListType(e.typ)
		sorted = append(sorted, member("list_"+e.name+"_is_sorted_bool", cel.BoolType, ofList(isSorted), list))
		least = append(least, member("list_"+e.name+"_min_"+e.name, e.typ, ofList(extreme("min", types.IntOne)), list))
		greatest = append(greatest, member("list_"+e.name+"_max_"+e.name, e.typ, ofList(extreme("max", types.IntNegOne)), list))
		if e.zero != nil {
			sum = append(sum, member("list_"+e.name+"_sum_"+e.name, e.typ, ofList(sumFrom(e.zero)), list))
		}
	}
	a := cel.TypeParamType("A")
	options := []cel.EnvOption{
		cel.Function("isSorted", sorted...), cel.Function("sum", sum...),
		cel.Function("min", least...), cel.Function("max", greatest...),
		cel.Function("indexOf", member("list_a_index_of_int", cel.IntType, cel.BinaryBinding(indexOf), cel.ListType(a), a)),
		cel.Function("lastIndexOf", member("list_a_last_index_of_int", cel.IntType, cel.BinaryBinding(lastIndexOf), cel.ListType(a), a)),
	}
	if withIncludes {
		options = append(options, cel.Function("includes",
			member("list_includes_dyn_dyn", cel.BoolType, cel.BinaryBinding(includes), cel.DynType, cel.DynType)))
	}
	return options
}

// listLibrary returns the list library of cel-go. In old versions, lists.range does not limit the length, and returns an
// empty list for a negative one.
func (e *environment) listLibrary() []cel.EnvOption {
	options := []cel.EnvOption{ext.Lists(ext.ListsVersion(3))}
	if e.celgo <= oldCELGo {
		options = append(options, cel.Function("lists.range",
			overload("lists_range", cel.ListType(cel.IntType), cel.UnaryBinding(countTo), cel.IntType)))
	}
	return options
}

// countTo implements lists.range. If the list has more elements than the cost limit allows, it cancels the evaluation
// before it creates the list.
func countTo(v ref.Val) ref.Val {
	n, ok := v.(types.Int)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	if n > callLimit {
		panic(interpreter.EvalCancelledError{Cause: interpreter.CostLimitExceeded, Message: "operation cancelled: actual cost limit exceeded"})
	}
	list := make([]ref.Val, max(n, 0))
	for i := range list {
		list[i] = types.Int(i)
	}
	return types.NewRefValList(types.DefaultTypeAdapter, list)
}

// ofList returns the binding of a function that takes a list.
func ofList(f func(traits.Lister) ref.Val) cel.OverloadOpt {
	return cel.UnaryBinding(func(v ref.Val) ref.Val {
		list, ok := v.(traits.Lister)
		if !ok {
			return types.MaybeNoSuchOverloadErr(v)
		}
		return f(list)
	})
}

func isSorted(list traits.Lister) ref.Val {
	var last traits.Comparer
	for x := range elements(list) {
		next, ok := x.(traits.Comparer)
		if !ok {
			return types.MaybeNoSuchOverloadErr(x)
		}
		if last != nil {
			if c := last.Compare(x); c == types.IntOne {
				return types.False
			} else if types.IsError(c) {
				return c
			}
		}
		last = next
	}
	return types.True
}

// extreme returns a function that finds the minimum or maximum of a list. worse is the result of comparing any other element with
// it.
func extreme(name string, worse ref.Val) func(traits.Lister) ref.Val {
	return func(list traits.Lister) ref.Val {
		var best ref.Val
		for x := range elements(list) {
			c, ok := x.(traits.Comparer)
			if !ok {
				return types.MaybeNoSuchOverloadErr(x)
			}
			if best == nil {
				best = x
				continue
			}
			if order := c.Compare(best); types.IsError(order) {
				return order
			} else if order != worse && order != types.IntZero {
				best = x
			}
		}
		if best == nil {
			return types.NewErr("%s called on empty list", name)
		}
		return best
	}
}

func sumFrom(zero ref.Val) func(traits.Lister) ref.Val {
	return func(list traits.Lister) ref.Val {
		sum := zero
		for x := range elements(list) {
			a, ok := sum.(traits.Adder)
			if !ok {
				return types.MaybeNoSuchOverloadErr(sum)
			}
			if sum = a.Add(x); types.IsUnknownOrError(sum) {
				return sum
			}
		}
		return sum
	}
}

func indexOf(v, want ref.Val) ref.Val     { return position(v, want, false) }
func lastIndexOf(v, want ref.Val) ref.Val { return position(v, want, true) }

// includes reports whether a list contains want. If v is not a list, it reports whether v equals want.
func includes(v, want ref.Val) ref.Val {
	list, ok := v.(traits.Lister)
	if !ok {
		return types.Bool(v.Equal(want) == types.True)
	}
	return types.Bool(position(list, want, false) != types.IntNegOne)
}

// position returns the first or last index of a value in a list, or -1 if the list does not contain it. If v is not a list, it
// returns an error.
func position(v, want ref.Val, last bool) ref.Val {
	list, ok := v.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	n := list.Size().(types.Int)
	for i := range n {
		if last {
			i = n - 1 - i
		}
		if list.Get(i).Equal(want) == types.True {
			return i
		}
	}
	return types.IntNegOne
}
