package fieldmanager

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/value"

	"github.com/kubesim/kubesim/sim/object"
)

// absent is the value of a key field that an item omits. structured-merge-diff v4 requires every key field in the path of an item,
// the real server's version only those that the item has. If a key field may be omitted, it has this default in the schema of
// smd.go. That applies to shareID of the devices of a ResourceClaim, and to any key without a default in a custom resource, until
// validation reports it as missing.
const absent = "\x00absent"

// toSet converts FieldsV1 to a set of structured-merge-diff. If the version does not exist any more, m is nil.
func (m *model) toSet(fields map[string]any) *fieldpath.Set {
	if m == nil || m.parser() == nil || !m.gaps {
		return toSet(nil, fields)
	}
	return toSet(m.root, fields)
}

// toSet converts the part of FieldsV1 below a value of the shape s. If s is nil, no items below it omit key fields.
func toSet(s *shape, fields map[string]any) *fieldpath.Set {
	set := &fieldpath.Set{}
	for element := range fields { // order does not matter: sets are sorted
		pe, err := fieldpath.DeserializePathElement(element)
		if element == "." || err != nil {
			continue
		}
		s.fillKey(pe.Key)
		node, _ := below(fields, element)
		if isMember(node) {
			set.Members.Insert(pe)
		}
		if child := toSet(s.below(element), node); !child.Empty() {
			*set.Children.Descend(pe) = *child
		}
	}
	return set
}

// fillKey adds the key fields that an item omits to its key. The key is nil if the path element is not an item.
func (s *shape) fillKey(key *value.FieldList) {
	if s == nil || s.kind != listMap || key == nil {
		return
	}
	for _, k := range s.keys {
		if k.optional && !slices.ContainsFunc(*key, func(f value.Field) bool { return f.Name == k.name }) {
			*key = append(*key, value.Field{Name: k.name, Value: value.NewValueInterface(absent)})
		}
	}
	key.Sort()
}

// given returns a path element without the key fields that the item omits.
func given(pe fieldpath.PathElement) fieldpath.PathElement {
	leftOut := func(f value.Field) bool { return f.Value.IsString() && f.Value.AsString() == absent }
	if pe.Key == nil || !slices.ContainsFunc(*pe.Key, leftOut) {
		return pe
	}
	fields := slices.DeleteFunc(slices.Clone(*pe.Key), leftOut)
	return fieldpath.PathElement{Key: &fields}
}

// printed returns a path in the form that error messages use.
func printed(path fieldpath.Path) string {
	path = slices.Clone(path)
	for i, pe := range path {
		path[i] = given(pe)
	}
	return path.String()
}

// fromSet converts a set of structured-merge-diff to FieldsV1.
func fromSet(set *fieldpath.Set) map[string]any {
	fields := make(map[string]any, set.Members.Size())
	name := func(pe fieldpath.PathElement) string {
		if pe.FieldName != nil {
			return "f:" + *pe.FieldName
		}
		text, err := fieldpath.SerializePathElement(given(pe))
		if err != nil {
			panic("fieldmanager: " + err.Error())
		}
		return text
	}
	set.Members.Iterate(func(pe fieldpath.PathElement) { fields[name(pe)] = leaf })
	set.Children.Iterate(func(pe fieldpath.PathElement) {
		child, _ := set.Children.Get(pe)
		node := fromSet(child)
		if len(node) == 0 {
			return
		}
		if set.Members.Has(pe) {
			node["."] = leaf
		}
		fields[name(pe)] = node
	})
	return fields
}

// canonical normalizes FieldsV1 that a client sent, which may have keys in any order or notation and unknown kinds of path
// elements.
func canonical(fields map[string]any) (map[string]any, error) {
	set := &fieldpath.Set{}
	if err := set.FromJSON(bytes.NewReader(object.JSON(fields))); err != nil {
		return nil, err
	}
	return fromSet(set), nil
}

// The errors about items without a path, with the messages of structured-merge-diff.
var (
	errNullItem  = errors.New("associative list with keys may not have a null element")
	errNoMap     = errors.New("associative list with keys may not have non-map elements")
	errMapInSet  = errors.New("associative list without keys has an element that's a map type")
	errListInSet = errors.New("not supported: associative list with lists as elements")
	errNullInSet = errors.New("associative list without keys has an element that's an explicit null")
	errNoKeys    = "associative list with keys has an element that omits all key fields %q (and doesn't have default values for any key fields)"
)

// itemPath returns the path element of an item in a set or a list map: v:"x" or k:{"name":"x"}. A typed item includes its zero
// values.
func (s *shape) itemPath(item any, typed bool) (string, error) {
	path, err := s.appendItemPath(make([]byte, 0, 64), item, typed)
	return string(path), err
}

// appendItemPath appends the result of itemPath to b, or nothing if there is an error.
func (s *shape) appendItemPath(b []byte, item any, typed bool) ([]byte, error) {
	if s.kind == set {
		switch item.(type) {
		case nil:
			return b, errNullInSet
		case map[string]any:
			return b, errMapInSet
		case []any:
			return b, errListInSet
		}
		return object.AppendJSON(append(b, "v:"...), item), nil
	}
	path := append(b, "k:{"...)
	n, err := s.eachKey(item, typed, func(name string, v any) {
		if path[len(path)-1] != '{' {
			path = append(path, ',')
		}
		path = append(object.AppendString(path, name), ':')
		path = object.AppendJSON(path, v)
	})
	if err != nil || n == 0 {
		return b, err
	}
	return append(path, '}'), nil
}

// eachKey calls yield for each key field of an item, sorted by name, and returns their number. Some key fields may be missing, but
// not all.
func (s *shape) eachKey(item any, typed bool, yield func(name string, v any)) (n int, err error) {
	m, ok := item.(map[string]any)
	switch {
	case item == nil && !typed:
		return 0, errNullItem
	case item != nil && !ok:
		return 0, errNoMap
	}
	for _, key := range s.keys {
		v, ok := key.in(m, typed)
		if !ok && key.def != nil {
			v, ok = key.def, true
		}
		if ok {
			n++
			yield(key.name, v)
		}
	}
	if n == 0 && len(s.keys) > 0 {
		return 0, fmt.Errorf(errNoKeys, s.given)
	}
	return n, nil
}
