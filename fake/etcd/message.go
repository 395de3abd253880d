package etcd

import "encoding/binary"

// fieldNumber is the number of a field.
type fieldNumber int

// The wire types of protobuf.
const (
	varint   = 0
	fixed64  = 1
	lengthed = 2 // bytes, strings and messages
	fixed32  = 5
)

// message is a parsed message of protobuf: the fields of api/v3/etcdserverpb and mvccpb that have one of two forms, numbers and bytes.
// The comments of the methods that parse and build messages list their fields.
type message struct {
	numbers map[fieldNumber]uint64
	bytes   map[fieldNumber][][]byte
}

// parse parses a message.
func parse(data []byte) (message, error) {
	m := message{map[fieldNumber]uint64{}, map[fieldNumber][][]byte{}}
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 || tag>>3 == 0 || tag>>3 >= 1<<29 {
			return m, errMalformed
		}
		data = data[n:]
		field, size := fieldNumber(tag>>3), uint64(0)
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

var errMalformed = &Error{invalidArgument, "malformed message"}

func (m message) number(field fieldNumber) int64 { return int64(m.numbers[field]) }
func (m message) is(field fieldNumber) bool      { return m.numbers[field] != 0 }

// text returns the last value of a field, which is "" if the field is missing.
func (m message) text(field fieldNumber) string {
	if all := m.bytes[field]; len(all) > 0 {
		return string(all[len(all)-1])
	}
	return ""
}

// messages parses all values of a field.
func (m message) messages(field fieldNumber) (all []message, err error) {
	for _, data := range m.bytes[field] {
		inner, err := parse(data)
		if err != nil {
			return nil, err
		}
		all = append(all, inner)
	}
	return all, nil
}

// inner parses the first value of a field. It returns an empty message if the field is missing.
func (m message) inner(field fieldNumber) (message, error) {
	all := m.bytes[field]
	if len(all) == 0 {
		return message{}, nil
	}
	return parse(all[0])
}

// builder builds a message. Zero values are left out, as in proto3.
type builder struct{ bytes []byte }

func (b *builder) number(field fieldNumber, value int64) *builder {
	if value != 0 {
		b.bytes = binary.AppendUvarint(binary.AppendUvarint(b.bytes, uint64(field)<<3|varint), uint64(value))
	}
	return b
}

func (b *builder) bool(field fieldNumber, value bool) *builder {
	if value {
		return b.number(field, 1)
	}
	return b
}

func (b *builder) text(field fieldNumber, value string) *builder {
	if value != "" {
		b.append(field, value)
	}
	return b
}

// message appends an inner message, even if it is empty.
func (b *builder) message(field fieldNumber, inner *builder) *builder {
	b.append(field, string(inner.bytes))
	return b
}

func (b *builder) append(field fieldNumber, value string) {
	b.bytes = binary.AppendUvarint(binary.AppendUvarint(b.bytes, uint64(field)<<3|lengthed), uint64(len(value)))
	b.bytes = append(b.bytes, value...)
}
