package fieldmanager

import "github.com/kubesim/kubesim/sim/object"

// differ compares objects.
type differ struct {
	path []byte // buffer for item paths
	err  error  // the error for an item that has no path
}

// diff compares two values that both exist. changed has the paths below them with a new or changed value, and removed those that no
// longer exist; leaf means the value itself. The rules are those of structured-merge-diff: an atomic value changes as a whole,
// adding or removing a container includes everything in it, and a container that is in both values is not a path.
func (d *differ) diff(s *shape, was, is any) (changed, removed map[string]any) {
	switch {
	case s.kind == deduced && !s.atomic && isMap(was) != isMap(is) && was != nil && is != nil:
		if isMap(is) { // an object replaces another type of value
			return d.all(s, is), nil
		}
		_, removed = d.diffFields(s, was, nil)
		return leaf, removed
	case s.asOne(was, is):
		if d.equal(s, was, is) {
			return nil, nil
		}
		return leaf, nil
	case s.kind == set || s.kind == listMap:
		return d.diffItems(s, was, is)
	}
	return d.diffFields(s, was, is)
}

// asOne reports whether two values are compared as a whole: scalars, atomic values, two empty containers, and values that the
// schema does not allow.
func (s *shape) asOne(was, is any) bool {
	if s.atomic || s.kind == scalar || s.kind == list {
		return true
	}
	if isEmptyContainer(was) && isEmptyContainer(is) {
		return true
	}
	if s.kind == set || s.kind == listMap {
		return !isListOrNull(was) || !isListOrNull(is)
	}
	return !isMapOrNull(was) || !isMapOrNull(is)
}

func isMap(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

func isMapOrNull(v any) bool { return v == nil || isMap(v) }

func isListOrNull(v any) bool {
	_, ok := v.([]any)
	return ok || v == nil
}

func isEmptyContainer(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// diffFields compares two objects, one of which may be null.
func (d *differ) diffFields(s *shape, wasAny, isAny any) (changed, removed map[string]any) {
	was, _ := wasAny.(map[string]any)
	is, _ := isAny.(map[string]any)
	for i := range s.fields {
		f := &s.fields[i]
		before, had := f.in(was, s.typed)
		after, has := f.in(is, s.typed)
		if !had && !has {
			continue
		}
		c, r := d.change(f.shape, before, after, had, has)
		changed, removed = add(changed, f.path, "", c), add(removed, f.path, "", r)
	}
	if s.kind == structure && s.elem == nil {
		return changed, removed
	}
	for name, after := range is { // order does not matter: it fills sets
		if s.field(name) != nil {
			continue
		}
		before, had := was[name]
		c, r := d.change(s.element(), before, after, had, true)
		changed, removed = add(changed, "f:", name, c), add(removed, "f:", name, r)
	}
	for name, before := range was { // order does not matter: it fills sets
		if _, has := is[name]; !has && s.field(name) == nil {
			removed = add(removed, "f:", name, d.all(s.element(), before))
		}
	}
	return changed, removed
}

// element returns the shape of the elements of s. For a deduced shape, it is the shape itself.
func (s *shape) element() *shape {
	if s.kind == deduced {
		return s
	}
	return s.elem
}

// change compares two values, one of which may be missing.
func (d *differ) change(s *shape, before, after any, had, has bool) (changed, removed map[string]any) {
	switch {
	case !had:
		return d.all(s, after), nil
	case !has:
		return nil, d.all(s, before)
	case isContainer(after) && object.Equal(before, after): // true for most of an object
		return nil, nil
	}
	return d.diff(s, before, after)
}

// add adds the paths of a field to a set. It creates the set if it is nil.
func add(set map[string]any, prefix, name string, below map[string]any) map[string]any {
	if below == nil {
		return set
	}
	if set == nil {
		set = make(map[string]any, 2)
	}
	set[prefix+name] = below
	return set
}

// items are the items with the same key in two lists. Several items in one list are a repeated item.
type items struct{ was, is []any }

// diffItems compares two lists whose items are owned individually. Their order does not matter.
func (d *differ) diffItems(s *shape, wasAny, isAny any) (changed, removed map[string]any) {
	if d.equal(s, wasAny, isAny) {
		return nil, nil
	}
	was, _ := wasAny.([]any)
	is, _ := isAny.([]any)
	if len(was) == 0 {
		return without(d.all(s, is), "."), nil
	}
	byPath := make(map[string]*items, len(is))
	at := func(v any) *items {
		path := d.itemPath(s, v)
		if byPath[path] == nil {
			byPath[path] = &items{}
		}
		return byPath[path]
	}
	for _, v := range was {
		x := at(v)
		x.was = append(x.was, v)
	}
	for _, v := range is {
		x := at(v)
		x.is = append(x.is, v)
	}
	for path, x := range byPath { // order does not matter: it fills sets
		c, r := d.diffItem(s, x)
		changed, removed = add(changed, path, "", c), add(removed, path, "", r)
	}
	return changed, removed
}

func (d *differ) diffItem(s *shape, x *items) (changed, removed map[string]any) {
	switch {
	case len(x.was) > 1 && len(x.is) > 1: // repeated items change as a whole
		if d.equalLists(s, x.was, x.is) {
			return nil, nil
		}
		return leaf, nil
	case len(x.was) > 1: // no longer repeated
		if len(x.is) == 1 {
			changed = d.all(s.elem, x.is[0])
		}
		return changed, leaf
	case len(x.is) > 1: // repeated from now on
		if len(x.was) == 1 {
			removed = d.all(s.elem, x.was[0])
		}
		return leaf, removed
	case len(x.was) == 0:
		return d.all(s.elem, x.is[0]), nil
	case len(x.is) == 0:
		return nil, d.all(s.elem, x.was[0])
	}
	return d.diff(s.elem, x.was[0], x.is[0])
}
