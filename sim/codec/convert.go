package codec

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Convert converts merged values, such as the result of a strategic merge patch, to an object of type t. The real server converts
// the values to the Go struct without JSON as an intermediate form, and by different rules than decoding:
//
//   - fields are converted in the order of the struct, and the first one that does not fit is the error;
//   - integers are truncated to the size of the field, integral floats become integers, and null is the same as absent;
//   - unknown fields are reported in alphabetical order; their paths omit map keys.
//
// apiVersion and kind are treated like other values. Convert changes m.
func Convert(m map[string]any, t *schema.Type) (obj object.Object, unknown []string, err error) {
	c := &converter{}
	v, err := c.value(m, t)
	if err != nil {
		return nil, nil, err
	}
	if obj, _, err = DecodeJSON(object.JSON(v), t); err != nil {
		return nil, nil, err
	}
	slices.Sort(c.unknown)
	return obj, c.unknown, nil
}

type converter struct {
	where   path
	unknown []string
}

// value converts v, which is not null, to type t. It returns an error if v does not fit.
func (c *converter) value(v any, t *schema.Type) (any, error) {
	switch t.Kind {
	case schema.Struct:
		return c.structure(v, t)
	case schema.Map:
		m, ok := v.(map[string]any)
		if !ok {
			return nil, errors.New("cannot restore map from " + reflectKind(v))
		}
		return m, c.elements(m, t)
	case schema.List:
		return c.list(v, t)
	case schema.Bytes:
		return c.bytes(v)
	case schema.String, schema.Bool, schema.Int, schema.Float:
		return scalar(v, t)
	}
	d := &decoder{Scanner: json.Scanner{Text: string(object.JSON(v))}}
	d.value(t, nil, false)
	if d.fatal != nil {
		return nil, d.fatal
	}
	return v, nil
}

func (c *converter) structure(v any, t *schema.Type) (any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("cannot restore struct from: " + reflectKind(v))
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		x := m[f.Name]
		if x == nil {
			delete(m, f.Name)
			continue
		}
		c.where = append(c.where, step{name: f.Name})
		x, err := c.value(x, f.Type)
		if err != nil {
			return nil, err
		}
		c.where = c.where[:len(c.where)-1]
		m[f.Name] = x
	}
	for key := range m { // order does not matter: Convert sorts the results
		if t.Field(key) == nil {
			c.unknown = append(c.unknown, `unknown field "`+append(c.where, step{name: key}).String()+`"`)
		}
	}
	return m, nil
}

func (c *converter) elements(m map[string]any, t *schema.Type) error {
	for _, key := range object.SortedKeys(m) {
		if m[key] == nil {
			continue
		}
		x, err := c.value(m[key], t.Elem)
		if err != nil {
			return err
		}
		m[key] = x
	}
	return nil
}

func (c *converter) list(v any, t *schema.Type) (any, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, errors.New("cannot restore slice from " + reflectKind(v))
	}
	for i, x := range list {
		if x == nil {
			continue
		}
		c.where = append(c.where, step{index: i, element: true})
		x, err := c.value(x, t.Elem)
		if err != nil {
			return nil, err
		}
		c.where = c.where[:len(c.where)-1]
		list[i] = x
	}
	return list, nil
}

// bytes checks a value for a field of bytes, which is base64 or a list of numbers, and returns it. It returns an error for other
// values.
func (c *converter) bytes(v any) (any, error) {
	s, ok := v.(string)
	if !ok {
		return c.list(v, byteType)
	}
	if _, err := base64.StdEncoding.DecodeString(s); err != nil {
		return nil, fmt.Errorf("error decoding from json: %w", err)
	}
	return s, nil
}

// scalar converts v to type t if both are numbers. Any other value must already have the right type, or scalar returns an error.
func scalar(v any, t *schema.Type) (any, error) {
	switch v := v.(type) {
	case string:
		if t.Kind == schema.String {
			return v, nil
		}
	case bool:
		if t.Kind == schema.Bool {
			return v, nil
		}
	case int64:
		switch t.Kind {
		case schema.Int:
			return cut(v, t.Bits), nil
		case schema.Float:
			return float64(v), nil
		case schema.String:
			return nil, errors.New("cannot convert int64 to " + t.GoType)
		}
	case float64:
		switch {
		case t.Kind == schema.Float:
			return v, nil
		case t.Kind == schema.Int && v == math.Trunc(v):
			return cut(int64(v), t.Bits), nil
		case t.Kind == schema.Int:
			return nil, errors.New("cannot convert float64 to " + t.GoType)
		}
	}
	return nil, errors.New("unrecognized type: " + scalarKind(t))
}

// cut truncates an integer to a field of 8 bits (unsigned) or 32 bits (signed). For any other size it returns n.
func cut(n int64, bits int) int64 {
	switch bits {
	case 8:
		return int64(uint8(n))
	case 32:
		return int64(int32(n))
	}
	return n
}

// scalarKind returns the name of the reflect.Kind of a scalar Go type.
func scalarKind(t *schema.Type) string {
	switch {
	case t.Kind == schema.Bool:
		return "bool"
	case t.Kind == schema.Float:
		return "float64"
	case t.Kind == schema.String:
		return "string"
	case t.Bits == 8:
		return "uint8"
	}
	return fmt.Sprintf("int%d", t.Bits)
}

// reflectKind returns the name of the reflect.Kind of a value.
func reflectKind(v any) string {
	switch v.(type) {
	case map[string]any:
		return "map"
	case []any:
		return "slice"
	}
	return fmt.Sprintf("%T", v)
}
