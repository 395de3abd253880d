package celgo

import (
	"fmt"
	"reflect"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/kubesim/kubesim/sim/object"
)

// listVal is a JSON array. x-kubernetes-list-type determines equality and sums: the sum of two sets is their union, and
// the sum of two maps is merged by key.
type listVal struct {
	value []any
	node  *node // of the array; if nil, values have dynamic types
	// ofStruct marks a part of a built-in kind; see structOf.
	ofStruct bool
}

func (l *listVal) itemNode() *node {
	if l.node == nil {
		return nil
	}
	return l.node.items
}

func (l *listVal) at(i int) ref.Val {
	if l.ofStruct {
		return structOf(l.value[i])
	}
	return valueOf(l.value[i], l.itemNode())
}

func (l *listVal) ConvertToNative(to reflect.Type) (any, error) {
	if to.Kind() == reflect.Slice || to.Kind() == reflect.Interface {
		if to.Kind() == reflect.Slice && to.Elem().Kind() == reflect.String {
			return object.Strings(l.value), nil
		}
		return l.value, nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%s'", l.Type(), to)
}

func (l *listVal) ConvertToType(to ref.Type) ref.Val { return converted(l, types.ListType, to) }

func (l *listVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	switch {
	case !ok && l.ofStruct:
		return types.MaybeNoSuchOverloadErr(other)
	case !ok || l.Size() != o.Size():
		return types.False
	}
	if l.unordered() {
		return l.equalUnordered(o)
	}
	for i := range l.value {
		eq := types.Equal(l.at(i), o.Get(types.Int(i)))
		switch {
		case eq != types.True && l.ofStruct:
			return types.False
		case eq != types.True:
			return eq
		}
	}
	return types.True
}

func (l *listVal) Type() ref.Type { return types.ListType }
func (l *listVal) Value() any     { return l.value }
func (l *listVal) Size() ref.Val  { return types.Int(len(l.value)) }

func (l *listVal) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	switch {
	case !ok:
		return types.MaybeNoSuchOverloadErr(other)
	case l.unordered():
		return l.merge(o)
	}
	if l.node != nil && !l.node.env.since(37) {
		return &listVal{value: l.appendNative(o), node: l.node}
	}
	if theirs, ok := o.(*listVal); ok && theirs.itemNode() == l.itemNode() && theirs.ofStruct == l.ofStruct {
		sum := *l
		sum.value = slices.Concat(l.value, theirs.value)
		return &sum
	}
	sum := slices.AppendSeq(slices.Collect(elements(l)), elements(o))
	return types.NewRefValList(types.DefaultTypeAdapter, sum)
}

// appendNative returns the list with the Go values of another list appended. Before 1.37, servers apply the schema of the list
// to the sum, even if some of its elements do not match the schema.
func (l *listVal) appendNative(o traits.Lister) []any {
	sum := slices.Clone(l.value)
	for v := range elements(o) {
		sum = append(sum, v.Value())
	}
	return sum
}

func (l *listVal) Contains(v ref.Val) ref.Val {
	if types.IsUnknownOrError(v) {
		return v
	}
	for i := range l.value {
		if types.Equal(l.at(i), v) == types.True {
			return types.True
		}
	}
	return types.False
}

func (l *listVal) Get(index ref.Val) ref.Val {
	i := int64(-1)
	switch index := index.(type) {
	case types.Int:
		i = int64(index)
	case types.Uint:
		i = int64(index)
	case types.Double:
		if i = int64(index); float64(i) != float64(index) {
			return types.NewErr("unsupported index value: %v", float64(index))
		}
	default:
		if !l.ofStruct {
			return types.ValOrErr(index, "unsupported index: %v", index)
		}
	}
	if _, ok := index.(types.Int); !ok && l.ofStruct {
		return types.ValOrErr(index, "unsupported index type: %T", index)
	}
	if i < 0 || i >= int64(len(l.value)) {
		return types.NewErr("index out of bounds: %v", index)
	}
	return l.at(int(i))
}

func (l *listVal) Iterator() traits.Iterator { return &iterator{at: l.at, size: len(l.value)} }
