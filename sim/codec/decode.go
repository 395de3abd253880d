package codec

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// DecodeJSON decodes an object of type t like the API server decodes it into a Go struct: names match exactly, null is the same as
// absent, the last of several fields with the same name wins, and values are normalized to the form in which they are encoded.
// strict has an error for each field that was dropped or overwritten (`unknown field "spec.foo"`), in order of appearance, at most
// 100. If t is nil, DecodeJSON decodes any JSON object unchanged, and strict has only the repeated fields.
//
// An empty list or map of a field that is omitted when empty is kept, so that managedFields [] differs from an absent field. In a
// field that is always encoded, it becomes null, as in the real server's storage.
func DecodeJSON(data []byte, t *schema.Type) (obj object.Object, strict []string, err error) {
	return decode(string(data), t)
}

func decode(text string, t *schema.Type) (obj object.Object, strict []string, err error) {
	d := newDecoder(text, nil)
	return d.document(t)
}

// newDecoder returns a decoder for text. before is an item whose parsed parts may occur again in text, or nil.
func newDecoder(text string, before *resource.Item) decoder {
	d := decoder{Scanner: json.Scanner{Text: text, Own: len(text) > shareLimit}, where: make(path, 0, 8)}
	if before != nil {
		d.before = before.Parsed()
	}
	return d
}

// document decodes an object of type t. It returns an error if anything but space follows it.
func (d *decoder) document(t *schema.Type) (obj object.Object, strict []string, err error) {
	var v any
	if t != nil {
		v = d.value(t, nil, false)
	} else {
		v = d.root()
	}
	if err := d.finish(); err != nil {
		return nil, nil, err
	}
	m, _ := v.(map[string]any)
	if m == nil {
		m = map[string]any{}
	}
	return m, d.strict, nil
}

// finish checks that nothing follows the value and returns the decoder's error, if any.
func (d *decoder) finish() error {
	d.End()
	switch {
	case d.Bad:
		return json.SyntaxError(d.Text)
	case d.fatal != nil:
		return d.fatal
	}
	return d.first
}

// CheckJSON decodes a value of any type and returns only the strict errors and the error (see DecodeJSON).
func CheckJSON(data []byte, t *schema.Type) (strict []string, err error) {
	d := newDecoder(string(data), nil)
	d.value(t, nil, false)
	return d.strict, d.finish()
}

// shareLimit is the size of documents up to which decoded strings are substrings of the document. Copying small strings would cost
// more than the memory that the substrings retain.
const shareLimit = 8 << 10

// decoder decodes one document into the form of a schema.Type.
type decoder struct {
	json.Scanner

	before *resource.Parsed // parts whose values need not be decoded again, or nil
	parts  *resource.Parsed // collects the parts of a stored item, which are immutable; nil for a request body

	where path

	first   error    // the error of the first value with a wrong type; decoding continues after it
	fatal   error    // the error of a value with its own UnmarshalJSON (a time, a quantity): it supersedes all others
	strict  []string // unknown and repeated fields
	unknown []string // the paths of the unknown fields
	lenient int      // depth of values in which unknown fields are not reported
}

// root decodes an object of a custom resource, without a type. Any JSON but an object or null is an error.
func (d *decoder) root() any {
	if c := d.Next(); c != '{' && c != 'n' {
		return d.mismatch(&schema.Type{GoType: "map[string]interface {}"}, nil)
	}
	return d.untyped()
}

// value decodes a value of type t. old is the value of an earlier field of the same name, into which structs and maps are merged,
// or nil. If pointer is true, a nil result means a nil pointer, and otherwise the zero value.
func (d *decoder) value(t *schema.Type, old any, pointer bool) any {
	c := d.Next()
	if d.fatal != nil {
		d.Skip()
		return nil
	}
	if c == 'n' {
		d.Literal("null")
		return d.null(t, old, pointer)
	}
	switch t.Kind {
	case schema.Struct:
		if c == '{' {
			return d.structure(t, old)
		}
	case schema.Map:
		if c == '{' {
			return d.dictionary(t, old)
		}
	case schema.List:
		if c == '[' {
			return d.list(t, old)
		}
	case schema.String:
		if c == '"' {
			return d.Keep(d.String())
		}
	case schema.Bool:
		switch c {
		case 't':
			d.Literal("true")
			return true
		case 'f':
			d.Literal("false")
			return false
		}
	case schema.Int, schema.Float:
		if isNumber(c) {
			return d.numeric(t, old)
		}
	case schema.Bytes:
		switch c {
		case '"':
			return d.base64(old)
		case '[':
			return d.byteList()
		}
	default:
		return d.special(t, c)
	}
	return d.mismatch(t, old)
}

// null returns the value of a field of type t whose JSON is null. old is the value of an earlier field of the same name, which some
// types keep.
func (d *decoder) null(t *schema.Type, old any, pointer bool) any {
	if pointer {
		return nil
	}
	switch t.Kind {
	case schema.List, schema.Map, schema.Bytes, schema.Time, schema.MicroTime:
		return nil
	case schema.Quantity:
		return "0"
	case schema.IntOrString:
		return int64(0)
	case schema.Duration:
		d.duration("")
	case schema.Any:
		if t.Elem != nil {
			return d.nullUnion(t)
		}
	}
	return old
}

// readField is a decoded field and its value. The value is nil if the field must be omitted.
type readField struct {
	field *schema.Field
	value any
}

