package openapi

import (
	"encoding/binary"
	"math"

	"github.com/kubesim/kubesim/sim/object"
)

// ProtoV2 encodes an OpenAPI 2.0 document as the protobuf message openapi.v2.Document of the gnostic project, which is
// what kubectl asks for. Objects with free keys become lists of (name, value) messages, and values that the message
// has no field for (defaults, extensions) the text of a YAML document, for which JSON will do.
//
//	{"swagger":"2.0","paths":{"/api/": {…}}}     Document{1: "2.0", 8: Paths{2: Named{1: "/api/", 2: PathItem{…}}}}
func ProtoV2(doc map[string]any) []byte {
	var m message
	m.text(1, doc["swagger"])
	m.message(2, doc["info"], func(m *message, v any) {
		m.text(1, object.As(v)["title"])
		m.text(2, object.As(v)["version"])
	})
	m.message(8, doc["paths"], named(2, (*message).pathItem))
	m.message(9, doc["definitions"], named(1, (*message).schema))
	m.message(10, doc["parameters"], named(1, (*message).parameter))
	m.each(12, doc["security"], named(1, func(m *message, v any) { m.texts(1, v) }))
	m.message(13, doc["securityDefinitions"], named(1, (*message).securityDefinition))
	return m.b
}

// message is a protobuf message being written. The fields are few and plain, so it does without a protobuf library.
type message struct{ b []byte }

// The wire types of protobuf that are needed here.
const (
	varint  = 0
	fixed64 = 1
	bytes   = 2
)

// tag begins a field.
func (m *message) tag(field, wireType int) {
	m.b = binary.AppendUvarint(m.b, uint64(field<<3|wireType))
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

// text writes a string field; anything but a string, and the empty one, is left out.
func (m *message) text(field int, v any) {
	if s, _ := v.(string); s != "" {
		m.tag(field, bytes)
		m.bytes(s)
	}
}

// bytes writes the length of a text and the text.
func (m *message) bytes(s string) {
	m.b = append(binary.AppendUvarint(m.b, uint64(len(s))), s...)
}

// texts writes a repeated string field.
func (m *message) texts(field int, v any) {
	for _, s := range asList(v) {
		m.text(field, s)
	}
}

// flag writes a true bool field.
func (m *message) flag(field int, v any) {
	if v == true {
		m.choice(field, true)
	}
}

// choice writes a bool field, false as well: which field there is counts.
func (m *message) choice(field int, v bool) {
	m.tag(field, varint)
	if v {
		m.b = append(m.b, 1)
	} else {
		m.b = append(m.b, 0)
	}
}

// integer writes an int64 field.
func (m *message) integer(field int, v any) {
	if n, _ := v.(int64); n != 0 {
		m.tag(field, varint)
		m.b = binary.AppendUvarint(m.b, uint64(n))
	}
}

// number writes a double field.
func (m *message) number(field int, v any) {
	f, _ := v.(float64)
	if n, ok := v.(int64); ok {
		f = float64(n)
	}
	if f != 0 {
		m.double(field, f)
	}
}

// double writes a double field, zero as well.
func (m *message) double(field int, f float64) {
	m.tag(field, fixed64)
	m.b = binary.LittleEndian.AppendUint64(m.b, math.Float64bits(f))
}

// A writeFunc writes a value of the document as the fields of a message.
type writeFunc func(m *message, v any)

// message writes a field that is a message, even when it is empty.
func (m *message) message(field int, v any, write writeFunc) {
	var inner message
	write(&inner, v)
	m.tag(field, bytes)
	m.b = append(binary.AppendUvarint(m.b, uint64(len(inner.b))), inner.b...)
}

// optional writes a field that is a message, if there is a value.
func (m *message) optional(field int, v any, write writeFunc) {
	if v != nil {
		m.message(field, v, write)
	}
}

// each writes a repeated field of messages.
func (m *message) each(field int, v any, write writeFunc) {
	for _, x := range asList(v) {
		m.message(field, x, write)
	}
}

// wrapped writes a message with one field, which is another message.
func wrapped(field int, write writeFunc) writeFunc {
	return func(m *message, v any) { m.message(field, v, write) }
}

// named writes an object as repeated (name, value) messages, sorted by name.
func named(field int, write writeFunc) writeFunc {
	return func(m *message, v any) {
		values := object.As(v)
		for _, name := range object.SortedKeys(values) {
			m.message(field, values[name], func(m *message, v any) {
				m.text(1, name)
				m.message(2, v, write)
			})
		}
	}
}

// additional writes what additionalProperties is: a schema or a bool.
func additional(schema writeFunc) writeFunc {
	return func(m *message, v any) {
		if allowed, ok := v.(bool); ok {
			m.choice(2, allowed)
			return
		}
		m.message(1, v, schema)
	}
}

// methods are those of a path item, in the order of their fields.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch"}

// value writes an Any.
func (m *message) value(v any) {
	m.text(2, string(object.JSON(v)))
}

// extensions writes the members of an object whose names begin with x-.
func (m *message) extensions(field int, of object.Object) {
	found := map[string]any{}
	for _, name := range object.SortedKeys(of) {
		if len(name) > 2 && name[:2] == "x-" {
			found[name] = of[name]
		}
	}
	named(field, (*message).value)(m, found)
}
