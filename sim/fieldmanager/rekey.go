package fieldmanager

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/value"
)

// absent stands for a key field that an item leaves out. structured-merge-diff v4 wants every key field in the path of an
// item, the real server's version only those that the item has. Where a key may be left out (shareID of the devices of a
// ResourceClaim; any key without a default of a custom resource, until validation finds that it is required) the schema
// of smd.go has this default for it, which filled puts into sets and emptied takes out of them again.
const absent = "\x00"

// filled returns a set with the keys that items leave out.
func (m *model) filled(node map[string]any) map[string]any {
	if len(m.gaps) == 0 {
		return node
	}
	return m.root.rekeyed(node, func(key *member, item object.Object) { item.SetDefault(absent, key.name) })
}

// emptied returns a set without the keys that items leave out.
func (m *model) emptied(node map[string]any) map[string]any {
	if len(m.gaps) == 0 {
		return node
	}
	return m.root.rekeyed(node, func(key *member, item object.Object) {
		if item[key.name] == absent {
			delete(item, key.name)
		}
	})
}

// rekeyed changes the optional keys of items in a set.
func (s *shape) rekeyed(node map[string]any, change func(*member, object.Object)) map[string]any {
	if len(node) == 0 || s.kind == deduced || s.kind == scalar {
		return node
	}
	out := make(map[string]any, len(node))
	for element := range node { // order does not matter
		x, _ := below(node, element)
		if child := s.below(element); child != nil {
			x = child.rekeyed(x, change)
		}
		if s.kind == listMap && len(element) > 2 {
			element = s.rekey(element, change)
		}
		out[element] = x
	}
	return out
}

func (s *shape) rekey(element string, change func(*member, object.Object)) string {
	item, err := object.Parse([]byte(element[2:]))
	if err != nil {
		return element
	}
	touched := false
	for _, key := range s.keys {
		if key.optional {
			change(key, item)
			touched = true
		}
	}
	if path, err := s.itemPath(map[string]any(item), false); err == nil && touched {
		return path
	}
	return element
}

// print returns a path of structured-merge-diff without the keys that items leave out.
func (m *model) print(path fieldpath.Path) string {
	if len(m.gaps) == 0 {
		return path.String()
	}
	path = slices.Clone(path)
	for i, pe := range path {
		if pe.Key == nil {
			continue
		}
		fields := slices.DeleteFunc(slices.Clone(*pe.Key), func(f value.Field) bool {
			return m.gaps[f.Name] && f.Value.IsString() && f.Value.AsString() == absent
		})
		path[i] = fieldpath.PathElement{Key: &fields}
	}
	return path.String()
}
