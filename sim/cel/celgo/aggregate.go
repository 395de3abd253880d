package celgo

import (
	"fmt"
	"iter"
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/object"
)

// mapVal is a JSON object. If its schema has properties, expressions can only access fields that are declared and not null.
// Their names are escaped.
type mapVal struct {
	value map[string]any
	node  *node // if nil, values have dynamic types
	// ofStruct marks a value of a built-in kind, or a part of it; see structOf.
	ofStruct bool
}

// converted implements ref.Val.ConvertToType for a list or a map v, whose type is own. It returns v, its type, or an error.
func converted(v ref.Val, own *types.Type, to ref.Type) ref.Val {
	switch to {
	case own:
		return v
	case types.TypeType:
		return own
	}
	return conversionError(own, to.TypeName())
}

func conversionError(from, to any) ref.Val {
	return types.NewErr("type conversion error from '%s' to '%s'", from, to)
}

// child returns the schema of a key, and whether expressions can access the key.
func (m *mapVal) child(key string) (*node, bool) {
	switch {
	case m.node == nil:
		return nil, true
	case m.node.fields != nil:
		n, ok := m.node.fields[key]
		return n, ok
	}
	return m.node.additional, m.node.additional != nil
}

func (m *mapVal) hasFields() bool { return m.node != nil && m.node.fields != nil }

func (m *mapVal) ConvertToNative(to reflect.Type) (any, error) {
	if to.Kind() == reflect.Map || to.Kind() == reflect.Interface {
		return m.value, nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%s'", m.Type(), to)
}

func (m *mapVal) ConvertToType(to ref.Type) ref.Val { return converted(m, types.MapType, to) }

// Equal compares the fields that expressions can access. It compares other fields as JSON if both objects have them; as in the real
// server, a field that only one of two objects of the same size has makes no difference.
func (m *mapVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Mapper)
	hidden, _ := other.(*mapVal)
	switch {
	case !ok && m.ofStruct:
		return types.MaybeNoSuchOverloadErr(other)
	case !ok || m.Size() != o.Size():
		return types.False
	case m.ofStruct && hidden != nil && hidden.ofStruct:
		return types.Bool(object.SemanticEqual(m.value, hidden.value))
	}
	for _, key := range object.SortedKeys(m.value) {
		eq := ref.Val(types.True)
		if _, seen := m.child(key); seen {
			eq = m.equalAt(o, types.String(m.written(key)))
		} else if hidden != nil {
			if theirs, has := hidden.value[key]; has {
				eq = types.Bool(object.SemanticEqual(m.value[key], theirs))
			}
		}
		if eq != types.True {
			return eq
		}
	}
	return types.True
}

// equalAt reports whether two maps have equal values for a key, or both lack the key.
func (m *mapVal) equalAt(o traits.Mapper, key types.String) ref.Val {
	mine, have := m.Find(key)
	theirs, has := o.Find(key)
	if have && has {
		return types.Equal(mine, theirs)
	}
	return types.Bool(have == has)
}

// written returns a key in the form that expressions use.
func (m *mapVal) written(key string) string {
	if m.hasFields() {
		if name, ok := escape(key); ok {
			return name
		}
	}
	return key
}

func (m *mapVal) Type() ref.Type { return types.MapType }
func (m *mapVal) Value() any     { return m.value }
func (m *mapVal) Size() ref.Val  { return types.Int(len(m.value)) }

func (m *mapVal) Contains(key ref.Val) ref.Val {
	v, found := m.Find(key)
	if v != nil && types.IsUnknownOrError(v) {
		return v
	}
	return types.Bool(found)
}

