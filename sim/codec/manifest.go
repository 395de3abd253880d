package codec

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// Manifest reads the objects of a YAML stream or of JSON, as kubectl reads a file: documents are separated by lines of
// three dashes, empty ones are left out, and the items of a List are taken one by one. The error names the document.
func Manifest(data []byte) ([]object.Object, error) {
	var all []object.Object
	for i, doc := range documents(data) {
		list, err := readDocument(doc)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
		all = append(all, list...)
	}
	return all, nil
}

// documents splits a YAML stream at lines of three dashes.
func documents(data []byte) [][]byte {
	var docs [][]byte
	var doc []byte
	for line := range bytes.Lines(data) {
		rest, ok := bytes.CutPrefix(line, []byte("---"))
		if rest = bytes.TrimSpace(rest); ok && (len(rest) == 0 || rest[0] == '#') {
			docs, doc = append(docs, doc), nil
			continue
		}
		doc = append(doc, line...)
	}
	return append(docs, doc)
}

// readDocument returns the object of a document, the items of a list, or nothing.
func readDocument(doc []byte) ([]object.Object, error) {
	text, err := YAMLToJSON(doc)
	if err != nil || string(bytes.TrimSpace(text)) == "null" {
		return nil, err
	}
	obj, err := object.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("it is not an object: %w", err)
	}
	items, isList := obj["items"].([]any)
	if !isList || !strings.HasSuffix(obj.Kind(), "List") {
		return []object.Object{obj}, nil
	}
	list := make([]object.Object, len(items))
	for i, x := range items {
		m, ok := x.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("item %d of the %s is not an object", i, obj.Kind())
		}
		list[i] = m
	}
	return list, nil
}
