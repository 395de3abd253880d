package codec

import (
	"errors"
	"io"
	"sort"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubesim/kubesim/sim/schema"
)

// protoMessage describes the protobuf message of a struct type: its fields by number, with inlined Go structs as nested messages.
//
//	Volume ─┬─ 1 name ──────────▶ string
//	        └─ 2 (volumeSource) ─▶ protoMessage ─┬─ 1 hostPath ─▶ v1.HostPathVolumeSource
//	                                             └─ 2 emptyDir …
type protoMessage struct {
	name    string // name of the Go type, for error messages
	fields  []protoField
	members []schema.Field // fields of the JSON object
}

// protoField is one field of a message: a field of the JSON object, or the message of an inlined struct.
type protoField struct {
	number protowire.Number
	field  *schema.Field // nil for an inlined struct
	at     int           // index in members
	inner  *protoMessage // message of an inlined struct; otherwise nil
	wire   protowire.Type
	list   bool   // repeated: numbers may be packed
	absent []byte // encoded form for an object that does not have the field
}

func messageOf(t *schema.Type) *protoMessage { return schema.Derived(t, newMessage) }

func newMessage(t *schema.Type) *protoMessage {
	m := &protoMessage{name: t.GoType[strings.LastIndexByte(t.GoType, '.')+1:], members: t.Fields}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Proto == 0 {
			continue
		}
		at := m
		for _, number := range f.Inline {
			at = at.inline(protowire.Number(number))
		}
		at.fields = append(at.fields, newField(f, i))
	}
	m.sort()
	return m
}

// newField returns the message field for the i-th member of an object.
func newField(f *schema.Field, i int) protoField {
	t := f.Type
	list := t.Kind == schema.List && !t.Message
	if list {
		t = t.Elem
	}
	return protoField{number: protowire.Number(f.Proto), field: f, at: i, wire: wireType(t), list: list, absent: appendAbsent(nil, f)}
}

// wireType returns the wire type of values of the type.
func wireType(t *schema.Type) protowire.Type {
	switch t.Kind {
	case schema.Bool, schema.Int:
		return protowire.VarintType
	case schema.Float:
		return protowire.Fixed64Type
	}
	return protowire.BytesType
}

// takes reports whether the field accepts a wire type.
func (f *protoField) takes(wire protowire.Type) bool {
	return wire == f.wire || f.list && wire == protowire.BytesType
}

// inline returns the message of the inlined struct with the number. It creates the message if it does not exist.
func (m *protoMessage) inline(number protowire.Number) *protoMessage {
	for i := range m.fields {
		if m.fields[i].number == number && m.fields[i].inner != nil {
			return m.fields[i].inner
		}
	}
	inner := &protoMessage{name: m.name}
	m.fields = append(m.fields, protoField{number: number, inner: inner, wire: protowire.BytesType})
	return inner
}

// sort sorts the fields of the message and of inlined structs by number, which is the order in which they are written.
func (m *protoMessage) sort() {
	sort.Slice(m.fields, func(i, j int) bool { return m.fields[i].number < m.fields[j].number })
	for i := range m.fields {
		if inner := m.fields[i].inner; inner != nil {
			inner.sort()
		}
	}
}

// find returns the field with the number, or nil.
func (m *protoMessage) find(number protowire.Number) *protoField {
	i := int(number) - 1 // field numbers are mostly consecutive
	if i < len(m.fields) && m.fields[i].number == number {
		return &m.fields[i]
	}
	i = sort.Search(len(m.fields), func(i int) bool { return m.fields[i].number >= number })
	if i < len(m.fields) && m.fields[i].number == number {
		return &m.fields[i]
	}
	return nil
}

// entry adds an entry to a map. old is the existing map, or nil. b begins with the length of the entry and extends to the end of
// the enclosing message. Kubernetes' generated code is less strict with entries than with other messages: it ignores the wire types
// of key and value, and both may extend beyond the entry. A missing value is the empty value, also for bytes.
func (r *protoReader) entry(f *protoField, b []byte, old any, obj map[string]any, depth int) error {
	length, n := protowire.ConsumeVarint(b) // cannot fail: the length was validated before
	b = b[n:]
	elem := f.field.Type.Elem
	key, value := "", emptyValue(elem)
	for at := 0; at < int(length); {
		tag, n, err := looseVarint(b[at:])
		if err != nil {
			return err
		}
		at += n
		number := int32(tag >> 3)
		if number == 1 || number == 2 {
			n, err = delimited(b[at:])
		} else if n, err = wireSize(b[at:], protowire.Type(tag&7)); err == nil && at+n > int(length) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		switch content, _ := protowire.ConsumeBytes(b[at : at+n]); number {
		case 1:
			key = r.string(content)
		case 2: // no map of the API has numbers as keys or values
			if value, err = r.value(elem, protoValue{content: content}, nil, depth); err != nil {
				return err
			}
		}
		at += n
	}
	m, _ := old.(map[string]any)
	if m == nil {
		m = map[string]any{}
		obj[f.field.Name] = m
	}
	m[key] = value
	return nil
}

// emptyValue returns the value of an entry that has none. Unlike Zero, it never returns nil for bytes and lists.
func emptyValue(t *schema.Type) any {
	switch t.Kind {
	case schema.Bytes:
		return ""
	case schema.List:
		return []any{}
	}
	return Zero(t)
}

// delimited returns the size of the length-delimited value at the beginning of b, including the length.
func delimited(b []byte) (int, error) {
	length, n, err := looseVarint(b)
	switch {
	case err != nil:
		return 0, err
	case int(length) < 0 || n+int(length) < 0:
		return 0, errors.New("proto: negative length found during unmarshaling")
	case n+int(length) > len(b):
		return 0, io.ErrUnexpectedEOF
	}
	return n + int(length), nil
}

// looseVarint decodes a varint of at most ten bytes. It ignores bits beyond 64.
func looseVarint(b []byte) (v uint64, size int, err error) {
	for shift := 0; shift < 64; shift += 7 {
		if size >= len(b) {
			return 0, 0, io.ErrUnexpectedEOF
		}
		v |= uint64(b[size]&0x7f) << shift
		if size++; b[size-1] < 0x80 {
			return v, size, nil
		}
	}
	return 0, 0, errors.New("proto: integer overflow")
}
