package openapi

import (
	"encoding/binary"
	"math"

	"github.com/kubesim/kubesim/sim/object"
)

// ProtoV2 encodes an OpenAPI 2.0 document as the protobuf message openapi.v2.Document of the gnostic project, which kubectl
// requests. Objects with free keys become lists of (name, value) messages, and values that the message has no field for (defaults,
// extensions) the text of a YAML document, for which JSON will do.
//
//	{"swagger":"2.0","paths":{"/api/": {…}}}     Document{1: "2.0", 8: Paths{2: Named{1: "/api/", 2: PathItem{…}}}}
func ProtoV2(doc map[string]any) []byte {
	var m message
	m.write("Document", doc)
	return m.b
}

// ProtoV3 encodes what V3 has written as the protobuf message openapi.v3.Document of the gnostic project: that of
// version 2 with other numbers, and with a message around everything that may be a reference.
//
//	{"openapi":"3.0.0","paths":{"/api/": {…}}}     Document{1: "3.0.0", 4: Paths{1: Named{1: "/api/", 2: PathItem{…}}}}
func ProtoV3(json []byte) []byte {
	doc, err := object.Parse(json)
	if err != nil {
		panic("openapi: " + err.Error()) // V3 wrote it
	}
	var m message
	m.write("Document3", map[string]any(doc))
	return m.b
}

// rule maps a member of an object to a field of a message.
type rule struct {
	number int
	member string // "" for the object as a whole
	as     form
	of     string // the message, in forms that have one
}

// form is the encoding of a field.
type form int

const (
	text       form = iota // a string, but for an empty one
	texts                  // each string of a list, but for empty ones
	flag                   // a bool that is true
	integer                // an int64, but for 0
	number                 // a double, but for 0
	given                  // a string, a bool or a double, whatever it is
	document               // the text of any value
	always                 // a message, even if there is nothing
	optional               // a message, if there is something
	each                   // a message for each value of a list
	named                  // a (name, message) for each member of an object, by name
	extensions             // as named, for the members whose names begin with x-
)

// run returns rules for members that become fields of numbers in sequence.
func run(from int, as form, of string, members ...string) []rule {
	rules := make([]rule, len(members))
	for i, member := range members {
		rules[i] = rule{from + i, member, as, of}
	}
	return rules
}

// message is a protobuf message being written. The fields are few and plain, so it does without a protobuf library.
type message struct{ b []byte }

// write writes a value as the fields of a kind of message.
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

// field writes a value according to a rule.
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

// message writes a field that is a message.
func (m *message) message(number int, of string, v any) {
	var inner message
	inner.write(of, v)
	bytes(m, number, inner.b)
}

// members writes members of an object as (name, value) messages, sorted by name.
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

// scalar writes a text, a bool or a double.
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

// bytes writes a field of bytes with their length in front.
func bytes[T string | []byte](m *message, number int, data T) {
	m.tag(number, delimited)
	m.b = append(binary.AppendUvarint(m.b, uint64(len(data))), data...)
}

// The wire types of protobuf that are needed here.
const (
	varint    = 0
	fixed64   = 1
	delimited = 2
)

// tag begins a field.
func (m *message) tag(number, wireType int) {
	m.b = binary.AppendUvarint(m.b, uint64(number<<3|wireType))
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}
