// Package object represents Kubernetes objects as JSON data.
//
//	Object ─ map[string]any ─┬─ "metadata": map[string]any ─ "name": "web"      string
//	                         └─ "spec":     map[string]any ─┬ "replicas": 3     int64
//	                                                        ├ "weight": 0.5     float64
//	                                                        └ "ports": []any{…}
//
// Values are nil, bool, string, int64, float64, map[string]any and []any, and Raw for fields that keep their text. Integers that
// fit an int64 are exact. Nested objects are plain map[string]any; only the outermost one has methods.
package object

import (
	"maps"
	"strings"
	"unsafe"
)

// Object is a JSON object. It shares structure with the values that were put into it: call Copy before changing shared ones.
type Object map[string]any

// Get returns the value at the path, and whether it exists.
func (o Object) Get(path ...string) (any, bool) {
	var v any = map[string]any(o)
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = m[name]; !ok {
			return nil, false
		}
	}
	return v, true
}

// String returns the string at the path, or "".
func (o Object) String(path ...string) string {
	v, _ := o.Get(path...)
	s, _ := v.(string)
	return s
}

// Has reports whether the value at the path exists and is not null.
func (o Object) Has(path ...string) bool {
	v, ok := o.Get(path...)
	return ok && v != nil
}

// Int returns the integer at the path, and whether there is one.
func (o Object) Int(path ...string) (int64, bool) {
	v, _ := o.Get(path...)
	n, ok := v.(int64)
	return n, ok
}

// Int64 returns the integer at the path, or 0.
func (o Object) Int64(path ...string) int64 {
	n, _ := o.Int(path...)
	return n
}

// Bool returns the boolean at the path, and whether there is one.
func (o Object) Bool(path ...string) (value, ok bool) {
	v, _ := o.Get(path...)
	value, ok = v.(bool)
	return value, ok
}

// True reports whether the value at the path is true.
func (o Object) True(path ...string) bool {
	value, _ := o.Bool(path...)
	return value
}

// At returns the object at the path, or nil.
func (o Object) At(path ...string) Object { return o.Map(path...) }

// Map returns the object at the path, or nil. A nil map can be read.
func (o Object) Map(path ...string) map[string]any {
	v, _ := o.Get(path...)
	m, _ := v.(map[string]any)
	return m
}

// List returns the array at the path, or nil.
func (o Object) List(path ...string) []any {
	v, _ := o.Get(path...)
	l, _ := v.([]any)
	return l
}

// Objects returns the objects in the array at the path. For an element that is not an object, it returns an empty object, so that
// indexes match.
func (o Object) Objects(path ...string) []Object { return ObjectsOf(o.List(path...)) }

// As returns a value as an Object, or nil if it is not an object.
func As(v any) Object {
	m, _ := v.(map[string]any)
	return m
}

// ObjectsOf returns the objects in an array, like Object.Objects.
func ObjectsOf(list []any) []Object {
	out := make([]Object, len(list))
	EachObject(list, func(i int, o Object) { out[i] = o })
	return out
}

// EachObject calls yield with each element that ObjectsOf would return. It does not allocate a list.
func EachObject(list []any, yield func(i int, o Object)) {
	for i, v := range list {
		m, ok := v.(map[string]any)
		if !ok {
			m = map[string]any{}
		}
		yield(i, m)
	}
}

// Strings returns the strings of the array at the path.
func (o Object) Strings(path ...string) []string { return Strings(o.List(path...)) }

// Set sets the value at the path. It creates missing objects on the path.
func (o Object) Set(value any, path ...string) {
	m := map[string]any(o)
	for _, name := range path[:len(path)-1] {
		next, ok := m[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[name] = next
		}
		m = next
	}
	m[path[len(path)-1]] = value
}

// SetDefault sets the value at the path, unless the path already has a value other than null. It reports whether it set the value.
func (o Object) SetDefault(value any, path ...string) bool {
	if v, ok := o.Get(path...); ok && v != nil {
		return false
	}
	o.Set(value, path...)
	return true
}

// Remove removes the value at the path.
func (o Object) Remove(path ...string) {
	if parent, ok := o.Get(path[:len(path)-1]...); ok {
		if m, ok := parent.(map[string]any); ok {
			delete(m, path[len(path)-1])
		}
	}
}

