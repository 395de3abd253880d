package celgo

import (
	"fmt"
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/kubesim/kubesim/sim/object"
)

// listVal is a JSON array. x-kubernetes-list-type decides when two are equal and what a sum of two is: of sets the
// union, of maps a merge by their keys.
type listVal struct {
	value []any
	node  *node // of the array; nil: values decide their own types
}

func (l *listVal) itemNode() *node {
	if l.node == nil {
		return nil
	}
	return l.node.items
}

func (l *listVal) at(i int) ref.Val { return valueOf(l.value[i], l.itemNode()) }

// keyed returns what identifies an element where the order of elements does not count.
func (l *listVal) keyed() func(any) string {
	switch {
	case l.node == nil:
		return nil
	case l.node.listType == "set":
		return func(v any) string { return string(object.AppendJSON(nil, v)) }
	case l.node.listType == "map":
		return func(v any) string { key, _ := l.node.itemKey(v); return key }
	}
	return nil
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
	if !ok || l.Size() != o.Size() {
		return types.False
	}
	key := l.keyed()
	position := map[string]int{}
	if key != nil {
		for i, v := range l.value {
			position[key(v)] = i
		}
	}
	for i := range l.value {
		theirs, mine := o.Get(types.Int(i)), i
		if key != nil {
			found := false
			if v, err := jsonOf(theirs); err == nil {
				mine, found = position[key(v)]
			}
			if !found {
				return types.False
			}
		}
		if eq := types.Equal(l.at(mine), theirs); eq != types.True {
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
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	key := l.keyed()
	if key == nil {
		return l.concat(o)
	}
	sum := append([]any(nil), l.value...)
	position := map[string]int{}
	for i, v := range sum {
		position[key(v)] = i
	}
	for it := o.Iterator(); it.HasNext() == types.True; {
		v, err := jsonOf(it.Next())
		if err != nil {
			return types.WrapErr(err)
		}
		if i, ok := position[key(v)]; ok {
			sum[i] = v
			continue
		}
		position[key(v)] = len(sum)
		sum = append(sum, v)
	}
	return &listVal{value: sum, node: l.node}
}

func (l *listVal) concat(o traits.Lister) ref.Val {
	if theirs, ok := o.(*listVal); ok && theirs.itemNode() == l.itemNode() {
		return &listVal{value: append(append([]any(nil), l.value...), theirs.value...), node: l.node}
	}
	sum := make([]ref.Val, 0, len(l.value))
	for i := range l.value {
		sum = append(sum, l.at(i))
	}
	for it := o.Iterator(); it.HasNext() == types.True; {
		sum = append(sum, it.Next())
	}
	return types.NewRefValList(types.DefaultTypeAdapter, sum)
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
		return types.ValOrErr(index, "unsupported index: %v", index)
	}
	if i < 0 || i >= int64(len(l.value)) {
		return types.NewErr("index out of bounds: %v", index)
	}
	return l.at(int(i))
}

func (l *listVal) Iterator() traits.Iterator { return &iterator{at: l.at, size: len(l.value)} }
