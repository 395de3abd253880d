package openapi

import (
	"encoding/binary"
	"math"

	"github.com/kubesim/kubesim/sim/object"
)

// ProtoV2 encodes an OpenAPI 2.0 document as the protobuf message openapi.v2.Document of the gnostic project, which kubectl
// requests. Objects with arbitrary keys become lists of (name, value) messages. Values without a field in the message (defaults,
// extensions) become YAML text, for which JSON is valid.
//
//	{"swagger":"2.0","paths":{"/api/": {…}}}     Document{1: "2.0", 8: Paths{2: Named{1: "/api/", 2: PathItem{…}}}}
func ProtoV2(doc map[string]any) []byte {
	var m message
	m.write("Document", doc)
	return m.b
}

// ProtoV3 encodes a document written by V3 as the protobuf message openapi.v3.Document of the gnostic project. Unlike version 2, it
// wraps every value that may be a reference in a message, and its field numbers differ.
//
//	{"openapi":"3.0.0","paths":{"/api/": {…}}}     Document{1: "3.0.0", 4: Paths{1: Named{1: "/api/", 2: PathItem{…}}}}
func ProtoV3(json []byte) []byte {
	doc, err := object.Parse(json)
	if err != nil {
		panic("openapi: " + err.Error()) // V3 wrote valid JSON
	}
	var m message
	m.write("Document3", map[string]any(doc))
	return m.b
}

// rule maps a member of a JSON object to a field of a message.
type rule struct {
	number int
	member string // "" for the object as a whole
	as     form
	of     string // the message type, for forms that have one
}

// form is the encoding of a field.
type form int

const (
	text       form = iota // a string, omitted if empty
	texts                  // each string of a list, except empty ones
	flag                   // a bool, omitted if false
	integer                // an int64, omitted if 0
	number                 // a double, omitted if 0
	given                  // a string, bool or double, even if zero
	document               // any value as text
	always                 // a message, even if empty
	optional               // a message, omitted if empty
	each                   // a message for each value of a list
	named                  // a (name, message) pair for each member of an object, sorted by name
	extensions             // as named, but only for members whose names begin with x-
)

// run returns rules for the given members, with consecutive field numbers from the first argument on.
func run(from int, as form, of string, members ...string) []rule {
	rules := make([]rule, len(members))
	for i, member := range members {
		rules[i] = rule{from + i, member, as, of}
	}
	return rules
}

// message is a protobuf message under construction. It needs no protobuf library, because its fields are few and simple.
type message struct{ b []byte }

// write writes a value as the fields of a message. The first argument is the type of the message.
func (m *message) write(of string, v any) {
	rules := messages[of]
	if choose := unions[of]; choose != nil {
		rules = choose(v)
	}
	for _, r := range rules {
		x := v
		if r.member != "" {
			x = object.As(v)[r.member]
		}
		m.field(r, x)
	}
}

// field writes a value to the field that a rule describes. Most rules omit empty values.
func (m *message) field(r rule, v any) {
	switch r.as {
	case text:
		if s, _ := v.(string); s != "" {
			m.scalar(r.number, s)
		}
	case texts:
		for _, x := range asList(v) {
			m.field(rule{number: r.number, as: text}, x)
		}
	case flag:
		if v == true {
			m.scalar(r.number, v)
		}
	case integer:
		if n, _ := v.(int64); n != 0 {
			m.tag(r.number, varint)
			m.b = binary.AppendUvarint(m.b, uint64(n))
		}
	case number:
		switch v.(type) {
		case int64, float64:
			if !object.Blank(v) {
				m.scalar(r.number, v)
			}
		}
	case given:
		m.scalar(r.number, v)
	case document:
		m.scalar(r.number, string(object.JSON(v)))
	case always:
		m.message(r.number, r.of, v)
	case optional:
		if v != nil {
			m.message(r.number, r.of, v)
		}
	case each:
		for _, x := range asList(v) {
			m.message(r.number, r.of, x)
		}
	case named, extensions:
		m.members(r, object.As(v))
	}
}

// message writes a field that contains a message.
func (m *message) message(number int, of string, v any) {
	var inner message
	inner.write(of, v)
	bytes(m, number, inner.b)
}

// members writes the members of an object as (name, value) messages, sorted by name.
func (m *message) members(r rule, values object.Object) {
	for _, name := range object.SortedKeys(values) {
		if r.as == named || len(name) > 2 && name[:2] == "x-" {
			pair := message{}
			pair.field(rule{number: 1, as: text}, name)
			pair.message(2, r.of, values[name])
			bytes(m, r.number, pair.b)
		}
	}
}

// scalar writes a field that contains a string, bool or double.
func (m *message) scalar(number int, v any) {
	switch v := v.(type) {
	case string:
		bytes(m, number, v)
	case bool:
		m.tag(number, varint)
		m.b = append(m.b, 0)
		if v {
			m.b[len(m.b)-1] = 1
		}
	case int64:
		m.scalar(number, float64(v))
	case float64:
		m.tag(number, fixed64)
		m.b = binary.LittleEndian.AppendUint64(m.b, math.Float64bits(v))
	}
}

// bytes writes a length-delimited field.
func bytes[T string | []byte](m *message, number int, data T) {
	m.tag(number, delimited)
	m.b = append(binary.AppendUvarint(m.b, uint64(len(data))), data...)
}

// The protobuf wire types that are used here.
const (
	varint    = 0
	fixed64   = 1
	delimited = 2
)

// tag writes the tag of a field.
func (m *message) tag(number, wireType int) {
	m.b = binary.AppendUvarint(m.b, uint64(number<<3|wireType))
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}
