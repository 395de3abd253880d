package fieldmanager

import (
	"errors"
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
)

// The errors of items that no path leads to, as structured-merge-diff words them.
var (
	errNullItem  = errors.New("associative list with keys may not have a null element")
	errNoMap     = errors.New("associative list with keys may not have non-map elements")
	errMapInSet  = errors.New("associative list without keys has an element that's a map type")
	errListInSet = errors.New("not supported: associative list with lists as elements")
	errNullInSet = errors.New("associative list without keys has an element that's an explicit null")
	errNoKeys    = "associative list with keys has an element that omits all key fields %q (and doesn't have default values for any key fields)"
)

// itemPath returns the path element of an item of a set or a list map: v:"x" or k:{"name":"x"}. A typed item has its
// zero values.
func (s *shape) itemPath(item any, typed bool) (string, error) {
	path, err := s.appendItemPath(make([]byte, 0, 64), item, typed)
	return string(path), err
}

// appendItemPath appends the result of itemPath to b, or nothing for an item without a path.
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

// eachKey calls yield with the key fields that an item has, in order of their names, and counts them. Some may be
// missing, not all.
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
