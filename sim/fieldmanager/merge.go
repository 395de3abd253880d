package fieldmanager

import (
	"maps"

	"sigs.k8s.io/structured-merge-diff/v4/schema"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
	"sigs.k8s.io/structured-merge-diff/v4/value"
)

// merge returns an object with what a configuration says, as structured-merge-diff merges the two; nothing is wrong with either
// (see invalid.go). It shares parts with both, and changes neither. structured-merge-diff walks over all of the object and builds
// it anew; to walk over the configuration only saves an apply of a ConfigMap an eighth of its time or more.
func (m *model) merge(obj, config map[string]any) (map[string]any, error) {
	merged, err := m.mergeValues(m.root, obj, config)
	if err != nil {
		return nil, err
	}
	return merged.(map[string]any), nil
}

// mergeValues merges two values that are both there. Null says nothing about an object or a list in which there is something.
func (m *model) mergeValues(s *shape, was, is any) (any, error) {
	if s == nil || s.kind == scalar && s.accept == anything {
		s = free
	}
	switch {
	case s.asOne(was, is), isEmptyContainer(was):
		return is, nil
	case isEmptyContainer(is):
		return was, nil
	case s.kind == set || s.kind == listMap:
		return m.mergeItems(s, was, is)
	}
	merged := maps.Clone(was.(map[string]any))
	for name, v := range is.(map[string]any) { // order does not matter: nothing is wrong
		if before, had := merged[name]; had {
			var err error
			if v, err = m.mergeValues(s.child(name), before, v); err != nil {
				return nil, err
			}
		}
		merged[name] = v
	}
	return merged, nil
}

// mergeItems merges two lists whose items are owned one by one. Whose order counts, and where, structured-merge-diff knows.
func (m *model) mergeItems(s *shape, was, is any) (any, error) {
	kind := m.parser()
	list := func(v any) *typed.TypedValue { return typedAs(v, kind.Schema, m.lists[s]) }
	merged, err := list(was).Merge(list(is))
	if err != nil {
		return nil, err
	}
	return merged.AsValue().Unstructured(), nil
}

// typedAs returns a value in which nothing is wrong for structured-merge-diff, which does not check it again.
func typedAs(v any, s *schema.Schema, t schema.TypeRef) *typed.TypedValue {
	//lint:ignore SA1019 what was checked here, to the letter of the real server, need not be checked there again
	return typed.AsTypedUnvalidated(value.NewValueInterface(v), s, t)
}
