package celgo

import (
	"fmt"
	"reflect"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// unordered reports whether the list is a set or a list of type map. Elements of a set are identified by value, and those
// of a list of type map by their keys. The order is irrelevant: two lists are equal if they have the same elements, and
// their sum is a union.
func (l *listVal) unordered() bool {
	return l.node != nil && (l.node.listType == "set" || l.node.listType == "map")
}

// identity returns the identity of an element as a Go map key. v is the element in the form that expressions use, and raw
// is the stored value.
//
// Before 1.37 elements are compared as Go values, and values that an expression creates differ from those of JSON: a
// duration is not a string. A value that cannot be a map key aborts the evaluation, as in the real server
// (apiserver/pkg/cel/common: unstructuredSetList, setElementKey, unstructuredMapList.toMapKey).
func (l *listVal) identity(v ref.Val, raw any) (key any, err ref.Val) {
	typed := l.node.env.since(37)
	if l.node.listType == "map" {
		return l.node.itemKey(raw, typed), nil
	}
	if !typed {
		return raw, nil
	}
	switch v.(type) {
	case traits.Lister, traits.Mapper:
		return nil, types.NewErr("listSet operations are only supported on lists of scalar values")
	}
	native := v.Value()
	if native != nil && !reflect.TypeOf(native).Comparable() {
		return fmt.Sprintf("%#v", native), nil
	}
	return native, nil
}

// positions returns the indices of the elements by identity.
func (l *listVal) positions() (map[any]int, ref.Val) {
	at := make(map[any]int, len(l.value))
	for i := range l.value {
		key, err := l.identity(l.at(i), l.value[i])
		if err != nil {
			return nil, err
		}
		at[key] = i
	}
	return at, nil
}

// equalUnordered compares the list with another list of the same length, ignoring the order of elements.
func (l *listVal) equalUnordered(o traits.Lister) ref.Val {
	mine, err := l.positions()
	if err != nil {
		return err
	}
	seen := map[any]bool{}
	for theirs := range elements(o) {
		key, err := l.identity(theirs, theirs.Value())
		if err != nil {
			return err
		}
		i, ok := mine[key]
		if !ok {
			return types.False
		}
		if l.node.listType == "map" {
			if eq := types.Equal(l.at(i), theirs); eq != types.True {
				return eq
			}
		}
		seen[key] = true
	}
	return types.Bool(len(seen) == len(mine) || !l.node.env.since(37))
}

// merge returns the union of two lists. If an element of o has the identity of an existing element, it replaces that element in a
// list of type map, and is ignored in a set.
func (l *listVal) merge(o traits.Lister) ref.Val {
	at, err := l.positions()
	if err != nil {
		return err
	}
	sum := slices.Clone(l.value)
	for v := range elements(o) {
		key, err := l.identity(v, v.Value())
		if err != nil {
			return err
		}
		var element any = v
		if _, isMap := v.(*mapVal); isMap || !l.node.env.since(37) {
			element = v.Value()
		}
		i, there := at[key]
		switch {
		case !there:
			at[key] = len(sum)
			sum = append(sum, element)
		case l.node.listType == "map":
			sum[i] = element
		}
	}
	return &listVal{value: sum, node: l.node}
}

// itemKey returns the identity of an element in a list of type map: the values of its keys. If expressions use an escaped
// form of a key's name, itemKey looks up that form, which it does not find. This is also so in the real server. Four or
// more keys are joined into a string. Before 1.37 the string is ambiguous, because it does not delimit the values.
func (n *node) itemKey(item any, typed bool) any {
	m, ok := item.(map[string]any)
	if !ok {
		return nil
	}
	key := make([]any, len(n.listKeys))
	for i, name := range n.listKeys {
		name, _ = escape(name)
		key[i] = m[name]
	}
	switch {
	case len(key) == 1:
		return key[0]
	case len(key) > 3 && !typed:
		return fmt.Sprintf("%v", key)
	}
	return fmt.Sprintf("%#v", key)
}
