package engine

import (
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/linediff"
	"github.com/kubesim/kubesim/sim/object"
)

// yamlLine is a line of an object's YAML and its position in the object.
//
//	spec:              [spec]
//	  ports:           [spec ports]
//	  - name: http     [spec ports 0 name]
//	    port: 80       [spec ports 0 port]
type yamlLine struct {
	text string
	path []any // field names and element indexes
}

// yamlText returns a JSON value as YAML with sorted keys, in the API's format.
func yamlText(v any) string {
	return string(codec.Body(object.JSON(v), codec.Format{Media: codec.YAML}))
}

// yamlLines returns the lines of yamlText(v) with their paths. The lines have no paths if the YAML does not match the value, or if
// a key is so long that YAML marks it with "?".
func yamlLines(v any) []yamlLine {
	r := &lineReader{}
	for _, l := range linediff.Lines(yamlText(v)) {
		r.lines = append(r.lines, yamlLine{text: l})
	}
	r.ok = true
	r.read(nil, 0, v)
	if !r.ok || r.at != len(r.lines) {
		for i := range r.lines {
			r.lines[i].path = nil
		}
	}
	return r.lines
}

// lineReader matches lines of YAML with the value that they contain.
type lineReader struct {
	lines []yamlLine
	at    int
	ok    bool
}

// read matches the lines of a map or list that begin at the given column.
func (r *lineReader) read(path []any, column int, v any) {
	switch v := v.(type) {
	case map[string]any:
		for range v { // order does not matter: the next line determines the field
			name, ok := r.key(column)
			if _, has := v[name]; !ok || !has {
				r.ok = false
				return
			}
			r.value(with(path, name), column, v[name], column+2)
		}
	case []any:
		for i, e := range v {
			if nested(e) {
				r.read(with(path, i), column+2, e) // "- " is on the first line of the element
				continue
			}
			r.value(with(path, i), column, e, column)
		}
	}
}

// value matches a field, or a scalar element, including its continuation lines. inner is the column of the fields if v is a map.
// List elements are not indented.
func (r *lineReader) value(path []any, column int, v any, inner int) {
	if !r.ok || r.at >= len(r.lines) {
		r.ok = false
		return
	}
	r.lines[r.at].path = path
	r.at++
	switch {
	case !nested(v): // continuation lines of a long or multi-line string are indented further
		for r.at < len(r.lines) && !startsAt(r.lines[r.at].text, column) {
			r.lines[r.at].path = path
			r.at++
		}
	case isList(v):
		r.read(path, column, v)
	default:
		r.read(path, inner, v)
	}
}

// key returns the name of the field in the next line, or false if there is no field at the given column.
func (r *lineReader) key(column int) (string, bool) {
	if r.at >= len(r.lines) || len(r.lines[r.at].text) < column {
		return "", false
	}
	line := r.lines[r.at].text[column:]
	if strings.HasPrefix(line, "? ") {
		return "", false
	}
	if line != "" && line[0] != '"' && line[0] != '\'' {
		name, _, found := strings.Cut(line+" ", ": ")
		return name, found
	}
	for end := 1; end < len(line); end++ {
		if line[end] != ':' || line[end-1] != line[0] {
			continue
		}
		if name, err := codec.YAMLToJSON([]byte(line[:end])); err == nil {
			if s, err := object.ParseValue(name); err == nil {
				text, ok := s.(string)
				return text, ok
			}
		}
	}
	return "", false
}

// startsAt reports whether the text of a line begins at or before the given column.
func startsAt(line string, column int) bool {
	blank := len(line) - len(strings.TrimLeft(line, " "))
	return blank < len(line) && blank <= column
}

// nested reports whether v is printed on separate lines.
func nested(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	}
	return false
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}

// with returns a copy of path with one more step.
func with(path []any, step any) []any { return append(path[:len(path):len(path)], step) }
