// Package manifest reads the objects in files.
//
//	file ─ documents at lines --- ─▶ YAML or JSON ─▶ object, or the items of a List
package manifest

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
)

// Read returns the objects in YAML or JSON documents, with the items of lists as separate objects. source names the
// data in errors. Read returns an error if a document is not valid YAML or not an object.
func Read(source string, data []byte) (out []object.Object, err error) {
	for _, doc := range documents(string(data)) {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		text, err := codec.YAMLToJSON([]byte(doc))
		if err != nil {
			return nil, fmt.Errorf("error parsing %s: error converting YAML to JSON: %s", source, strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
		}
		value, err := object.ParseValue(text)
		if err != nil {
			return nil, fmt.Errorf("error parsing %s: %w", source, err)
		}
		obj := object.As(value)
		switch {
		case value == nil:
		case obj == nil:
			return nil, Invalid(source, "invalid object to validate")
		case strings.HasSuffix(obj.Kind(), "List") && obj["items"] != nil:
			out = append(out, obj.Objects("items")...)
		default:
			out = append(out, obj)
		}
	}
	return out, nil
}

// documents splits text into its YAML documents, which are separated by lines that begin with ---.
func documents(text string) []string {
	var out []string
	var b strings.Builder
	for line := range strings.Lines(text) {
		if t := strings.TrimRight(line, " \t\r\n"); t == "---" || strings.HasPrefix(t, "--- ") {
			out = append(out, b.String())
			b.Reset()
			continue
		}
		b.WriteString(line)
	}
	return append(out, b.String())
}

// Invalid returns the error for an invalid object in a file.
func Invalid(source, text string) error {
	return fmt.Errorf("error validating %q: error validating data: %s; if you choose to ignore these errors, turn validation off with --validate=false", source, text)
}
