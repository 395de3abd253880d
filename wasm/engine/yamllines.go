package engine

import (
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/linediff"
	"github.com/kubesim/kubesim/sim/object"
)

// yamlLine is a line of an object printed as YAML, and where in the object it is.
//
//	spec:              [spec]
//	  ports:           [spec ports]
//	  - name: http     [spec ports 0 name]
//	    port: 80       [spec ports 0 port]
type yamlLine struct {
	text string
	path []any // names of fields and numbers of elements
}

// yamlText returns a JSON value as YAML, as the API prints it: keys sorted.
func yamlText(v any) string {
	return string(codec.Body(object.JSON(v), codec.Format{Media: codec.YAML}))
}

// yamlLines returns the lines of yamlText(v) with their paths. If a key is so long that YAML marks it with "?", or the text does not match
// the value, no line has a path.
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

// lineReader goes through printed lines and the value behind them side by side.
type lineReader struct {
	lines []yamlLine
	at    int
	ok    bool
}

// read reads the lines of a map or a list whose lines begin at a column.
func (r *lineReader) read(path []any, column int, v any) {
	switch v := v.(type) {
	case map[string]any:
		for range v { // order does not matter: the lines say which field comes next
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

// value reads a field, or an element that is not nested, with its continuation lines. If it is a map, inner is the column of its fields;
// elements of a list are not indented.
func (r *lineReader) value(path []any, column int, v any, inner int) {
	if !r.ok || r.at >= len(r.lines) {
		r.ok = false
		return
	}
	r.lines[r.at].path = path
	r.at++
	switch {
	case !nested(v): // a long or a broken text goes on further to the right
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

// key returns the name of the field whose line is next.
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

// startsAt reports whether something begins in a line at the column or left of it.
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

// with returns path with one more step, in new memory.
func with(path []any, step any) []any { return append(path[:len(path):len(path)], step) }
