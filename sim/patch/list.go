package patch

import (
	"fmt"
	"slices"
	"sort"

	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// list is the merge strategy of a list field.
type list struct {
	elem   *schema.Type
	key    string // patchMergeKey; "" for scalars
	merges bool   // patchStrategy is merge
}

// merge merges patch into old. If deleting is true, it instead removes the scalars in patch from old. It modifies both lists.
func (l *list) merge(old, patch []any, deleting bool) ([]any, *status.Status) {
	if len(old) == 0 && len(patch) == 0 {
		return old, nil
	}
	ofMaps, s := elementsAreMaps(old, patch)
	if s != nil {
		return nil, s
	}
	var merged []any
	switch {
	case !ofMaps && deleting:
		return without(old, patch), nil
	case !ofMaps:
		merged = union(old, patch)
	case l.key == "":
		return nil, status.Plain("cannot merge lists without merge key for %s", goKind(l.elem))
	default:
		if old, patch, s = l.takeDirectives(old, patch); s != nil {
			return nil, s
		}
		if merged, s = l.mergeElements(old, patch); s != nil {
			return nil, s
		}
	}
	named, others, s := l.partition(merged, patch)
	if s != nil {
		return nil, s
	}
	return l.arrange(named, others, patch, old, ofMaps)
}

// takeDirectives applies those elements of patch that are directives. It returns the modified old list and the other elements of
// patch.
func (l *list) takeDirectives(old, patch []any) (rest, plain []any, s *status.Status) {
	replace := false
	plain = []any{}
	for _, v := range patch {
		m := v.(map[string]any)
		d, ok := m[directive]
		switch {
		case !ok:
			plain = append(plain, v)
		case d == "delete":
			key, s := l.keyOf(m)
			if s != nil {
				return nil, nil, s
			}
			old = l.withoutKey(old, key)
		case d == "replace":
			replace = true
		case d == "merge":
			return nil, nil, status.Plain("merging lists cannot yet be specified in the patch")
		default:
			return nil, nil, badDirective(d, m)
		}
	}
	if replace {
		return plain, nil, nil
	}
	return old, plain, nil
}

// withoutKey removes the elements with the given key in place. It must modify the caller's slice, because the order of the result
// depends on the remaining elements of the old list.
func (l *list) withoutKey(items []any, key any) []any {
	for i := l.find(items, key); i >= 0; i = l.find(items, key) {
		items = append(items[:i], items[i+1:]...)
	}
	return items
}

// mergeElements merges each element of patch into the old element with the same key. If there is no such element, it appends the
// new one.
func (l *list) mergeElements(old, patch []any) ([]any, *status.Status) {
	for _, v := range patch {
		key, s := l.keyOf(v)
		if s != nil {
			return nil, s
		}
		i := l.find(old, key)
		if i < 0 {
			old = append(old, v)
			continue
		}
		merged, s := mergeMaps(old[i].(map[string]any), v.(map[string]any), l.elem)
		if s != nil {
			return nil, s
		}
		old[i] = merged
	}
	return old, nil
}

// keyOf returns the merge key of v. It returns an error if v is not an object or has no merge key.
func (l *list) keyOf(v any) (any, *status.Status) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, badArgument("map[string]interface {}", v)
	}
	key, ok := m[l.key]
	if !ok {
		return nil, noMergeKey(m, l.key)
	}
	return key, nil
}

// find returns the index of the element with the given key, or -1.
func (l *list) find(items []any, key any) int {
	for i, v := range items {
		if m, ok := v.(map[string]any); ok {
			if have, ok := m[l.key]; ok && same(have, key) {
				return i
			}
		}
	}
	return -1
}

// partition splits merged into the elements that wanted contains and all others.
func (l *list) partition(merged, wanted []any) (named, others []any, s *status.Status) {
	for _, v := range merged {
		var in bool
		if l.key == "" {
			in = indexOf(wanted, v) >= 0
		} else if in, s = l.names(wanted, v); s != nil {
			return nil, nil, s
		}
		if in {
			named = append(named, v)
		} else {
			others = append(others, v)
		}
	}
	return named, others, nil
}

