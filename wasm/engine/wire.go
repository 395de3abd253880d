package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/schema"
)

// wireField is a decoded field of a protobuf message: the position of its bytes, the meaning of its number in the message type, and
// its value or the fields in it.
//
//	0a 05 0a 03 77 65 62        field 1 metadata, 5 bytes ── field 1 name "web"
type wireField struct {
	Offset   int         `json:"offset"` // of the tag, from the beginning of the body
	Length   int         `json:"length"` // including the tag
	Field    int         `json:"field"`
	Wire     string      `json:"wire"` // varint, bytes, fixed64 or fixed32
	Name     string      `json:"name"` // empty if the type has no such field
	Type     string      `json:"type"`
	Value    string      `json:"value,omitempty"`
	Children []wireField `json:"children,omitempty"`
}

// wireMagic is the prefix of every protobuf body of the API (API concepts, "Kubernetes Protobuf encoding").
const wireMagic = "k8s\x00"

// wireDepth limits the depth to which nested messages are decoded.
const wireDepth = 64

// openWire decodes a protobuf body: the envelope and the object in it. kinds returns the type of an object. ok is false if body
// is not such a body. Bytes that cannot be decoded become a single field without a name.
func openWire(body []byte, kinds func(schema.GVK) *schema.Type) (fields []wireField, ok bool) {
	if !bytes.HasPrefix(body, []byte(wireMagic)) {
		return nil, false
	}
	at := len(wireMagic)
	fields = readWire(body[at:], at, envelope, 0)
	var gvk schema.GVK
	for i := range fields {
		f := &fields[i]
		switch f.Name {
		case "typeMeta":
			gvk = schema.ParseGVK(valueOf(f.Children, "apiVersion"), valueOf(f.Children, "kind"))
		case "raw":
			if t := kinds(gvk); t != nil {
				f.Type, f.Value = gvk.Kind, ""
				raw := payload(body, f)
				f.Children = readWire(raw, f.Offset+f.Length-len(raw), t, 0)
			}
		}
	}
	return fields, true
}

func valueOf(fields []wireField, name string) string {
	for _, f := range fields {
		if f.Name == name {
			s, _ := strconv.Unquote(f.Value)
			return s
		}
	}
	return ""
}

// payload returns the bytes of a length-delimited field without its tag and length.
func payload(body []byte, f *wireField) []byte {
	b := body[f.Offset : f.Offset+f.Length]
	_, n := binary.Uvarint(b)
	_, m := binary.Uvarint(b[n:])
	return b[n+m:]
}

// readWire decodes the fields of a message of type t, which is nil if unknown. base is the offset of b in the body.
func readWire(b []byte, base int, t *schema.Type, depth int) []wireField {
	fields := []wireField{}
	for at := 0; at < len(b); {
		f, ok := readField(b[at:], base+at, t, depth)
		if !ok {
			rest := b[at:]
			return append(fields, wireField{Offset: base + at, Length: len(rest), Wire: "bytes", Value: bytesText(rest)})
		}
		fields = append(fields, f)
		at += f.Length
	}
	return fields
}

var wireNames = map[uint64]string{0: "varint", 1: "fixed64", 2: "bytes", 5: "fixed32"}

// readField decodes the field at the beginning of b, or returns false if it is invalid or incomplete. base is the position of b in
// the message.
func readField(b []byte, base int, t *schema.Type, depth int) (wireField, bool) {
	tag, n := binary.Uvarint(b)
	wire, known := wireNames[tag&7]
	if n <= 0 || !known || tag>>3 == 0 || tag>>3 > 1<<29 {
		return wireField{}, false
	}
	f := wireField{Offset: base, Field: int(tag >> 3), Wire: wire}
	name, ft := fieldOf(t, f.Field)
	f.Name = name
	if ft != nil {
		f.Type = ft.GoType
	}
	switch wire {
	case "varint":
		v, m := binary.Uvarint(b[n:])
		if m <= 0 {
			return f, false
		}
		f.Length, f.Value = n+m, varintText(v, ft)
	case "fixed64", "fixed32":
		size := 8
		if wire == "fixed32" {
			size = 4
		}
		if len(b) < n+size {
			return f, false
		}
		f.Length, f.Value = n+size, fixedText(b[n:n+size])
	case "bytes":
		size, m := binary.Uvarint(b[n:])
		if m <= 0 || size > uint64(len(b)-n-m) {
			return f, false
		}
		f.Length = n + m + int(size)
		f.fill(b[n+m:f.Length], base+n+m, ft, depth)
	}
	return f, true
}

