package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubesim/kubesim/sim/schema"
)

// wireField is one field of a protobuf message, opened: where its bytes are, what the number means in the message's
// type, and its value or the fields in it.
//
//	0a 05 0a 03 77 65 62        field 1 metadata, 5 bytes ── field 1 name "web"
type wireField struct {
	Offset   int         `json:"offset"` // of its tag, from the start of the body
	Length   int         `json:"length"` // tag included
	Field    int         `json:"field"`
	Wire     string      `json:"wire"` // varint, bytes, fixed64, fixed32
	Name     string      `json:"name"` // empty if the type has no such field
	Type     string      `json:"type"`
	Value    string      `json:"value,omitempty"`
	Children []wireField `json:"children,omitempty"`
}

// wireMagic opens every protobuf body of the API (API concepts, "Kubernetes Protobuf encoding").
const wireMagic = "k8s\x00"

// wireDepth bounds how deep messages are opened.
const wireDepth = 64

// openWire decodes a protobuf body: the envelope, and the object in it, whose type is in kinds. ok is false if body is not such a body.
// Bytes that cannot be decoded become one field without a name.
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

// payload returns the bytes of a length-delimited field without tag and length.
func payload(body []byte, f *wireField) []byte {
	b := body[f.Offset : f.Offset+f.Length]
	_, _, n := protowire.ConsumeTag(b)
	inner, _ := protowire.ConsumeBytes(b[n:])
	return inner
}

// readWire reads the fields of a message of type t, nil for unknown. base is where b begins in the body.
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

var wireNames = map[protowire.Type]string{protowire.VarintType: "varint", protowire.Fixed64Type: "fixed64",
	protowire.BytesType: "bytes", protowire.Fixed32Type: "fixed32"}

// readField reads the field at the beginning of b.
func readField(b []byte, base int, t *schema.Type, depth int) (wireField, bool) {
	number, wire, n := protowire.ConsumeTag(b)
	if n < 0 || wireNames[wire] == "" {
		return wireField{}, false
	}
	m := protowire.ConsumeFieldValue(number, wire, b[n:])
	if m < 0 {
		return wireField{}, false
	}
	f := wireField{Offset: base, Length: n + m, Field: int(number), Wire: wireNames[wire]}
	name, ft := fieldOf(t, f.Field)
	f.Name = name
	if ft != nil {
		f.Type = ft.GoType
	}
	switch value := b[n:f.Length]; wire {
	case protowire.VarintType:
		v, _ := protowire.ConsumeVarint(value)
		f.Value = varintText(v, ft)
	case protowire.BytesType:
		inner, _ := protowire.ConsumeBytes(value)
		f.fill(inner, base+f.Length-len(inner), ft, depth)
	default:
		f.Value = fixedText(value)
	}
	return f, true
}

// fill sets the value of a length-delimited field: text, bytes, or the fields of a message.
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
