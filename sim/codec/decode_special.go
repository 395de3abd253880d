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

// microLayout is how metav1.MicroTime is written.
const microLayout = "2006-01-02T15:04:05.000000Z07:00"

// special reads a value whose Go type reads itself. Its errors end the decoding at once.
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

// onlyString reads a string; any other value is an error.
func (d *decoder) onlyString(c byte) (string, bool) {
	if c == '"' {
		return d.String(), !d.Bad
	}
	if d.Skip(); !d.Bad {
		d.stop(d.typeError(jsonType(c), stringType.GoType))
	}
	return "", false
}

// quantity reads a number or a string; escapes in the string are not resolved.
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

// time reads a timestamp; the zero time is nil.
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
	case layout == time.RFC3339 && len(s) == len("2006-01-02T15:04:05Z") && s[len(s)-1] == 'Z': // as it is printed
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

// The three Go types behind Any that are a schema or something else.
const (
	schemaOrBool    = "v1.JSONSchemaPropsOrBool"
	schemaOrStrings = "v1.JSONSchemaPropsOrStringArray"
)

// union reads a schema or the value that may stand in its place. The Go types decode the inner value on their own: unknown fields
// in it are not reported, and its errors end the decoding.
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

// unionLiteral reads a value that is neither an object nor a list. In a JSONSchemaPropsOrBool it returns a bool, and any other
// value is an error. In the other union types it returns nil.
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

// untyped reads a value as it is, and reports repeated fields and a number that is too large.
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
