package codec

import (
	"cmp"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"

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
	x, errX := fieldpath.DeserializePathElement(a)
	y, errY := fieldpath.DeserializePathElement(b)
	if errX != nil || errY != nil {
		return strings.Compare(a, b)
	}
	return cmp.Or(x.Compare(y), strings.Compare(a, b))
}

// isQuoted reports whether a string begins in the text and does not end there. Texts with escape sequences do not count.
func isQuoted(text string) bool {
	return strings.Count(text, `"`)%2 == 1 && !strings.Contains(text, `\`)
}