// Copy returns a deep copy of an object. The copy shares only the fieldsV1 of managedFields, which contain half of the maps in
// stored objects and are never modified in place.
func (o Object) Copy() Object {
	if o == nil {
		return nil
	}
	return copyMap(o, func(name string, v any) any {
		if meta, ok := v.(map[string]any); ok && name == "metadata" {
			return copyMetadata(meta)
		}
		return Copy(v)
	})
}

func copyMetadata(meta map[string]any) map[string]any {
	return copyMap(meta, func(name string, v any) any {
		entries, ok := v.([]any)
		if !ok || name != "managedFields" {
			return Copy(v)
		}
		list := make([]any, len(entries))
		for i, entry := range entries {
			list[i] = copyEntry(entry)
		}
		return list
	})
}

func copyEntry(entry any) any {
	m, ok := entry.(map[string]any)
	if !ok {
		return Copy(entry)
	}
	return copyMap(m, func(name string, v any) any {
		if name == "fieldsV1" {
			return v
		}
		return Copy(v)
	})
}

// copyMap returns a copy of m in which part replaces each object, array and Raw. All other values are immutable.
func copyMap(m map[string]any, part func(name string, v any) any) map[string]any {
	out := maps.Clone(m)
	for name, v := range m { // order does not matter
		switch v.(type) {
		case map[string]any, []any, Raw:
			out[name] = part(name, v)
		}
	}
	return out
}

// Copy returns a deep copy of a JSON value.
func Copy(v any) any { return copyValue(v, false) }

// Plain returns a deep copy of a JSON value in which each Raw is replaced by its value.
func Plain(v any) any { return copyValue(v, true) }

func copyValue(v any, plain bool) any {
	switch v := v.(type) {
	case map[string]any:
		return copyMap(v, func(_ string, x any) any { return copyValue(x, plain) })
	case []any:
		if v == nil {
			return v
		}
		l := make([]any, len(v))
		for i, x := range v {
			l[i] = copyValue(x, plain)
		}
		return l
	case Raw:
		if plain {
			return v.Value()
		}
	}
	return v
}

// Equal reports whether two JSON values are equal. 1 and 1.0 differ.
func Equal(a, b any) bool { return equal(a, b, false) }

// SemanticEqual compares two JSON values the way equality.Semantic.DeepEqual compares Go structs, for example to decide whether a
// spec has changed. It treats null, {}, [], and objects that contain only such values as missing.
func SemanticEqual(a, b any) bool { return equal(a, b, true) }

func equal(a, b any, semantic bool) bool {
	if a, ok := a.(string); ok { // the most frequent case
		b, ok := b.(string)
		return ok && a == b
	}
	if semantic && isEmpty(a) && isEmpty(b) {
		return true
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalMaps(a, b, semantic)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i], semantic) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case map[string]any, []any: // cannot be compared with ==
		return false
	}
	return a == b
}

// Same reports whether two JSON values are the same map, not only equal ones.
func Same(a, b any) bool {
	m, isMap := a.(map[string]any)
	n, both := b.(map[string]any)
	return isMap && both && sameMap(m, n)
}

func sameMap(a, b map[string]any) bool {
	return *(*unsafe.Pointer)(unsafe.Pointer(&a)) == *(*unsafe.Pointer)(unsafe.Pointer(&b)) // a map is a pointer
}

func equalMaps(a, b map[string]any, semantic bool) bool {
	if sameMap(a, b) {
		return true
	}
	if !semantic && len(a) != len(b) {
		return false
	}
	both := 0
	for k, x := range a { // order does not matter
		y, ok := b[k]
		if !ok && !semantic || !equal(x, y, semantic) {
			return false
		}
		if ok {
			both++
		}
	}
	if both < len(b) { // allowed only by semantic
		for k, y := range b { // order does not matter
			if _, ok := a[k]; !ok && !isEmpty(y) {
				return false
			}
		}
	}
	return true
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for _, member := range v { // order does not matter
			if !isEmpty(member) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return false
}

// Blank reports whether v is null, false, 0, "", {} or []. A Go struct omits such a value if the field has omitempty.
func Blank(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// Strings returns the strings in an array. It omits other elements.
func Strings(list []any) []string {
	out := make([]string, 0, len(list))
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// StringMap returns the string members of an object. It omits all other members. If the object is nil, so is the result.
func StringMap(m map[string]any) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m { // order does not matter
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

// FromStrings returns an array of strings. It is the inverse of Strings.
func FromStrings(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// Path splits a path such as "spec.template.spec" into the arguments of Get.
func Path(dotted string) []string { return strings.Split(dotted, ".") }