func (m *mapVal) Get(key ref.Val) ref.Val {
	if v, found := m.Find(key); found {
		return v
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

func (m *mapVal) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		switch {
		case m.ofStruct:
			return types.ValOrErr(key, "unsupported map key type: %T", key), true
		case m.node == nil:
			return nil, false
		}
		return types.MaybeNoSuchOverloadErr(key), true
	}
	k := string(name)
	if m.hasFields() {
		if k, ok = unescape(k); !ok {
			return nil, false
		}
	}
	v, ok := m.value[k]
	if !ok || m.hasFields() && v == nil {
		return nil, false
	}
	n, ok := m.child(k)
	if !ok {
		return nil, false
	}
	if m.ofStruct {
		return structOf(v), true
	}
	return valueOf(v, n), true
}

func (m *mapVal) Iterator() traits.Iterator {
	var keys []ref.Val
	for _, key := range object.SortedKeys(m.value) {
		if _, ok := m.child(key); ok {
			keys = append(keys, types.String(m.written(key)))
		}
	}
	return &iterator{at: func(i int) ref.Val { return keys[i] }, size: len(keys)}
}

// elements returns the elements of a list, or the keys of a map.
func elements(of traits.Iterable) iter.Seq[ref.Val] {
	return func(yield func(ref.Val) bool) {
		for it := of.Iterator(); it.HasNext() == types.True; {
			if !yield(it.Next()) {
				return
			}
		}
	}
}

// iterator iterates over the indices from 0 to size-1.
type iterator struct {
	at         func(int) ref.Val
	next, size int
}

func (it *iterator) ConvertToNative(reflect.Type) (any, error) {
	return nil, fmt.Errorf("an iterator is not a value")
}
func (it *iterator) ConvertToType(ref.Type) ref.Val { return types.NewErr("no such overload") }
func (it *iterator) Equal(ref.Val) ref.Val          { return types.NewErr("no such overload") }
func (it *iterator) Type() ref.Type                 { return types.IteratorType }
func (it *iterator) Value() any                     { return nil }
func (it *iterator) HasNext() ref.Val               { return types.Bool(it.next < it.size) }

func (it *iterator) Next() ref.Val {
	if it.next >= it.size {
		return nil
	}
	it.next++
	return it.at(it.next - 1)
}

// unknownVal is a value without a schema. It supports only comparison.
type unknownVal struct{ value any }

func (u *unknownVal) ConvertToNative(to reflect.Type) (any, error) {
	return nil, fmt.Errorf("type conversion to '%s' not supported for values preserved by x-kubernetes-preserve-unknown-fields", to)
}

func (u *unknownVal) ConvertToType(to ref.Type) ref.Val {
	return types.NewErr("type conversion to '%s' not supported for values preserved by x-kubernetes-preserve-unknown-fields", to.TypeName())
}

func (u *unknownVal) Equal(other ref.Val) ref.Val {
	return types.Bool(object.SemanticEqual(u.value, other.Value()))
}

func (u *unknownVal) Type() ref.Type { return types.UnknownType }
func (u *unknownVal) Value() any     { return u.value }

// jsonOfAggregate converts a list or a map that an expression has created to JSON. It also converts values that have a string form.
func jsonOfAggregate(v ref.Val) (any, *expr.Error) {
	switch v := v.(type) {
	case *types.Optional:
		if !v.HasValue() {
			return nil, nil
		}
		return jsonOf(v.GetValue())
	case traits.Mapper:
		m := map[string]any{}
		for key := range elements(v) { // order does not matter: it fills a map
			name, ok := key.(types.String)
			if !ok {
				return nil, expr.Errorf("unsupported map key type: %v", key.Type())
			}
			x, err := jsonOf(v.Get(key))
			if err != nil {
				return nil, err
			}
			m[string(name)] = x
		}
		return m, nil
	case traits.Lister:
		l := []any{}
		for element := range elements(v) {
			x, err := jsonOf(element)
			if err != nil {
				return nil, err
			}
			l = append(l, x)
		}
		return l, nil
	}
	if s, ok := v.ConvertToType(types.StringType).(types.String); ok {
		return string(s), nil
	}
	return nil, expr.Errorf("cannot convert %v to JSON", v.Type())
}
