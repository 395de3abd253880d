package object

import (
	"errors"
	"fmt"

	"github.com/kubesim/kubesim/sim/json"
)

// spareDepth is the additional nesting depth of stored objects compared to request bodies. They need it because of their
// managedFields.
const spareDepth = 16

// ParseValue parses a JSON value with exact integers: a number without fraction and exponent that fits an int64 is an int64, and
// any other number is a float64. If a key is repeated, the last value applies. A number that is too large for a float64 is an
// error. Package codec decodes request bodies instead, with the real server's errors.
func ParseValue(data []byte) (any, error) { return parse(string(data), nil) }

// Parse parses a JSON object with exact integers (ParseValue). It returns an error if data is not an object.
func Parse(data []byte) (Object, error) {
	v, err := ParseValue(data)
	return asObject(v, err)
}

// ParseRaw is like Parse, but returns the values at the given places as Raws. The strings in the object refer to data, which must
// no longer be modified.
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

// parse implements ParseValue. It returns the values at the given places as Raws.
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

// reader parses values that may be Raws.
type reader struct{ json.Scanner }

func (r *reader) value(at *Places) any {
	c := r.Next()
	switch {
	case at == nil:
	case at.Raw: // a Raw may contain numbers of any size
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
