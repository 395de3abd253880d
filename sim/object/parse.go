package object

import (
	"errors"
	"fmt"

	"github.com/kubesim/kubesim/sim/json"
)

// spareDepth is how much deeper than the bodies of requests an object may be nested: its managedFields are.
const spareDepth = 16

// ParseValue reads one JSON value with exact integers: a number without fraction and exponent that fits int64 is an int64, every
// other number a float64. The last of repeated keys wins. A number too large for a float64 is an error. Bodies of requests are
// read by sim/codec, whose errors are those of the real server.
func ParseValue(data []byte) (any, error) { return parse(string(data), nil) }

// Parse reads a JSON object with exact integers.
func Parse(data []byte) (Object, error) {
	v, err := ParseValue(data)
	return asObject(v, err)
}

// ParseRaw is Parse for an object that may have raw values at the places of at. The strings of the object are parts of data, which
// must not be changed any more.
func ParseRaw(data []byte, at *Places) (Object, error) {
	v, err := parse(Text(data), at)
	return asObject(v, err)
}

func asObject(v any, err error) (Object, error) {
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("object: not a JSON object")
	}
	return m, nil
}

// parse is ParseValue for a value with raw values at some places.
func parse(text string, at *Places) (any, error) {
	r := reader{json.Scanner{Text: text, Spare: spareDepth}}
	v := r.value(at)
	r.End()
	switch {
	case r.Bad:
		return nil, fmt.Errorf("object: %w", json.SyntaxError(text))
	case r.Huge != "":
		return nil, errors.New("object: the number " + r.Huge + " is too large")
	}
	return v, nil
}

// reader reads values that may be raw.
type reader struct{ json.Scanner }

func (r *reader) value(at *Places) any {
	c := r.Next()
	switch {
	case at == nil:
	case at.Raw: // the size of its numbers does not matter
		start, huge := r.Pos, r.Huge
		v := r.Value()
		r.Huge = huge
		return AsWritten(r.Text[start:r.Pos], v)
	case c == '{':
		m := map[string]any{}
		for more := r.Enter('}'); more; more = r.More('}') {
			key := r.Key()
			m[key] = r.value(at.field(key))
		}
		return m
	case c == '[':
		list := []any{}
		for more := r.Enter(']'); more; more = r.More(']') {
			list = append(list, r.value(at.Elem))
		}
		return list
	}
	return r.Value()
}
