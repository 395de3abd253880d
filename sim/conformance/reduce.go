package conformance

import (
	"slices"
	"strconv"
	"strings"
)

const masked = "<masked>"

// reduce applies a step's @only, @ignore and @mask to a response, in that order.
func reduce(v any, s Step, vs values) error {
	for _, o := range s.Only {
		want, err := vs.subst(o.Want)
		if err != nil {
			return err
		}
		only(v, o.Path, want)
	}
	for _, p := range s.Ignore {
		edit(v, strings.Split(p, "."), func(o *Object, key string) { o.Delete(key) })
	}
	for _, p := range s.Mask {
		edit(v, strings.Split(p, "."), func(o *Object, key string) {
			if !empty(o.Get(key)) {
				o.Set(key, masked)
			}
		})
	}
	return nil
}

// edit calls do for each member that matches the path. In a list, an index selects one item, and otherwise all items
// are matched; * matches all members.
func edit(v any, path []string, do func(o *Object, key string)) {
	if len(path) == 0 {
		return
	}
	switch v := v.(type) {
	case *List:
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 {
			if i < len(v.Items) {
				edit(v.Items[i], path[1:], do)
			}
			return
		}
		for _, x := range v.Items {
			edit(x, path, do)
		}
	case *Object:
		switch {
		case path[0] == "*":
			for _, k := range v.Keys {
				edit(v.Members[k], path[1:], do)
			}
		case len(path) == 1:
			do(v, path[0])
		default:
			edit(v.Get(path[0]), path[1:], do)
		}
	}
}

// empty reports whether a JSON value is null, false, zero or empty.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case Int:
		return v == "0"
	case float64:
		return v == 0
	case *List:
		return len(v.Items) == 0
	case *Object:
		return len(v.Keys) == 0
	}
	return false
}

// only filters the list or map at path. want, such as "key=value,value", determines which elements to keep; see the
// package comment.
func only(v any, path, want string) {
	key, list, _ := strings.Cut(want, "=")
	wanted := strings.Split(list, ",")
	switch v := valueAt(v, strings.FieldsFunc(path, func(r rune) bool { return r == '.' })...).(type) {
	case *List:
		v.Items = slices.DeleteFunc(v.Items, func(x any) bool {
			text, ok := valueAt(x, strings.Split(key, ".")...).(string)
			return !ok || !slices.Contains(wanted, text)
		})
	case *Object:
		for _, k := range slices.Clone(v.Keys) {
			if !slices.Contains(wanted, k) {
				v.Delete(k)
			}
		}
	}
}

// valueAt returns the value at a path of members, or nil if there is none.
func valueAt(v any, path ...string) any {
	for _, p := range path {
		o, ok := v.(*Object)
		if !ok {
			return nil
		}
		v = o.Get(p)
	}
	return v
}

// textAt returns the string at a path of members, or "".
func textAt(v any, path ...string) string {
	text, _ := valueAt(v, path...).(string)
	return text
}

// itemsAt returns the items of the list at a path of members.
func itemsAt(v any, path ...string) []any {
	if list, ok := valueAt(v, path...).(*List); ok {
		return list.Items
	}
	return nil
}