// structure decodes a Go struct. It collects the fields first, so that the map is allocated with the right size.
func (d *decoder) structure(t *schema.Type, old any) map[string]any {
	var room [16]readField
	read := room[:0]
	m, _ := old.(map[string]any)
	at := 0
	for more := d.Enter('}'); more; more = d.More('}') {
		key := d.Key()
		f := find(t, key, &at)
		if f == nil {
			if at := d.to(key); !d.Bad && d.report("unknown field", at) {
				d.unknown = append(d.unknown, at)
			}
			d.Skip()
			continue
		}
		before := m[f.Name]
		again := slices.IndexFunc(read, func(x readField) bool { return x.field == f })
		if again >= 0 {
			d.report("duplicate field", d.to(f.Name))
			before = read[again].value
		} else {
			again = len(read)
			read = append(read, readField{field: f})
		}
		var v any
		if len(d.where) > 0 {
			v = d.field(t, f, before)
		} else {
			v = d.topField(t, f, before)
		}
		if v == nil || !f.Pointer && needless(f, v) {
			v = nil
		}
		read[again].value = v
	}
	if m == nil {
		m = make(map[string]any, len(read))
	}
	for _, x := range read {
		if x.value == nil {
			delete(m, x.field.Name)
		} else {
			m[x.field.Name] = x.value
		}
	}
	return m
}

// field decodes the value of field f of t. old is the value of an earlier field of the same name.
func (d *decoder) field(t *schema.Type, f *schema.Field, old any) any {
	d.where = append(d.where, step{name: f.Name, field: f, owner: t})
	v := d.value(f.Type, old, f.Pointer)
	d.where = d.where[:len(d.where)-1]
	return v
}

// find returns the field with the name, or nil. It first searches at index *at, after the previous field, because most documents
// have the order of the struct, and advances *at.
func find(t *schema.Type, name string, at *int) *schema.Field {
	for i := *at; i < min(*at+16, len(t.Fields)); i++ {
		if t.Fields[i].Name == name {
			*at = i + 1
			return &t.Fields[i]
		}
	}
	return t.Field(name)
}

// needless reports whether a non-pointer field with value v can be omitted without a change of the encoded object.
func needless(f *schema.Field, v any) bool {
	switch f.Type.Kind {
	case schema.Struct:
		m, ok := v.(map[string]any)
		return ok && len(m) == 0
	case schema.String, schema.Bool, schema.Int, schema.Float, schema.Bytes:
		return (f.OmitEmpty || f.OmitZero) && object.Blank(v)
	}
	return false
}

// dictionary decodes a Go map. If an earlier field has the same name, it adds the entries to the map old of that field; entries
// with equal keys are replaced, not merged.
func (d *decoder) dictionary(t *schema.Type, old any) map[string]any {
	m, _ := old.(map[string]any)
	seen := m
	if m == nil {
		m = map[string]any{}
		seen = m
	} else {
		seen = map[string]any{}
	}
	for more := d.Enter('}'); more; more = d.More('}') {
		key := d.Keep(d.Key())
		if _, ok := seen[key]; ok {
			d.report("duplicate field", d.to(key))
		}
		d.where = append(d.where, step{name: key})
		v := d.value(t.Elem, nil, t.ElemPointer)
		d.where = d.where[:len(d.where)-1]
		if v == nil && !t.ElemPointer {
			v = Zero(t.Elem)
		}
		m[key], seen[key] = v, v
	}
	return m
}

// list decodes a Go slice. If an earlier field has the same name, it merges the elements into those of old.
func (d *decoder) list(t *schema.Type, old any) []any {
	before, _ := old.([]any)
	out := []any{}
	for more := d.Enter(']'); more; more = d.More(']') {
		if len(out) == 0 {
			out = make([]any, 0, 4)
		}
		var prev any
		if len(out) < len(before) {
			prev = before[len(out)]
		}
		d.where = append(d.where, step{index: len(out), element: true})
		v := d.value(t.Elem, prev, t.ElemPointer)
		d.where = d.where[:len(d.where)-1]
		if v == nil && !t.ElemPointer {
			v = Zero(t.Elem)
		}
		out = append(out, v)
	}
	return out
}

func isNumber(c byte) bool { return c == '-' || c >= '0' && c <= '9' }

// numeric decodes a Go integer or float. If the number does not fit the type, it records the error and returns old.
func (d *decoder) numeric(t *schema.Type, old any) any {
	text := d.Number()
	if d.Bad {
		return nil
	}
	if t.Kind == schema.Float {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	} else if n, err := strconv.ParseInt(text, 10, 64); err == nil && fits(n, t.Bits) {
		return n
	}
	d.wrong("number "+text, t.GoType)
	return old
}

func fits(n int64, bits int) bool {
	switch bits {
	case 8: // a byte
		return n >= 0 && n <= math.MaxUint8
	case 32:
		return n >= math.MinInt32 && n <= math.MaxInt32
	}
	return true
}

// base64 decodes a base64 string and returns it in canonical form. If the string is invalid, it records the error and returns old.
func (d *decoder) base64(old any) any {
	data, err := base64.StdEncoding.DecodeString(d.String())
	if err != nil {
		if d.first == nil {
			d.first = err
		}
		return old
	}
	return base64.StdEncoding.EncodeToString(data)
}

var byteType = &schema.Type{Kind: schema.List, GoType: "[]uint8", Elem: &schema.Type{Kind: schema.Int, Bits: 8, GoType: "uint8"}}

// byteList decodes bytes that are written as an array of numbers, and returns them as base64.
func (d *decoder) byteList() any {
	list := d.list(byteType, nil)
	data := make([]byte, len(list))
	for i, v := range list {
		n, _ := v.(int64)
		data[i] = byte(n)
	}
	return base64.StdEncoding.EncodeToString(data)
}
