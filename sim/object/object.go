// Package object is a Kubernetes object as JSON data.
//
//	Object ─ map[string]any ─┬─ "metadata": map[string]any ─ "name": "web"      string
//	                         └─ "spec":     map[string]any ─┬ "replicas": 3     int64
//	                                                        ├ "weight": 0.5     float64
//	                                                        └ "ports": []any{…}
//
// Values are nil, bool, string, int64, float64, map[string]any and []any, and Raw where a field keeps its text. Integers that fit int64 are
// kept exactly. Nested objects are plain map[string]any; only the outermost one has methods.
package object

import (
	"maps"
	"strings"
	"unsafe"
)

// Object is a JSON object. It shares structure with the values that were put into it: call Copy before changing shared ones.
type Object map[string]any

// Get returns the value at the path, and whether there is one.
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

// Has reports whether something other than null is at the path.
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

// Int64 returns the integer at the path, 0 where there is none.
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

// True reports whether true is at the path.
func (o Object) True(path ...string) bool {
	value, _ := o.Bool(path...)
	return value
}

// At returns the object at the path, or nil.
func (o Object) At(path ...string) Object { return o.Map(path...) }

// Map returns the object at the path, or nil. Reading a nil map is fine.
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

// Objects returns the objects of the array at the path. An element that is no object is an empty one, so that indexes stay
// right.
func (o Object) Objects(path ...string) []Object { return ObjectsOf(o.List(path...)) }

// As returns a value as an object, nil if it is none.
func As(v any) Object {
	m, _ := v.(map[string]any)
	return m
}

// ObjectsOf is Object.Objects for an array.
func ObjectsOf(list []any) []Object {
	out := make([]Object, len(list))
	EachObject(list, func(i int, o Object) { out[i] = o })
	return out
}

// EachObject calls yield with the objects of an array, as Objects returns them, without a list of their own.
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

// Set puts value at the path and makes the objects on the way that are missing.
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

// SetDefault puts value at the path unless something other than null is there. It reports whether it did.
func (o Object) SetDefault(value any, path ...string) bool {
	if v, ok := o.Get(path...); ok && v != nil {
		return false
	}
	o.Set(value, path...)
	return true
}

// Remove takes away the value at the path.
func (o Object) Remove(path ...string) {
	if parent, ok := o.Get(path[:len(path)-1]...); ok {
		if m, ok := parent.(map[string]any); ok {
			delete(m, path[len(path)-1])
		}
	}
}

// Copy returns a deep copy of an object. Only the fieldsV1 of its managedFields are shared, because they are never changed in
// place: half of the maps of a stored object are in them.
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

// copyMap returns a copy of m. Objects, arrays and Raws in it are replaced by the results of part; all other values are immutable.
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

// Plain returns a deep copy of a JSON value in which Raws are replaced by their values.
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

// Equal reports whether two JSON values are the same; 1 and 1.0 differ.
func Equal(a, b any) bool { return equal(a, b, false) }

// SemanticEqual reports whether two JSON values are the same when null, {}, [] and a {} of such members
// count as absent, as equality.Semantic.DeepEqual does for Go structs: it decides whether a spec changed.
func SemanticEqual(a, b any) bool { return equal(a, b, true) }

func equal(a, b any, semantic bool) bool {
	if a, ok := a.(string); ok { // as most values are
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
	case map[string]any, []any: // not comparable with ==
		return false
	}
	return a == b
}

// Same reports whether two JSON values are one map that two objects share.
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
	if both < len(b) { // which only semantic lets be
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

// Blank reports whether v is null, false, 0, "", {} or []: the values that a Go struct leaves out under omitempty.
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

// Strings turns an array of strings into a slice; other elements are left out.
func Strings(list []any) []string {
	out := make([]string, 0, len(list))
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// StringMap turns an object of strings into a map; other values are left out. nil stays nil.
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

// FromStrings is the opposite of Strings.
func FromStrings(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// Path splits "spec.template.spec" into the arguments of Get.
func Path(dotted string) []string { return strings.Split(dotted, ".") }