// fill sets the value of a length-delimited field: a string, bytes, or the fields of a message.
func (f *wireField) fill(b []byte, base int, t *schema.Type, depth int) {
	m := messageOf(t)
	switch {
	case m != nil && depth < wireDepth:
		f.Children = readWire(b, base, m, depth+1)
	case t != nil && t.Kind == schema.String || t == nil && utf8.Valid(b) && printable(b):
		f.Value = strconv.Quote(string(b))
	default:
		f.Value = bytesText(b)
	}
}

func printable(b []byte) bool {
	return strings.IndexFunc(string(b), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }) < 0
}

func bytesText(b []byte) string { return "base64 " + base64.StdEncoding.EncodeToString(b) }

func varintText(v uint64, t *schema.Type) string {
	if t != nil && t.Kind == schema.Bool {
		return strconv.FormatBool(v != 0)
	}
	return strconv.FormatInt(int64(v), 10)
}

func fixedText(b []byte) string {
	if len(b) == 4 {
		return strconv.FormatFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 'g', -1, 32)
	}
	return strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)), 'g', -1, 64)
}

// fieldOf returns the name and type of a field of a message. A Go struct that is inlined in JSON is a nested message in protobuf. Such a
// field has no name in JSON, so the name is "(inlined)", and the type has the fields of the nested message.
func fieldOf(t *schema.Type, number int) (string, *schema.Type) {
	if t == nil {
		return "", nil
	}
	var inner []schema.Field
	for _, f := range t.Fields {
		switch {
		case len(f.Inline) == 0 && f.Proto == number:
			return f.Name, f.Type
		case len(f.Inline) > 0 && f.Inline[0] == number:
			f.Inline = f.Inline[1:]
			inner = append(inner, f)
		}
	}
	if inner == nil {
		return "", nil
	}
	return "(inlined)", schema.NewStruct("", "", inner)
}

// messageOf returns the message type in a length-delimited field of type t, or nil if the field contains a scalar. Each element of
// a repeated field is a separate field in the encoding.
func messageOf(t *schema.Type) *schema.Type {
	if t == nil {
		return nil
	}
	switch t.Kind {
	case schema.Struct:
		return t
	case schema.List:
		if t.Message {
			return message(field(1, "items", t.Elem))
		}
		return messageOf(t.Elem)
	case schema.Map:
		return message(field(1, "key", stringType), field(2, "value", t.Elem))
	}
	return special[t.Kind]
}

// field and message define messages that exist only in protobuf.
func field(number int, name string, t *schema.Type) schema.Field {
	return schema.Field{Name: name, Type: t, Proto: number}
}

func message(fields ...schema.Field) *schema.Type { return schema.NewStruct("", "", fields) }

var (
	stringType = &schema.Type{Kind: schema.String, GoType: "string"}
	intType    = &schema.Type{Kind: schema.Int, GoType: "int64", Bits: 64}
	bytesType  = &schema.Type{Kind: schema.Bytes, GoType: "[]byte"}

	timestamp = message(field(1, "seconds", intType), field(2, "nanos", intType))
	rawJSON   = message(field(1, "raw", stringType))

	intOrString = message(field(1, "type", intType), field(2, "intVal", intType), field(3, "strVal", stringType))

	// special contains the messages of types that are a single value in JSON (generated.proto of apimachinery).
	special = map[schema.Kind]*schema.Type{
		schema.Time:         timestamp,
		schema.MicroTime:    timestamp,
		schema.Duration:     message(field(1, "duration", intType)),
		schema.Quantity:     message(field(1, "string", stringType)),
		schema.IntOrString:  intOrString,
		schema.RawExtension: rawJSON,
		schema.Any:          rawJSON,
		schema.FieldsV1:     rawJSON,
	}

	// envelope is the message runtime.Unknown.
	envelope = message(
		field(1, "typeMeta", message(field(1, "apiVersion", stringType), field(2, "kind", stringType))),
		field(2, "raw", bytesType), field(3, "contentEncoding", stringType), field(4, "contentType", stringType))
)
