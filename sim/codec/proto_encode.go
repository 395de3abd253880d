package codec

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Proto appends the protobuf message of an object of type t whose JSON is text, as encoded by AppendStored. The message has no kind
// and apiVersion, because they are in the envelope. Like Kubernetes' generated code, Proto writes fields in ascending order of
// their numbers, and includes the zero values of non-pointer fields.
func Proto(dst []byte, text string, t *schema.Type) []byte {
	p := protoPrinter{Scanner: json.Scanner{Text: text}, passed: make([]skippedField, 0, 16)}
	return p.object(dst, messageOf(t))
}

// AppendProto is Proto for an object that is not encoded as JSON yet.
func AppendProto(dst []byte, obj object.Object, t *schema.Type) []byte {
	return Proto(dst, object.Text(AppendStored(nil, obj, t)), t)
}

// protoPrinter converts the JSON of an object to protobuf in one pass. The JSON is in the order of the Go struct, and the message
// in that of the field numbers, which is mostly the same:
//
//	{"initContainers":[…],"containers":[…]}     PodSpec { containers = 2, initContainers = 20 }
//	                  ╰ passed, and encoded in its place
type protoPrinter struct {
	json.Scanner
	passed []skippedField // skipped fields of the enclosing objects, outermost first
}

// members is the encoder's position among the fields of one JSON object.
type members struct {
	fields []schema.Field
	at     int // index in fields of the next value, or len(fields) at the end
	first  int // index in passed of the first entry of this object
}

// skippedField is a field that occurred too early: its index, and the position of its value.
type skippedField struct{ at, pos int }

// object encodes the next object as a message.
func (p *protoPrinter) object(dst []byte, m *protoMessage) []byte {
	c := members{fields: m.members, at: -1, first: len(p.passed)}
	p.follow(&c, p.Enter('}'))
	dst = p.fields(dst, &c, m)
	for c.at < len(c.fields) { // the remaining fields are not in the message
		p.skip(&c)
	}
	p.passed = p.passed[:c.first]
	return dst
}

// follow moves to the value of the next field that the type has, or to the end. more reports whether the object has more members.
func (p *protoPrinter) follow(c *members, more bool) {
	for ; more; more = p.More('}') {
		for i := c.at + 1; i < len(c.fields); i++ {
			if p.named(c.fields[i].Name) {
				c.at = i
				return
			}
		}
		name := p.Key()
		if i := slices.IndexFunc(c.fields[c.at+1:], func(f schema.Field) bool { return f.Name == name }); i >= 0 {
			c.at += 1 + i
			return
		}
		p.Pass()
	}
	c.at = len(c.fields)
}

// named skips the next key and its colon and returns true if the key is name. Otherwise it returns false. It expects a key without
// escapes and without a space before the colon, as this package encodes them. Archives may be formatted differently: follow parses
// their keys.
func (p *protoPrinter) named(name string) bool {
	rest := p.Text[p.Pos:]
	if end := len(name) + 1; len(rest) > end+1 && rest[1] == name[0] && rest[end] == '"' && rest[1:end] == name {
		p.Pos += end + 2
		return true
	}
	return false
}

// skip skips the value of the next field and records its position, so that encodeSkipped can encode it.
func (p *protoPrinter) skip(c *members) {
	p.passed = append(p.passed, skippedField{c.at, p.Pos})
	p.Pass()
	p.follow(c, p.More('}'))
}

// fields encodes the fields of m, which are those of the object or of a Go struct that is inlined in it.
func (p *protoPrinter) fields(dst []byte, c *members, m *protoMessage) []byte {
	for i := range m.fields {
		f := &m.fields[i]
		if f.inner != nil {
			var at int
			dst, at = openMessage(dst, f.number)
			dst = closeMessage(p.fields(dst, c, f.inner), at)
			continue
		}
		for c.at < f.at {
			p.skip(c)
		}
		switch {
		case c.at == f.at:
			dst = p.field(dst, f)
			p.follow(c, p.More('}'))
		case len(p.passed) > c.first:
			dst = p.encodeSkipped(dst, c, f)
		default:
			dst = append(dst, f.absent...)
		}
	}
	return dst
}

