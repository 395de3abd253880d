package celgo

import (
	"regexp"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// listFunctions are isSorted, sum, min, max, indexOf and lastIndexOf.
func listFunctions() []cel.EnvOption {
	var sorted, sum, least, greatest []cel.FunctionOpt
	element := []struct {
		name string
		typ  *cel.Type
		zero ref.Val // nil: no sums
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
	return []cel.EnvOption{
		cel.Function("isSorted", sorted...), cel.Function("sum", sum...),
		cel.Function("min", least...), cel.Function("max", greatest...),
		cel.Function("indexOf", member("list_a_index_of_int", cel.IntType, cel.BinaryBinding(indexOf), cel.ListType(a), a)),
		cel.Function("lastIndexOf", member("list_a_last_index_of_int", cel.IntType, cel.BinaryBinding(lastIndexOf), cel.ListType(a), a)),
	}
}

// ofList is a binding of a function of a list.
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
	for it := list.Iterator(); it.HasNext() == types.True; {
		x := it.Next()
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

// extreme returns the function that finds the value which others compare to as worse: min, max.
func extreme(name string, worse ref.Val) func(traits.Lister) ref.Val {
	return func(list traits.Lister) ref.Val {
		var best ref.Val
		for it := list.Iterator(); it.HasNext() == types.True; {
			x := it.Next()
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
		for it := list.Iterator(); it.HasNext() == types.True; {
			a, ok := sum.(traits.Adder)
			if !ok {
				return types.MaybeNoSuchOverloadErr(sum)
			}
			if sum = a.Add(it.Next()); types.IsUnknownOrError(sum) {
				return sum
			}
		}
		return sum
	}
}

func indexOf(v, want ref.Val) ref.Val     { return position(v, want, false) }
func lastIndexOf(v, want ref.Val) ref.Val { return position(v, want, true) }

// position returns where a value stands in a list, the first time or the last, -1 for nowhere.
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

// regexFunctions are find and findAll (RE2).
func regexFunctions() []cel.EnvOption {
	return []cel.EnvOption{
		cel.Function("find", member("string_find_string", cel.StringType, binary(find), cel.StringType, cel.StringType)),
		cel.Function("findAll",
			member("string_find_all_string", cel.ListType(cel.StringType),
				binary(func(s, expr string) ref.Val { return findAll(s, expr, -1) }), cel.StringType, cel.StringType),
			member("string_find_all_string_int", cel.ListType(cel.StringType), cel.FunctionBinding(findSome),
				cel.StringType, cel.StringType, cel.IntType)),
	}
}

func find(s, expr string) ref.Val {
	re, err := regexp.Compile(expr)
	if err != nil {
		return types.NewErr("Illegal regex: %v", err.Error())
	}
	return types.String(re.FindString(s))
}

func findAll(s, expr string, n int) ref.Val {
	re, err := regexp.Compile(expr)
	if err != nil {
		return types.NewErr("Illegal regex: %v", err.Error())
	}
	return types.NewStringList(types.DefaultTypeAdapter, re.FindAllString(s, n))
}

func findSome(args ...ref.Val) ref.Val {
	s, ok := args[0].Value().(string)
	expr, ok2 := args[1].Value().(string)
	n, ok3 := args[2].Value().(int64)
	if !ok || !ok2 || !ok3 {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	return findAll(s, expr, int(max(n, -1)))
}
