package structural

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// CheckLists reports duplicate items in lists that are sets or maps (x-kubernetes-list-type). p is the path of v.
func (s *Schema) CheckLists(v any, p field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	if list, ok := v.([]any); ok {
		switch s.ListType {
		case "set":
			errs = duplicates(list, p, func(i int) any { return list[i] })
		case "map":
			errs = s.checkMap(list, p)
		}
	}
	return append(errs, s.below(v, p, (*Schema).CheckLists)...)
}

func (s *Schema) checkMap(list []any, p field.Path) field.ErrorList {
	keys := make([]any, len(list))
	for i, x := range list {
		m, ok := x.(map[string]any)
		if !ok && x != nil {
			return field.ErrorList{field.Invalid(p.Index(i), x, "must be an object for an array of list-type map")}
		}
		key := map[string]any{}
		for _, name := range s.ListKeys {
			if v, ok := m[name]; ok {
				key[name] = v
			}
		}
		keys[i] = key
	}
	show := func(i int) any { return keys[i] }
	if len(s.ListKeys) != 1 {
		return duplicates(keys, p, show)
	}
	values := make([]any, len(keys)) // with a single key field, its value is compared
	for i, key := range keys {
		v, ok := key.(map[string]any)[s.ListKeys[0]]
		if values[i] = v; !ok {
			values[i] = map[string]any{"\x00": nil} // differs from all possible values of a key
		}
	}
	return duplicates(values, p, show)
}

// duplicates reports an error for items that occur more than once. It reports only the second occurrence of each item.
func duplicates(list []any, p field.Path, show func(i int) any) field.ErrorList {
	if len(list) < 2 {
		return nil
	}
	var errs field.ErrorList
	times := make(map[string]int, len(list))
	for i, x := range list {
		text := string(object.JSON(x))
		if _, isFloat := x.(float64); isFloat {
			text += " float" // 1 and 1.0 are different values
		}
		if times[text]++; times[text] == 2 {
			errs = append(errs, field.Duplicate(p.Index(i), show(i)))
		}
	}
	return errs
}
