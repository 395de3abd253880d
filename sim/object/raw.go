package object

import (
	"strings"
	"unsafe"

	"github.com/kubesim/kubesim/sim/json"
)

// Raw is a JSON value that is kept as the client wrote it, including its whitespace, the order of its keys and the format of its
// numbers. It corresponds to the real server's runtime.RawExtension. Two Raws are equal if their texts are. A text that equals the
// canonical JSON of its value is stored as the value instead of a Raw, so that equal values have equal texts.
//
//	{ "b": 1.0 }   as sent, a Raw                in the store, in protobuf
//	{"b":1.0}      without whitespace            in JSON, see AppendJSON
//	{"b":1}        its value, Plain              after merging or conversion to YAML
//
// The fieldsV1 of a new object of a built-in kind is also a Raw until it is stored: fieldmanager generates its final form.
type Raw string

// Text returns bytes as a string without copying them. The bytes, a request body or a stored value, must no longer be modified. If
// they were copied, an update of a pod would take 7 % more CPU time in JSON, and 14 % more in protobuf, where strings are copied
// individually.
func Text(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// AsWritten returns value. If the canonical JSON of value differs from text, it returns a Raw with the text instead.
func AsWritten(text string, value any) any {
	if string(JSON(value)) == text {
		return value
	}
	return Raw(text)
}

// Value parses the text. If a key is repeated, the last value applies.
func (r Raw) Value() any {
	s := json.Scanner{Text: string(r), Spare: spareDepth}
	v := s.Value()
	if s.Bad {
		panic("object: a raw value is not JSON: " + json.SyntaxError(s.Text).Error())
	}
	return v
}

// MarshalJSON implements json.Marshaler. encoding/json removes the whitespace in the result and escapes HTML characters.
func (r Raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// Compact removes whitespace from JSON and escapes HTML characters, as encoding/json does with the result of a json.Marshaler.
func Compact(text []byte) []byte { return appendCompact(nil, string(text)) }

func appendCompact(b []byte, text string) []byte {
	start, quoted := 0, false // b contains the text before start
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\':
			i++
		case c <= ' ' && !quoted:
			b = append(b, text[start:i]...)
			start = i + 1
		case c == '<' || c == '>' || c == '&':
			b = appendEscaped(append(b, text[start:i]...), c)
			start = i + 1
		case c == 0xe2 && (strings.HasPrefix(text[i:], "\u2028") || strings.HasPrefix(text[i:], "\u2029")):
			b = append(append(b, text[start:i]...), `\u202`...)
			b = append(b, hex[text[i+2]&0xf])
			start = i + 3
		}
	}
	return append(b, text[start:]...)
}

// Places identifies those values in an object that ParseRaw returns as Raws. If nil, there are none.
type Places struct {
	Raw    bool               // whether this value is a Raw
	Fields map[string]*Places // in the fields of an object
	Elem   *Places            // in each element of a list, or in each value of a map
}

// field returns the places within a field of an object, or nil if there are none.
func (at *Places) field(name string) *Places {
	if at == nil {
		return nil
	}
	if next := at.Fields[name]; next != nil {
		return next
	}
	return at.Elem
}
