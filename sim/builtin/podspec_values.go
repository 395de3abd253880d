package builtin

import (
	"slices"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// objectAt returns the object at the path, or nil.
func objectAt(o object.Object, path ...string) object.Object { return o.Map(path...) }

// objectsAt returns the objects of the array at the path. An element that is no object is an empty one, so that indexes
// stay right.
func objectsAt(o object.Object, path ...string) []object.Object {
	list := o.List(path...)
	out := make([]object.Object, len(list))
	eachObject(list, func(i int, o object.Object) { out[i] = o })
	return out
}

// eachObject calls yield with the objects of an array, as objectsAt returns them, without a list of their own.
func eachObject(list []any, yield func(i int, o object.Object)) {
	for i, v := range list {
		m, ok := v.(map[string]any)
		if !ok {
			m = map[string]any{}
		}
		yield(i, m)
	}
}

// stringsAt returns the strings of the array at the path.
func stringsAt(o object.Object, path ...string) []string { return object.Strings(o.List(path...)) }

// intAt returns the integer at the path, or 0.
func intAt(o object.Object, path ...string) int64 {
	n, _ := o.Int(path...)
	return n
}

// boolAt returns the boolean at the path, or false.
func boolAt(o object.Object, path ...string) bool {
	b, _ := o.Bool(path...)
	return b
}

// present reports whether something other than null is at the path.
func present(o object.Object, path ...string) bool {
	v, ok := o.Get(path...)
	return ok && v != nil
}

// quantitiesAt reads the resource list at the path: cpu, memory and others by name.
func quantitiesAt(o object.Object, path ...string) map[string]quantity.Quantity {
	m := o.Map(path...)
	if m == nil {
		return nil
	}
	out := make(map[string]quantity.Quantity, len(m))
	for name, v := range m { // order does not matter
		out[name] = quantityOf(v)
	}
	return out
}

// quantityOf reads a quantity that decoding has checked; anything else is 0.
func quantityOf(v any) quantity.Quantity {
	text, _ := v.(string)
	q, err := quantity.Parse(text)
	if err != nil {
		return quantity.Quantity{}
	}
	return q
}

// mustBeSet reports an empty string as a missing value.
func mustBeSet(p field.Path, value string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(p, "")}
	}
	return nil
}

// mustBeOneOf reports a value that is not among the allowed ones.
func mustBeOneOf(p field.Path, value string, allowed ...string) field.ErrorList {
	if slices.Contains(allowed, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(p, field.Enum(value), allowed...)}
}

// mustBeSetToOneOf reports a missing value, or one that is not among the allowed ones.
func mustBeSetToOneOf(p field.Path, value string, allowed ...string) field.ErrorList {
	if value == "" {
		return mustBeSet(p, value)
	}
	return mustBeOneOf(p, value, allowed...)
}