// encodeSkipped encodes a field that was skipped. If the field is missing, encodeSkipped appends f.absent.
func (p *protoPrinter) encodeSkipped(dst []byte, c *members, f *protoField) []byte {
	for _, earlier := range p.passed[c.first:] {
		if earlier.at == f.at {
			here := p.Scanner
			p.Pos = earlier.pos
			dst = p.field(dst, f)
			p.Scanner = here
			return dst
		}
	}
	return append(dst, f.absent...)
}

// null skips null if it is the next value, and reports whether it was.
func (p *protoPrinter) null() bool {
	if p.Next() != 'n' {
		return false
	}
	p.Literal("null")
	return true
}

// field encodes the next value as field f.
func (p *protoPrinter) field(dst []byte, f *protoField) []byte {
	t := f.field.Type
	switch {
	case p.null():
		return append(dst, f.absent...)
	case t.Kind == schema.List && !t.Message:
		return p.elements(dst, f.number, t.Elem)
	case t.Kind == schema.Map:
		return p.entries(dst, f.number, t.Elem)
	}
	return p.value(dst, f.number, t)
}

// elements encodes the next list as a repeated field.
func (p *protoPrinter) elements(dst []byte, number protowire.Number, elem *schema.Type) []byte {
	for more := p.Enter(']'); more; more = p.More(']') {
		if p.null() {
			dst = appendProtoZero(dst, number, elem)
		} else {
			dst = p.value(dst, number, elem)
		}
	}
	return dst
}

// entries encodes the next map, whose keys are sorted: one message { key = 1, value = 2 } for each entry.
func (p *protoPrinter) entries(dst []byte, number protowire.Number, elem *schema.Type) []byte {
	for more := p.Enter('}'); more; more = p.More('}') {
		var at int
		dst, at = openMessage(dst, number)
		dst = appendProtoString(dst, 1, p.Key())
		switch {
		case !p.null():
			dst = p.value(dst, 2, elem)
		case elem.Kind != schema.Bytes && !elem.Message:
			dst = appendProtoZero(dst, 2, elem)
		}
		dst = closeMessage(dst, at)
	}
	return dst
}

// value encodes the next value, which is not null, as a field with the number.
func (p *protoPrinter) value(dst []byte, number protowire.Number, t *schema.Type) []byte {
	switch t.Kind {
	case schema.String:
		return appendProtoString(dst, number, p.String())
	case schema.Bool:
		word := p.Skip()
		return appendProtoInt(dst, number, int64(protowire.EncodeBool(word == "true")))
	case schema.Int:
		n, _ := strconv.ParseInt(p.Number(), 10, 64) // decoding has ensured that it is an integer
		return appendProtoInt(dst, number, n)
	case schema.Float:
		n, _ := strconv.ParseFloat(p.Number(), 64)
		dst = protowire.AppendTag(dst, number, protowire.Fixed64Type)
		return protowire.AppendFixed64(dst, math.Float64bits(n))
	}
	dst, at := openMessage(dst, number)
	return closeMessage(p.content(dst, t), at)
}

// content encodes the next value of type t without a field number and a length.
func (p *protoPrinter) content(dst []byte, t *schema.Type) []byte {
	switch t.Kind {
	case schema.Struct:
		return p.object(dst, messageOf(t))
	case schema.Bytes:
		dst, _ = base64.StdEncoding.AppendDecode(dst, []byte(p.String()))
		return dst
	case schema.List:
		return p.elements(dst, 1, t.Elem)
	case schema.Time:
		return appendTimestamp(dst, p.String(), time.RFC3339)
	case schema.MicroTime:
		return appendTimestamp(dst, p.String(), microLayout)
	case schema.Duration:
		d, _ := time.ParseDuration(p.String())
		return appendProtoInt(dst, 1, int64(d))
	case schema.Quantity:
		return appendProtoString(dst, 1, p.String())
	case schema.IntOrString:
		if p.Peek() == '"' {
			return appendIntOrString(dst, true, 0, p.String())
		}
		n, _ := strconv.ParseInt(p.Number(), 10, 64)
		return appendIntOrString(dst, false, n, "")
	case schema.Any:
		if t.Elem != nil {
			return p.schemaUnion(dst, t)
		}
	}
	return appendProtoString(dst, 1, p.Pass()) // RawExtension, FieldsV1 and JSON
}

