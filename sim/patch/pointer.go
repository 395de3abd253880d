package patch

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/object"
)

// place is the position to which a JSON pointer refers.
type place struct {
	value string // "" if the object has no such key
	err   error  // why the array has no such element, or nil
}

// find resolves a JSON pointer (RFC 6901). It ignores any text before the first slash. If the object or array that would contain
// the last key does not exist, ok is false.
func find(doc, pointer string) (p place, ok bool) {
	keys := split(pointer)
	p.value = doc
	for _, key := range keys {
		if p.err != nil || !isContainer(p.value) {
			return p, false
		}
		p = child(p.value, key)
	}
	return p, len(keys) > 0
}

// split returns the keys of a JSON pointer.
func split(pointer string) []string {
	keys := strings.Split(pointer, "/")[1:]
	for i, key := range keys {
		keys[i] = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
	}
	return keys
}

func isContainer(text string) bool { return text != "" && (text[0] == '{' || text[0] == '[') }

func isObject(text string) bool { return text != "" && text[0] == '{' }

// child returns the value for a key of an object or an array. Negative indices count from the end.
func child(text, key string) (p place) {
	if isObject(text) {
		for m := range json.Members(text) {
			if m.Name() == key {
				p.value = m.Value
			}
		}
		return p
	}
	i, err := strconv.Atoi(key)
	if err != nil {
		return place{err: err}
	}
	elems := elements(text)
	if i < -len(elems) || i >= len(elems) {
		return place{err: fmt.Errorf("Unable to access invalid index: %d: %w", i, jsonpatch.ErrInvalidIndex)}
	}
	return place{value: elems[(i+len(elems))%len(elems)]}
}

func elements(text string) (values []string) {
	for m := range json.Members(text) {
		values = append(values, m.Value)
	}
	return values
}

// members returns the values of an object by key. If a key is repeated, the last value applies.
func members(text string) map[string]string {
	values := map[string]string{}
	for m := range json.Members(text) {
		values[m.Name()] = m.Value
	}
	return values
}

// equal compares two values like the test operation: objects regardless of the order of their keys, and scalars by their text, so
// that 1 and 1.0 differ.
func equal(a, b string) bool {
	switch {
	case isObject(a) && isObject(b):
		return maps.EqualFunc(members(a), members(b), equal)
	case isContainer(a) && isContainer(b) && a[0] == b[0]:
		return slices.EqualFunc(elements(a), elements(b), equal)
	}
	return a == b
}

// sorted returns doc with sorted keys in the objects along the path of a pointer. It always sorts the keys of the outermost object.
func sorted(doc []byte, pointer string) []byte {
	keys := split(pointer)
	if len(keys) == 0 {
		keys = []string{""}
	}
	return appendSorted(make([]byte, 0, len(doc)+len(doc)/8), object.Text(doc), keys, appendRaw)
}

// appendSorted prints a JSON value with sorted keys in the objects along the path that keys contains. end prints the value at the
// end of the path.
func appendSorted(dst []byte, text string, keys []string, end func(dst []byte, text string) []byte) []byte {
	switch {
	case len(keys) == 0:
		return end(dst, text)
	case isObject(text):
		return appendObject(dst, members(text), func(dst []byte, key, value string) []byte {
			if key == keys[0] {
				return appendSorted(dst, value, keys[1:], end)
			}
			return append(dst, value...)
		})
	case isContainer(text):
		elem := child(text, keys[0])
		return appendArray(dst, elements(text), func(dst []byte, value string) []byte {
			if value == elem.value { // sorting another element with the same text is harmless
				return appendSorted(dst, value, keys[1:], end)
			}
			return append(dst, value...)
		})
	}
	return append(dst, text...)
}

func appendRaw(dst []byte, text string) []byte { return append(dst, text...) }

// appendAllSorted prints a value with sorted keys in all of its objects.
func appendAllSorted(dst []byte, text string) []byte {
	switch {
	case isObject(text):
		return appendObject(dst, members(text), func(dst []byte, _, value string) []byte { return appendAllSorted(dst, value) })
	case isContainer(text):
		return appendArray(dst, elements(text), appendAllSorted)
	}
	return append(dst, text...)
}

func appendObject(dst []byte, m map[string]string, member func(dst []byte, key, value string) []byte) []byte {
	dst = append(dst, '{')
	for i, key := range object.SortedKeys(m) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = member(append(object.AppendString(dst, key), ':'), key, m[key])
	}
	return append(dst, '}')
}

func appendArray(dst []byte, list []string, element func(dst []byte, value string) []byte) []byte {
	dst = append(dst, '[')
	for i, value := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = element(dst, value)
	}
	return append(dst, ']')
}
