package codec

import (
	"bytes"
	"fmt"
	"iter"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// Manifest decodes the objects of a YAML stream or of JSON, like kubectl for a file: documents are separated by lines of three
// dashes, empty ones are skipped, and a List is replaced by its items. An error contains the number of the document.
func Manifest(data []byte) ([]object.Object, error) {
	var all []object.Object
	n := 0
	for _, doc := range Documents(data) {
		n++
		list, _, err := Objects(doc)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		all = append(all, list...)
	}
	return all, nil
}

// Documents yields the documents of a YAML stream, which lines of three dashes separate, each with the number of its first line.
func Documents(data []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		first, n, begin, end := 1, 0, 0, 0
		for line := range bytes.Lines(data) {
			n++
			rest, ok := bytes.CutPrefix(line, []byte("---"))
			if rest = bytes.TrimSpace(rest); ok && (len(rest) == 0 || rest[0] == '#') {
				if !yield(first, data[begin:end]) {
					return
				}
				first, begin = n+1, end+len(line)
			}
			end += len(line)
		}
		yield(first, data[begin:])
	}
}

// Objects returns the object in a document or, if it is a List, its items. It returns nil for an empty document.
func Objects(doc []byte) (objects []object.Object, isList bool, err error) {
	text, err := YAMLToJSON(doc)
	if err != nil || string(bytes.TrimSpace(text)) == "null" {
		return nil, false, err
	}
	obj, err := object.Parse(text)
	if err != nil {
		return nil, false, fmt.Errorf("it is not an object: %w", err)
	}
	items, isList := obj["items"].([]any)
	if !isList || !strings.HasSuffix(obj.Kind(), "List") {
		return []object.Object{obj}, false, nil
	}
	objects = make([]object.Object, len(items))
	for i, x := range items {
		m, ok := x.(map[string]any)
		if !ok {
			return nil, true, fmt.Errorf("item %d of the %s is not an object", i, obj.Kind())
		}
		objects[i] = m
	}
	return objects, true, nil
}
