package codec

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// appendFieldSet appends the JSON of a set of FieldsV1. Its path elements are sorted as structured-merge-diff sorts them, which encodes
// the sets of the real server. A custom resource does not need it: the real server encodes it as a map, with keys in byte order.
//
//	"k:{\"port\":80,\"protocol\":\"TCP\"}":{…},"k:{\"port\":443,\"protocol\":\"TCP\"}":{…}
func appendFieldSet(dst []byte, set map[string]any) []byte {
	var room [16]string
	elements := room[:0]
	for element := range set { // sorted below
		elements = append(elements, element)
	}
	slices.SortFunc(elements, ComparePathElements)
	dst = append(dst, '{')
	for i, element := range elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(object.AppendString(dst, element), ':')
		if below, ok := set[element].(map[string]any); ok {
			dst = appendFieldSet(dst, below)
		} else {
			dst = object.AppendJSON(dst, set[element])
		}
	}
	return append(dst, '}')
}

// ComparePathElements compares two path elements of FieldsV1, such as f:spec and k:{"port":80} (fieldpath.PathElement.Compare). Fields
// come before list items, which are sorted by the values of their keys: numbers by size, and before strings.
func ComparePathElements(a, b string) int {
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	if same == len(a) || same == len(b) || a[0] == 'f' || b[0] == 'f' || a[0] == '.' || b[0] == '.' {
		return strings.Compare(a, b)
	}
	if isQuoted(a[:same]) && a[same] != '\\' && b[same] != '\\' { // the names of two items: most differ there
		switch {
		case a[same] == '"':
			return -1
		case b[same] == '"':
			return 1
		}
		return cmp.Compare(a[same], b[same])
	}
	if order := strings.IndexByte(itemKinds, a[0]) - strings.IndexByte(itemKinds, b[0]); order != 0 {
		return cmp.Compare(order, 0)
	}
	x, errX := object.ParseValue([]byte(a[min(2, len(a)):]))
	y, errY := object.ParseValue([]byte(b[min(2, len(b)):]))
	if errX != nil || errY != nil {
		return strings.Compare(a, b)
	}
	return cmp.Or(compareValues(x, y), strings.Compare(a, b))
}

// itemKinds are the first letters of the path elements of list items, in their order: keys, values and indexes.
const itemKinds = "kvi"

// compareValues compares two JSON values: numbers by size, then strings, booleans, lists, objects and null (value.Compare of
// structured-merge-diff).
func compareValues(a, b any) int {
	if order := cmp.Compare(rank(a), rank(b)); order != 0 {
		return order
	}
	switch x := a.(type) {
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(float64(x), b.(float64))
	case float64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, float64(y))
		}
		return cmp.Compare(x, b.(float64))
	case string:
		return strings.Compare(x, b.(string))
	case bool:
		return slices.Index(booleans, x) - slices.Index(booleans, b.(bool))
	case []any:
		return slices.CompareFunc(x, b.([]any), compareValues)
	case map[string]any:
		y := b.(map[string]any)
		names, others := object.SortedKeys(x), object.SortedKeys(y)
		for i := range min(len(names), len(others)) {
			if order := cmp.Or(strings.Compare(names[i], others[i]), compareValues(x[names[i]], y[others[i]])); order != 0 {
				return order
			}
		}
		return cmp.Compare(len(names), len(others))
	}
	return 0
}

var booleans = []bool{false, true}

// rank is the place of a value's type in the order of compareValues.
func rank(v any) int {
	switch v.(type) {
	case int64, float64:
		return 0
	case string:
		return 1
	case bool:
		return 2
	case []any:
		return 3
	case map[string]any:
		return 4
	}
	return 5
}

// isQuoted reports whether a string begins in the text and does not end there. Texts with escape sequences do not count.
func isQuoted(text string) bool {
	return strings.Count(text, `"`)%2 == 1 && !strings.Contains(text, `\`)
}
