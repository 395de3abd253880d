package patch

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// maxStrict is how many strict errors one document reports.
const maxStrict = 100

// reader decodes a JSON document and notes repeated keys on the way.
type reader struct {
	dec    *json.Decoder
	path   []string // of the value being read: "spec", ".ports", "[0]"
	strict []string
	seen   map[string]bool
	err    error  // the first value that does not fit; reading goes on
	field  string // the Go struct field being read, for errors: "jsonPatchOp.value"; "" for none
}

// newReader returns a reader of data, or what is wrong with its syntax.
func newReader(data []byte) (*reader, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, err
	}
	r := &reader{dec: json.NewDecoder(bytes.NewReader(data)), seen: map[string]bool{}}
	r.dec.UseNumber()
	return r, nil
}

// readObject decodes data, which must be an object or null, into values of package object. The last of repeated keys
// wins; strict names them: duplicate field "spec.replicas".
func readObject(data []byte) (m map[string]any, strict []string, err error) {
	r, err := newReader(data)
	if err != nil {
		return nil, nil, err
	}
	v := r.value()
	m, ok := v.(map[string]any)
	switch {
	case !ok && v != nil:
		return nil, nil, typeError(v, "value of type map[string]interface {}")
	case r.err != nil:
		return nil, nil, r.err
	}
	return m, r.strict, nil
}

// typeError says, as encoding/json does, that v does not fit into a Go value or field.
func typeError(v any, into string) error {
	name := "object"
	switch v.(type) {
	case []any:
		name = "array"
	case string:
		name = "string"
	case bool:
		name = "bool"
	case int64, float64:
		name = "number"
	}
	return errors.New("json: cannot unmarshal " + name + " into Go " + into)
}

// token returns the next token of a document that is known to be well-formed.
func (r *reader) token() json.Token {
	t, err := r.dec.Token()
	if err != nil {
		panic("patch: " + err.Error())
	}
	return t
}

func (r *reader) value() any {
	switch t := r.token().(type) {
	case json.Delim:
		if t == '[' {
			return r.array()
		}
		return r.object()
	case json.Number:
		return r.number(string(t))
	default:
		return t
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

func (r *reader) array() []any {
	list := []any{}
	for i := 0; r.dec.More(); i++ {
		r.push("[" + strconv.Itoa(i) + "]")
		list = append(list, r.value())
		r.pop()
	}
	r.token()
	return list
}

func (r *reader) object() map[string]any {
	m := map[string]any{}
	for r.dec.More() {
		key := r.token().(string)
		r.pushKey(key)
		if _, ok := m[key]; ok {
			r.report("duplicate field ")
		}
		m[key] = r.value()
		r.pop()
	}
	r.token()
	return m
}

func (r *reader) push(step string) { r.path = append(r.path, step) }

func (r *reader) pushKey(key string) {
	if len(r.path) > 0 {
		key = "." + key
	}
	r.push(key)
}

func (r *reader) pop() { r.path = r.path[:len(r.path)-1] }

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// report adds a strict error about the current path.
func (r *reader) report(problem string) {
	text := problem + strconv.Quote(strings.Join(r.path, ""))
	if len(r.strict) < maxStrict && !r.seen[text] {
		r.seen[text] = true
		r.strict = append(r.strict, text)
	}
}
