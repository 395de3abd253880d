package object

import (
	"strings"
	"unsafe"

	"github.com/kubesim/kubesim/sim/json"
)

// Raw is a JSON value that is kept as the client wrote it, with its spaces, the order of its keys and the form of its numbers. It
// is the counterpart of runtime.RawExtension of the real server. Two Raws are the same if their texts are. A text that is equal to
// the canonical JSON of its value is not kept as a Raw but as the value, so that equal values also have equal texts.
//
//	{ "b": 1.0 }   as it was sent, a Raw         in the store, in protobuf
//	{"b":1.0}      without spaces                in JSON, see AppendJSON
//	{"b":1}        its value, Plain              where it was merged, or written as YAML
//
// The fieldsV1 of a new object of a built-in kind is a Raw, too, until it is stored: fieldmanager prints its final form.
type Raw string

// Text returns bytes as a string, without a copy. The bytes may not be changed any more: they are a body that has arrived, or stored.
// With copies an update of a pod takes 7 % more CPU in JSON, and 14 % more in protobuf, whose strings are copied one by one.
func Text(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// AsWritten returns the value that text is, as a Raw if JSON would print it otherwise.
func AsWritten(text string, value any) any {
	if string(JSON(value)) == text {
		return value
	}
	return Raw(text)
}

// Value parses the text. If it has repeated keys, the last one counts.
func (r Raw) Value() any {
	s := json.Scanner{Text: string(r), Spare: spareDepth}
	v := s.Value()
	if s.Bad {
		panic("object: a raw value is not JSON: " + json.SyntaxError(s.Text).Error())
	}
	return v
}

// MarshalJSON returns the text for encoding/json, which takes the spaces out and escapes HTML characters.
func (r Raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// Compact returns a JSON text without spaces and with HTML characters escaped, as encoding/json prints the result of a
// json.Marshaler.
func Compact(text []byte) []byte { return appendCompact(nil, string(text)) }

func appendCompact(b []byte, text string) []byte {
	start, quoted := 0, false // b has the text before start
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

// Places are the places in an object with values that ParseRaw reads as Raws. nil means none.
type Places struct {
	Raw    bool               // here
	Fields map[string]*Places // in the fields of an object
	Elem   *Places            // in each element of a list, or in each value of a map
}

// field returns the places in a field.
func (at *Places) field(name string) *Places {
	if at == nil {
		return nil
	}
	if next := at.Fields[name]; next != nil {
		return next
	}
	return at.Elem
}