// names reports whether items contains an element with the same merge key as v.
func (l *list) names(items []any, v any) (bool, *status.Status) {
	key, s := l.keyOf(v)
	if s != nil {
		return false, s
	}
	for i, x := range items {
		item, ok := x.(map[string]any)
		if !ok {
			return false, status.Plain("value for key %v is not a map", i)
		}
		if have, ok := item[l.key]; ok && same(have, key) {
			return true, nil
		}
	}
	return false, nil
}

// arrange combines the two parts of a merged list. named is sorted in the order of wanted, and others in the order of live. An
// element of others precedes an element of named if it also does so in live.
func (l *list) arrange(named, others, wanted, live []any, ofMaps bool) ([]any, *status.Status) {
	for _, items := range [][]any{named, wanted, others, live} {
		if s := l.haveKeys(items, ofMaps); s != nil {
			return nil, s
		}
	}
	l.sort(named, wanted, ofMaps)
	l.sort(others, live, ofMaps)
	return l.interleave(others, named, live, ofMaps), nil
}

func (l *list) haveKeys(items []any, ofMaps bool) *status.Status {
	if !ofMaps {
		return nil
	}
	for _, v := range items {
		if _, s := l.keyOf(v); s != nil {
			return s
		}
	}
	return nil
}

// sort sorts items in the order of another list. Items that are not in that list precede all items with which they are compared.
func (l *list) sort(items, order []any, ofMaps bool) {
	sort.SliceStable(items, func(i, j int) bool {
		a, b := l.index(order, items[i], ofMaps), l.index(order, items[j], ofMaps)
		return a < 0 || b < 0 || a < b
	})
}

// interleave merges two sorted lists. It preserves the order of both.
func (l *list) interleave(others, named, live []any, ofMaps bool) []any {
	out := make([]any, 0, len(others)+len(named))
	for len(others) > 0 && len(named) > 0 {
		a, b := l.index(live, others[0], ofMaps), l.index(live, named[0], ofMaps)
		if a >= 0 && b >= 0 && a < b {
			out, others = append(out, others[0]), others[1:]
		} else {
			out, named = append(out, named[0]), named[1:]
		}
	}
	return append(append(out, others...), named...)
}

// index returns the index of v in items, or -1. Objects are compared by merge key.
func (l *list) index(items []any, v any, ofMaps bool) int {
	if !ofMaps {
		return indexOf(items, v)
	}
	return l.find(items, v.(map[string]any)[l.key])
}

// elementsAreMaps reports whether the elements of the lists are objects. All elements must have the same type, which must not be a
// list.
func elementsAreMaps(lists ...[]any) (bool, *status.Status) {
	var first any
	found := false
	for _, list := range lists {
		for _, v := range list {
			if !found {
				if _, ok := v.([]any); ok {
					return false, status.Unprocessable()
				}
				first, found = v, true
			} else if !sameType(first, v) {
				return false, status.Plain("list element types are not identical: %v", fmt.Sprint(lists))
			}
		}
	}
	if !found {
		return false, status.Plain("no elements in any of the given slices")
	}
	if first == nil {
		return false, status.Plain("list element types are not identical: %v", fmt.Sprint(lists))
	}
	_, ok := first.(map[string]any)
	return ok, nil
}

// union returns the scalars of both lists without duplicates.
func union(a, b []any) []any {
	out := make([]any, 0, len(a)+len(b))
	for _, list := range [][]any{a, b} {
		for _, v := range list {
			if indexOf(out, v) < 0 {
				out = append(out, v)
			}
		}
	}
	return out
}

func without(items, remove []any) []any {
	return slices.DeleteFunc(slices.Clone(items), func(v any) bool { return indexOf(remove, v) >= 0 })
}

func indexOf(items []any, v any) int {
	return slices.IndexFunc(items, func(x any) bool { return same(x, v) })
}

// same reports whether two scalars are equal. Objects and lists are never the same.
func same(a, b any) bool {
	switch a.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b // also false if b is not a scalar
}
