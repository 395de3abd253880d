package grpc

import "encoding/binary"

// Field is the number of a field.
type Field int

// The wire types of protobuf.
const (
	varint   = 0
	fixed64  = 1
	lengthed = 2 // bytes, strings and messages
	fixed32  = 5
)

// Message is a parsed message of protobuf. Only fields that are numbers of type varint, or bytes, are kept. The comments of the
// functions that parse and build messages list their fields.
type Message struct {
	numbers map[Field]uint64
	bytes   map[Field][][]byte
}

// Parse parses a message.
func Parse(data []byte) (Message, error) {
	m := Message{map[Field]uint64{}, map[Field][][]byte{}}
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 || tag>>3 == 0 || tag>>3 >= 1<<29 {
			return m, errMalformed
		}
		data = data[n:]
		field, size := Field(tag>>3), uint64(0)
		switch tag & 7 {
		case varint, lengthed:
			value, n := binary.Uvarint(data)
			if n <= 0 {
				return m, errMalformed
			}
			if data = data[n:]; tag&7 == varint {
				m.numbers[field] = value
			} else {
				size = value
			}
		case fixed64:
			size = 8
		case fixed32:
			size = 4
		default:
			return m, errMalformed
		}
		if size > uint64(len(data)) {
			return m, errMalformed
		}
		if tag&7 == lengthed {
			m.bytes[field] = append(m.bytes[field], data[:size])
		}
		data = data[size:]
	}
	return m, nil
}

var errMalformed = &Error{InvalidArgument, "malformed message"}

// Number returns the last value of a number, which is 0 if the field is missing.
func (m Message) Number(field Field) int64 { return int64(m.numbers[field]) }

// Is reports whether a boolean is true.
func (m Message) Is(field Field) bool { return m.numbers[field] != 0 }

// Has reports whether the message has a number.
func (m Message) Has(field Field) bool {
	_, ok := m.numbers[field]
	return ok
}

// All returns all values of a field of bytes.
func (m Message) All(field Field) [][]byte { return m.bytes[field] }

// Text returns the last value of a field, which is "" if the field is missing.
func (m Message) Text(field Field) string {
	if all := m.bytes[field]; len(all) > 0 {
		return string(all[len(all)-1])
	}
	return ""
}

// Messages parses all values of a field.
func (m Message) Messages(field Field) (all []Message, err error) {
	for _, data := range m.bytes[field] {
		inner, err := Parse(data)
		if err != nil {
			return nil, err
		}
		all = append(all, inner)
	}
	return all, nil
}

// Inner parses the first value of a field. It returns an empty message if the field is missing.
func (m Message) Inner(field Field) (Message, error) {
	all := m.bytes[field]
	if len(all) == 0 {
		return Message{}, nil
	}
	return Parse(all[0])
}

// Builder builds a message. Zero values are left out, as in proto3.
type Builder struct{ Bytes []byte }

// Number appends a number.
func (b *Builder) Number(field Field, value int64) *Builder {
	if value != 0 {
		b.Bytes = binary.AppendUvarint(binary.AppendUvarint(b.Bytes, uint64(field)<<3|varint), uint64(value))
	}
	return b
}

// Bool appends a boolean.
func (b *Builder) Bool(field Field, value bool) *Builder {
	if value {
		return b.Number(field, 1)
	}
	return b
}

// Text appends a string or bytes.
func (b *Builder) Text(field Field, value string) *Builder {
	if value != "" {
		b.append(field, value)
	}
	return b
}

// Message appends an inner message, even if it is empty.
func (b *Builder) Message(field Field, inner *Builder) *Builder {
	b.append(field, string(inner.Bytes))
	return b
}

func (b *Builder) append(field Field, value string) {
	b.Bytes = binary.AppendUvarint(binary.AppendUvarint(b.Bytes, uint64(field)<<3|lengthed), uint64(len(value)))
	b.Bytes = append(b.Bytes, value...)
}
