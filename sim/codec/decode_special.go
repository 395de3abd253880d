package codec

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

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
		if t.Elem != nil {
			return d.union(t, c)
		}
	case schema.FieldsV1:
		return d.fieldSet()
	}
	start := d.pos
	v := d.unchecked()
	if t.Kind != schema.RawExtension || d.bad {
		return v
	}
	return object.AsWritten(d.kept(d.text[start:d.pos]), v)
}

// unchecked reads a value as it is, with whatever it has.
func (d *decoder) unchecked() any {
	d.lenient++
	defer func() { d.lenient-- }()
	return d.any(false)
}

// onlyString reads a string; any other value is an error.
func (d *decoder) onlyString(c byte) (string, bool) {
	if c == '"' {
		return d.str(), !d.bad
	}
	if d.skip(); !d.bad {
		d.stop(d.typeError(jsonType(c), stringType.GoType))
	}
	return "", false
}

// quantity reads a number or a string; escapes in the string are not resolved.
func (d *decoder) quantity() any {
	text := d.skip()
	if d.bad {
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
	return d.kept(s)
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
		return d.kept(s)
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
		return d.string()
	}
	if !isNumber(c) {
		if d.skip(); !d.bad {
			d.stop(d.typeError(jsonType(c), int32Type.GoType))
		}
		return nil
	}
	text := d.number()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !fits(n, 32) {
		if !d.bad {
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

// union reads a schema or what may stand in its place. The Go types decode the inner value on their own: unknown fields
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

// unionLiteral reads what is neither an object nor a list: a bool where there may be one, an error where there may not,
// nothing in the other types.
func (d *decoder) unionLiteral(t *schema.Type, c byte) any {
	text := d.skip()
	if t.GoType != schemaOrBool || d.bad {
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

// any reads a value as it is. With keep, repeated fields are reported and numbers beyond float64 are errors.
func (d *decoder) any(keep bool) any {
	switch c := d.next(); c {
	case '{':
		return d.anyObject(keep)
	case '[':
		list := []any{}
		for more := d.enter(']'); more; more = d.more(']') {
			d.where = append(d.where, step{index: len(list), element: true})
			list = append(list, d.any(keep))
			d.where = d.where[:len(d.where)-1]
		}
		return list
	case '"':
		return d.string()
	case 't':
		d.literal("true")
		return true
	case 'f':
		d.literal("false")
		return false
	case 'n':
		d.literal("null")
		return nil
	default:
		return d.anyNumber(keep)
	}
}

func (d *decoder) anyObject(keep bool) map[string]any {
	m := map[string]any{}
	for more := d.enter('}'); more; more = d.more('}') {
		key := d.kept(d.key())
		if _, ok := m[key]; ok && keep {
			d.report("duplicate field", key)
		}
		d.where = append(d.where, step{name: key})
		m[key] = d.any(keep)
		d.where = d.where[:len(d.where)-1]
	}
	return m
}

func (d *decoder) anyNumber(keep bool) any {
	text := d.number()
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err == nil || d.bad {
		return f
	}
	if keep {
		d.wrong("number "+text, "float64")
	}
	return math.Copysign(math.MaxFloat64, f)
}
