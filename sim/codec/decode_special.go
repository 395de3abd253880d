package codec

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/schema"
)

var (
	stringType = &schema.Type{Kind: schema.String, GoType: "string"}
	int32Type  = &schema.Type{Kind: schema.Int, Bits: 32, GoType: "int32"}
)

// microLayout is the time layout of metav1.MicroTime.
const microLayout = "2006-01-02T15:04:05.000000Z07:00"

// special decodes a value whose Go type has its own UnmarshalJSON. An error in such a value supersedes all other errors.
func (d *decoder) special(t *schema.Type, c byte) any {
	switch t.Kind {
	case schema.Quantity:
		return d.quantity()
	case schema.Time:
		return d.time(c, time.RFC3339)
	case schema.MicroTime:
		return d.time(c, microLayout)
	case schema.Duration:
		if s, ok := d.onlyString(c); ok {
			return d.duration(s)
		}
		return nil
	case schema.IntOrString:
		return d.intOrString(c)
	case schema.Any:
		switch {
		case t.Elem != nil:
			return d.union(t, c)
		case t.GoType == "interface {}":
			return d.untyped()
		}
	case schema.FieldsV1:
		return d.fieldSet()
	}
	start := d.Pos
	v := d.Value()
	if t.Kind != schema.RawExtension || d.Bad {
		return v
	}
	return object.AsWritten(d.Keep(d.Text[start:d.Pos]), v)
}

// onlyString decodes a string. For any other value it records an error and returns false.
func (d *decoder) onlyString(c byte) (string, bool) {
	if c == '"' {
		return d.String(), !d.Bad
	}
	if d.Skip(); !d.Bad {
		d.stop(d.typeError(jsonType(c), stringType.GoType))
	}
	return "", false
}

// quantity decodes a quantity, which is a number or a string. It does not resolve escapes in the string.
func (d *decoder) quantity() any {
	text := d.Skip()
	if d.Bad {
		return nil
	}
	if len(text) >= 2 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	s, err := quantity.Canonical(strings.TrimSpace(text))
	if err != nil {
		d.stop(err)
		return nil
	}
	return d.Keep(s)
}

// time decodes a timestamp. It returns nil for the zero time.
func (d *decoder) time(c byte, layout string) any {
	s, ok := d.onlyString(c)
	if !ok {
		return nil
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		d.stop(err)
		return nil
	}
	switch {
	case t.IsZero():
		return nil
	case layout == time.RFC3339 && len(s) == len("2006-01-02T15:04:05Z") && s[len(s)-1] == 'Z': // in canonical form
		return d.Keep(s)
	}
	return t.UTC().Format(layout)
}

func (d *decoder) duration(s string) any {
	v, err := time.ParseDuration(s)
	if err != nil {
		d.stop(err)
		return nil
	}
	return v.String()
}

func (d *decoder) intOrString(c byte) any {
	if c == '"' {
		return d.Keep(d.String())
	}
	if !isNumber(c) {
		if d.Skip(); !d.Bad {
			d.stop(d.typeError(jsonType(c), int32Type.GoType))
		}
		return nil
	}
	text := d.Number()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !fits(n, 32) {
		if !d.Bad {
			d.stop(d.typeError("number "+text, int32Type.GoType))
		}
		return nil
	}
	return n
}

// These are two of the three union types of apiextensions, which hold either a schema or another value.
const (
	schemaOrBool    = "v1.JSONSchemaPropsOrBool"
	schemaOrStrings = "v1.JSONSchemaPropsOrStringArray"
)

// union decodes a schema or the other value of a union type. The Go types decode the inner value separately: unknown fields in it
// are not reported, and its first error supersedes all others.
func (d *decoder) union(t *schema.Type, c byte) any {
	if c != '{' && (c != '[' || t.GoType == schemaOrBool) {
		return d.unionLiteral(t, c)
	}
	outer := d.first
	d.first = nil
	d.lenient++
	var v any
	switch {
	case c == '{':
		v = d.structure(t.Elem, nil)
	case t.GoType == schemaOrStrings:
		v = d.list(&schema.Type{Kind: schema.List, GoType: "[]string", Elem: stringType}, nil)
	default:
		v = d.list(&schema.Type{Kind: schema.List, GoType: "[]v1.JSONSchemaProps", Elem: t.Elem}, nil)
	}
	d.lenient--
	if d.first != nil {
		d.stop(d.first)
	}
	d.first = outer
	if list, ok := v.([]any); ok && len(list) == 0 {
		return nil
	}
	return v
}

// unionLiteral decodes a value that is neither an object nor a list. For a JSONSchemaPropsOrBool it returns a bool, and any other
// value is an error. For the other union types it returns nil.
func (d *decoder) unionLiteral(t *schema.Type, c byte) any {
	text := d.Skip()
	if t.GoType != schemaOrBool || d.Bad {
		return nil
	}
	if c != 't' && c != 'f' {
		d.stop(errors.New("boolean or JSON schema expected"))
	}
	return text == "true"
}

func (d *decoder) nullUnion(t *schema.Type) any {
	if t.GoType == schemaOrBool {
		d.stop(errors.New("boolean or JSON schema expected"))
	}
	return nil
}

// untyped decodes a value without a type. It records repeated fields, and an error for a number that is too large for a float64.
func (d *decoder) untyped() any {
	start := d.Pos
	d.Repeats, d.Huge = false, ""
	v := d.Value()
	if d.Repeats {
		for _, at := range json.Repeated(d.Text[start:d.Pos], d.where.String()) {
			d.report("duplicate field", at)
		}
	}
	if d.Huge != "" {
		d.wrong("number "+d.Huge, "float64")
	}
	return v
}