// schemaUnion encodes the three types of apiextensions that hold a schema or another value:
//
//	JSONSchemaPropsOrBool { allows = 1, schema = 2 }
//	JSONSchemaPropsOrArray { schema = 1, jSONSchemas = 2 … }     JSONSchemaPropsOrStringArray { schema = 1, property = 2 … }
func (p *protoPrinter) schemaUnion(dst []byte, t *schema.Type) []byte {
	isSchema := p.Peek() == '{'
	switch {
	case t.GoType == schemaOrBool && isSchema:
		return p.value(appendProtoInt(dst, 1, 1), 2, t.Elem)
	case t.GoType == schemaOrBool:
		return p.value(dst, 1, boolType)
	case isSchema:
		return p.value(dst, 1, t.Elem)
	case t.GoType == schemaOrStrings:
		return p.elements(dst, 2, stringType)
	}
	return p.elements(dst, 2, t.Elem)
}

var boolType = &schema.Type{Kind: schema.Bool, GoType: "bool"}

// appendAbsent encodes a field that the object does not have.
func appendAbsent(dst []byte, f *schema.Field) []byte {
	switch t := f.Type; {
	case f.Pointer, t.Kind == schema.List, t.Kind == schema.Map, t.Kind == schema.Bytes:
		return dst
	default:
		return appendProtoZero(dst, protowire.Number(f.Proto), t)
	}
}

// zero encodes the message of an empty object.
func (m *protoMessage) zero(dst []byte) []byte {
	for i := range m.fields {
		f := &m.fields[i]
		if f.inner == nil {
			dst = append(dst, f.absent...)
			continue
		}
		var at int
		dst, at = openMessage(dst, f.number)
		dst = closeMessage(f.inner.zero(dst), at)
	}
	return dst
}

// appendProtoZero encodes a field with the number and the zero value.
func appendProtoZero(dst []byte, number protowire.Number, t *schema.Type) []byte {
	switch t.Kind {
	case schema.String:
		return appendProtoString(dst, number, "")
	case schema.Bool, schema.Int:
		return appendProtoInt(dst, number, 0)
	case schema.Float:
		return protowire.AppendFixed64(protowire.AppendTag(dst, number, protowire.Fixed64Type), 0)
	}
	dst, at := openMessage(dst, number)
	switch {
	case t.Kind == schema.Struct:
		dst = messageOf(t).zero(dst)
	case t.Kind == schema.Duration, t.GoType == schemaOrBool:
		dst = appendProtoInt(dst, 1, 0)
	case t.Kind == schema.Quantity:
		dst = appendProtoString(dst, 1, "0")
	case t.Kind == schema.IntOrString:
		dst = appendIntOrString(dst, false, 0, "")
	}
	return closeMessage(dst, at)
}

// appendTimestamp encodes { seconds = 1, nanos = 2 }. The zero time is an empty message.
func appendTimestamp(dst []byte, s, layout string) []byte {
	t, err := time.Parse(layout, s)
	if err != nil || t.IsZero() {
		return dst
	}
	dst = appendProtoInt(dst, 1, t.Unix())
	return appendProtoInt(dst, 2, int64(t.Nanosecond()))
}

// appendIntOrString encodes { type = 1, intVal = 2, strVal = 3 }.
func appendIntOrString(dst []byte, isString bool, n int64, s string) []byte {
	dst = appendProtoInt(dst, 1, int64(protowire.EncodeBool(isString)))
	return appendProtoString(appendProtoInt(dst, 2, n), 3, s)
}

func appendProtoString(dst []byte, number protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(dst, number, protowire.BytesType), s)
}

func appendProtoInt(dst []byte, number protowire.Number, n int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, number, protowire.VarintType), uint64(n))
}

// openMessage begins a message whose length is not known yet. Pass the returned index to closeMessage to end it.
func openMessage(dst []byte, number protowire.Number) ([]byte, int) {
	dst = append(protowire.AppendTag(dst, number, protowire.BytesType), 0)
	return dst, len(dst)
}

// closeMessage inserts the length before the message, which it moves if the length takes more than one byte.
func closeMessage(dst []byte, at int) []byte {
	length := len(dst) - at
	if length < 0x80 {
		dst[at-1] = byte(length)
		return dst
	}
	more := protowire.SizeVarint(uint64(length)) - 1
	dst = append(dst, make([]byte, more)...)
	copy(dst[at+more:], dst[at:at+length])
	protowire.AppendVarint(dst[:at-1], uint64(length))
	return dst
}
