package celgo

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/kubesim/kubesim/sim/quantity"
)

var typeQuantity = cel.ObjectType("kubernetes.Quantity")

func quantityVal(q quantity.Quantity) ref.Val { return newQuantity(q) }

// computedQuantity returns the result of add or sub. It cannot be the right operand of ==: these functions of Kubernetes return a
// pointer, and Quantity.Equal in k8s.io/apiserver compares values only.
func computedQuantity(q quantity.Quantity) ref.Val {
	v := newQuantity(q)
	v.pointer = true
	return v
}

func newQuantity(q quantity.Quantity) *special {
	return &special{typ: typeQuantity, value: q, text: q.String(),
		equal: func(other any) bool { return other.(quantity.Quantity).Cmp(q) == 0 }}
}

// quantityFunctions returns quantity, isQuantity and the arithmetic functions of quantities.
func quantityFunctions() []cel.EnvOption {
	number := func(n int64) quantity.Quantity { return quantity.New(n, quantity.DecimalSI) }
	compute := func(name string, f func(q, r quantity.Quantity) quantity.Quantity) cel.EnvOption {
		return cel.Function(name,
			member("quantity_"+name, typeQuantity, binary(func(q, r quantity.Quantity) ref.Val {
				return computedQuantity(f(q, r))
			}), typeQuantity, typeQuantity),
			member("quantity_"+name+"_int", typeQuantity, binary(func(q quantity.Quantity, n int64) ref.Val {
				return computedQuantity(f(q, number(n)))
			}), typeQuantity, cel.IntType))
	}
	return append(comparing("quantity", typeQuantity, quantity.Quantity.Cmp),
		cel.Function("quantity", parsing("string_to_quantity", typeQuantity, quantity.Parse, quantityVal)),
		parses("isQuantity", "is_quantity_string", quantity.Parse),
		cel.Function("sign", overload("quantity_sign", cel.IntType,
			unary(func(q quantity.Quantity) ref.Val { return types.Int(q.Sign()) }), typeQuantity)),
		property("asApproximateFloat", "quantity_get_float", typeQuantity, cel.DoubleType, func(q quantity.Quantity) ref.Val {
			return types.Double(q.Float())
		}),
		property("asInteger", "quantity_get_int", typeQuantity, cel.IntType, func(q quantity.Quantity) ref.Val {
			n, ok := q.Int64()
			if !ok {
				return types.NewErr("cannot convert value to integer")
			}
			return types.Int(n)
		}),
		property("isInteger", "quantity_is_integer", typeQuantity, cel.BoolType, func(q quantity.Quantity) ref.Val {
			_, ok := q.Int64()
			return types.Bool(ok)
		}),
		compute("add", quantity.Quantity.Add),
		compute("sub", quantity.Quantity.Sub))
}
