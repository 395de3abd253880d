package fieldmanager

import (
	"maps"

	"github.com/kubesim/kubesim/sim/object"
)

// A set of paths has the form of FieldsV1: a map from a path element to the set below it. A path is in the set if the set below it
// is empty or has the key ".":
//
//	{"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:image": {}}}}}
//
// contains the container c and its image, but neither spec nor containers. nil and {} are the empty set. Sets share structure with
// each other and with the objects from which they were decoded, so they are never changed in place.

// leaf is the value of a path in FieldsV1 that has no paths below it: {}. All sets share it.
var leaf = map[string]any{}

// below returns the set below a path element, and whether the set has that element.
func below(set map[string]any, element string) (map[string]any, bool) {
	v, ok := set[element]
	if !ok {
		return nil, false
	}
	node, _ := v.(map[string]any)
	return node, true
}

// isMember reports whether a path is in a set. node is the set below the path.
func isMember(node map[string]any) bool {
	if len(node) == 0 {
		return true
	}
	_, ok := node["."]
	return ok
}

// minus returns the paths of a that are not in b. fewer reports whether any path was removed.
func minus(a, b map[string]any) (out map[string]any, fewer bool) {
	out = a
	some := b
	if len(a) < len(b) {
		some = a
	}
	for element := range some { // order does not matter
		x, inA := below(a, element)
		y, inB := below(b, element)
		if !inA || !inB || element == "." {
			continue
		}
		left, touched := nodeMinus(x, y)
		if !touched {
			continue
		}
		if !fewer {
			out, fewer = maps.Clone(a), true
		}
		if left == nil {
			delete(out, element)
		} else {
			out[element] = left
		}
	}
	return out, fewer
}

// nodeMinus removes the paths of y from x. If nothing remains, left is nil. touched reports whether x had any of these paths.
func nodeMinus(x, y map[string]any) (left map[string]any, touched bool) {
	rest, touched := minus(x, y)
	member := isMember(x)
	if member && isMember(y) {
		member, touched = false, true
	}
	if !touched {
		return x, false
	}
	_, dot := rest["."]
	if dot && !member {
		rest = without(rest, ".")
	}
	switch {
	case len(rest) > 1 || len(rest) == 1 && !(dot && member):
		return rest, true
	case member:
		return leaf, true
	}
	return nil, true
}

// plus returns the paths that are in a or b. If b adds nothing, it returns a itself.
func plus(a, b map[string]any) map[string]any {
	if len(a) == 0 {
		return b
	}
	out, copied := a, false
	for element := range b { // order does not matter
		if element == "." {
			continue
		}
		y, _ := below(b, element)
		x, ok := below(a, element)
		node := y
		if ok {
			if node = nodePlus(x, y); object.Same(node, x) {
				continue
			}
		}
		if !copied {
			out, copied = maps.Clone(a), true
		}
		out[element] = node
	}
	return out
}

func nodePlus(x, y map[string]any) map[string]any {
	if len(x) == 0 && len(y) == 0 {
		return x
	}
	out := plus(x, y)
	if isMember(x) || isMember(y) {
		if _, ok := out["."]; !ok {
			out = maps.Clone(out)
			out["."] = leaf
		}
	}
	return out
}

// without returns a set without the given top-level path elements and everything below them.
func without(set map[string]any, elements ...string) map[string]any {
	out, copied := set, false
	for _, element := range elements {
		if _, ok := out[element]; !ok {
			continue
		}
		if !copied {
			out, copied = maps.Clone(set), true
		}
		delete(out, element)
	}
	return out
}
