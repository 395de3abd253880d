package patch

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// maxStrict is how many strict errors one document reports.
const maxStrict = 100

// reader turns JSON that is known to be well-formed into values of package object, and notes repeated keys on the way. Its
// methods read what begins at a place of the text, and return where that ends.
type reader struct {
	text   []byte
	path   []string // of the value being read: "spec", ".ports", "[0]"
	strict []string
	err    error  // the first value that does not fit; reading goes on
	field  string // the Go struct field being read, for errors: "jsonPatchOp.value"; "" for none
}

// checkSyntax says what is wrong with the syntax of data.
func checkSyntax(data []byte) error { return json.Unmarshal(data, new(json.RawMessage)) }

// readObject decodes data, which must be an object or null, into values of package object. The last of repeated keys
// wins; strict names them: duplicate field "spec.replicas".
func readObject(data []byte) (m map[string]any, strict []string, err error) {
	if err := checkSyntax(data); err != nil {
		return nil, nil, err
	}
	switch first(data) {
	case 'n':
		return nil, nil, nil
	case '{':
		r := &reader{text: data}
		m, _ = r.object(space(data, 0))
		return m, r.strict, r.err
	}
	return nil, nil, typeError(data, "value of type map[string]interface {}")
}

// jsonTypes are what encoding/json calls values, by the first byte; all others are numbers.
var jsonTypes = map[byte]string{'{': "object", '[': "array", '"': "string", 't': "bool", 'f': "bool"}

// typeError says, as encoding/json does, that a value does not fit into a Go value or field.
func typeError(raw []byte, into string) error {
	return errors.New("json: cannot unmarshal " + cmp.Or(jsonTypes[first(raw)], "number") + " into Go " + into)
}

func (r *reader) value(i int) (v any, after int) {
	switch r.text[i] {
	case '{':
		return r.object(i)
	case '[':
		list := []any{}
		after = r.each(i, func(_ string, i int) int {
			v, after := r.value(i)
			list = append(list, v)
			return after
		})
		return list, after
	}
	after = end(r.text, i)
	switch scalar := r.text[i:after]; scalar[0] {
	case '"':
		return keyOf(scalar), after
	case 't', 'f':
		return scalar[0] == 't', after
	case 'n':
		return nil, after
	default:
		return r.number(string(scalar)), after
	}
}

func (r *reader) number(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		into := "value"
		if r.field != "" {
			into = "struct field " + r.field
		}
		r.fail(errors.New("json: cannot unmarshal number " + text + " into Go " + into + " of type float64"))
	}
	return f
}

func (r *reader) object(i int) (m map[string]any, after int) {
	m = map[string]any{}
	after = r.each(i, func(key string, i int) (after int) {
		if _, ok := m[key]; ok {
			r.report("duplicate field ")
		}
		m[key], after = r.value(i)
		return after
	})
	return m, after
}

// each is walk with the path of what is read.
func (r *reader) each(i int, read func(key string, at int) (after int)) (after int) {
	inArray, n := r.text[i] == '[', 0
	return walk(r.text, i, func(key string, at int) int {
		step := key
		switch {
		case inArray:
			step = "[" + strconv.Itoa(n) + "]"
		case len(r.path) > 0:
			step = "." + key
		}
		r.path = append(r.path, step)
		after := read(key, at)
		r.path = r.path[:len(r.path)-1]
		n++
		return after
	})
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// report adds a strict error about the current path.
func (r *reader) report(problem string) {
	text := problem + strconv.Quote(strings.Join(r.path, ""))
	if len(r.strict) < maxStrict && !slices.Contains(r.strict, text) {
		r.strict = append(r.strict, text)
	}
}
