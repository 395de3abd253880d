package object

import (
	"slices"
	"strconv"
	"strings"
)

// Change is a difference between two values at a path.
type Change struct {
	Path          string // such as spec.containers[web].image
	Before, After any    // nil if the value does not exist
}

// String returns the change as text, such as "spec.replicas: 1 → 3".
func (c Change) String() string {
	show := func(v any) string {
		if v == nil {
			return "-"
		}
		return string(JSON(v))
	}
	return c.Path + ": " + show(c.Before) + " → " + show(c.After)
}

// Diff returns the differences between two values, sorted by path. It compares objects by field. If the items of a list have an
// identifying field (name, type, uid, key, …), it compares them by that field, and otherwise by position.
func Diff(before, after any) []Change {
	var out []Change
	diff(&out, "", bare(before), bare(after))
	return out
}

// bare converts an Object to a plain map. It returns any other value unchanged.
func bare(v any) any {
	o, ok := v.(Object)
	switch {
	case !ok:
		return v
	case o == nil:
		return nil
	}
	return map[string]any(o)
}

func diff(out *[]Change, path string, a, b any) {
	if x, ok := a.(map[string]any); ok {
		if y, ok := b.(map[string]any); ok {
			diffMaps(out, path, x, y)
			return
		}
	}
	if x, ok := a.([]any); ok {
		if y, ok := b.([]any); ok {
			diffLists(out, path, x, y)
			return
		}
	}
	if !Equal(a, b) {
		*out = append(*out, Change{strings.TrimPrefix(path, "."), a, b})
	}
}

func diffMaps(out *[]Change, path string, a, b map[string]any) {
	keys := SortedKeys(a)
	for name := range b { // order does not matter: they are sorted later
		if _, ok := a[name]; !ok {
			keys = append(keys, name)
		}
	}
	slices.Sort(keys)
	for _, name := range keys {
		step := "." + name
		if strings.ContainsAny(name, "./[]") {
			step = "[" + name + "]"
		}
		diff(out, path+step, a[name], b[name])
	}
}

// itemKeys are the fields that may identify an item of a list.
var itemKeys = []string{"name", "type", "uid", "key", "containerPort", "port", "ip", "mountPath", "devicePath", "topologyKey"}

// named returns the items of two lists by their identifying field. If the items have no such field, or its values are not unique,
// ok is false.
func named(a, b []any) (first, second map[string]any, ok bool) {
	for _, key := range itemKeys {
		x, one := byName(a, key)
		if y, two := byName(b, key); one && two && len(a)+len(b) > 0 {
			return x, y, true
		}
	}
	return nil, nil, false
}

func byName(list []any, key string) (map[string]any, bool) {
	items := make(map[string]any, len(list))
	for _, v := range list {
		m, ok := v.(map[string]any)
		name, has := m[key]
		if !ok || !has || name == nil {
			return nil, false
		}
		text := strings.Trim(string(JSON(name)), `"`)
		if _, twice := items[text]; twice {
			return nil, false
		}
		items[text] = v
	}
	return items, true
}

func diffLists(out *[]Change, path string, a, b []any) {
	if x, y, ok := named(a, b); ok {
		keys := SortedKeys(x)
		for name := range y { // order does not matter: they are sorted later
			if _, ok := x[name]; !ok {
				keys = append(keys, name)
			}
		}
		slices.Sort(keys)
		for _, name := range keys {
			diff(out, path+"["+name+"]", x[name], y[name])
		}
		return
	}
	for i := range max(len(a), len(b)) {
		var x, y any
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		diff(out, path+"["+strconv.Itoa(i)+"]", x, y)
	}
}
