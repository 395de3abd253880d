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

// Proto appends the protobuf message of a printed object of type t, as AppendStored prints it. The message has no kind and
// apiVersion: the envelope has them. As Kubernetes' generated code does it writes fields in the order of their numbers, and Go
// values that are no pointers even when they are zero.
func Proto(dst []byte, text string, t *schema.Type) []byte {
	p := protoPrinter{Scanner: json.Scanner{Text: text}, passed: make([]skippedField, 0, 16)}
	return p.object(dst, messageOf(t))
}

// AppendProto is Proto for an object that has not been printed.
func AppendProto(dst []byte, obj object.Object, t *schema.Type) []byte {
	return Proto(dst, object.Text(AppendStored(nil, obj, t)), t)
}

// protoPrinter converts a printed object to protobuf in one pass. The text has the order of the Go struct and the message that of
// the numbers, which mostly is the same:
//
//	{"initContainers":[…],"containers":[…]}     PodSpec { containers = 2, initContainers = 20 }
//	                  ╰ passed, and read when its turn comes
type protoPrinter struct {
	json.Scanner
	passed []skippedField // of the objects around the place where it is, outermost first
}

// members are the fields of one object in the text, on the way through it.
type members struct {
	fields []schema.Field
	at     int // which of fields is next: its value is; len(fields) at the end
	first  int // the index of its first entry in passed
}

// skippedField is a field that was next before its turn came: which one, and where its value begins.
type skippedField struct{ at, pos int }

// object prints the object that is next as a message of its own.
func (p *protoPrinter) object(dst []byte, m *protoMessage) []byte {
	c := members{fields: m.members, at: -1, first: len(p.passed)}
	p.follow(&c, p.Enter('}'))
	dst = p.fields(dst, &c, m)
	for c.at < len(c.fields) { // members that are not fields of the message
		p.pass(&c)
	}
	p.passed = p.passed[:c.first]
	return dst
}

// follow goes to the value of the next field that the type has, if there are more.
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

// named reads a key and its colon if it is that of a field, and reports whether it was. Objects that are printed here have no
// escapes in keys, and no spaces between key and colon. Archives may have been formatted otherwise: follow reads their keys in
// full.
func (p *protoPrinter) named(name string) bool {
	rest := p.Text[p.Pos:]
	if end := len(name) + 1; len(rest) > end+1 && rest[1] == name[0] && rest[end] == '"' && rest[1:end] == name {
		p.Pos += end + 2
		return true
	}
	return false
}

// pass skips the next field, which may be read later.
func (p *protoPrinter) pass(c *members) {
	p.passed = append(p.passed, skippedField{c.at, p.Pos})
	p.Pass()
	p.follow(c, p.More('}'))
}

// fields prints the fields of m, which are those of the object or of a Go struct that is inlined there.
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
			p.pass(c)
		}
		switch {
		case c.at == f.at:
			dst = p.field(dst, f)
			p.follow(c, p.More('}'))
		case len(p.passed) > c.first:
			dst = p.late(dst, c, f)
		default:
			dst = append(dst, f.absent...)
		}
	}
	return dst
}

// late prints a field that was skipped or is missing.
func (p *protoPrinter) late(dst []byte, c *members, f *protoField) []byte {
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

// null reads null, if it is next, and reports whether it was.
func (p *protoPrinter) null() bool {
	if p.Next() != 'n' {
		return false
	}
	p.Literal("null")
	return true
}

// field prints the value that is next as a field.
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

// elements prints the list that is next as a repeated field.
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

// entries prints the map that is next, whose keys are sorted: one message { key = 1, value = 2 } per entry.
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

// value prints a number and the value that is next, which is not null.
func (p *protoPrinter) value(dst []byte, number protowire.Number, t *schema.Type) []byte {
	switch t.Kind {
	case schema.String:
		return appendProtoString(dst, number, p.String())
	case schema.Bool:
		word := p.Skip()
		return appendProtoInt(dst, number, int64(protowire.EncodeBool(word == "true")))
	case schema.Int:
		n, _ := strconv.ParseInt(p.Number(), 10, 64) // decoding has made sure that it is an integer
		return appendProtoInt(dst, number, n)
	case schema.Float:
		n, _ := strconv.ParseFloat(p.Number(), 64)
		dst = protowire.AppendTag(dst, number, protowire.Fixed64Type)
		return protowire.AppendFixed64(dst, math.Float64bits(n))
	}
	dst, at := openMessage(dst, number)
	return closeMessage(p.content(dst, t), at)
}

// content prints the value that is next without a number and a length.
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

// schemaUnion prints the three types of apiextensions that are a schema or something else:
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

// appendAbsent prints a field that the object does not have.
func appendAbsent(dst []byte, f *schema.Field) []byte {
	switch t := f.Type; {
	case f.Pointer, t.Kind == schema.List, t.Kind == schema.Map, t.Kind == schema.Bytes:
		return dst
	default:
		return appendProtoZero(dst, protowire.Number(f.Proto), t)
	}
}

// zero prints the message of an empty object.
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

// appendProtoZero prints a number and the zero value.
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

// appendTimestamp prints { seconds = 1, nanos = 2 }; the zero time is empty.
func appendTimestamp(dst []byte, s, layout string) []byte {
	t, err := time.Parse(layout, s)
	if err != nil || t.IsZero() {
		return dst
	}
	dst = appendProtoInt(dst, 1, t.Unix())
	return appendProtoInt(dst, 2, int64(t.Nanosecond()))
}

// appendIntOrString prints { type = 1, intVal = 2, strVal = 3 }.
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

// openMessage begins a message whose length is not known yet; closeMessage, with the same index, ends it.
func openMessage(dst []byte, number protowire.Number) ([]byte, int) {
	dst = append(protowire.AppendTag(dst, number, protowire.BytesType), 0)
	return dst, len(dst)
}

// closeMessage writes the length in front of the message and moves it when that takes more than one byte.
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
