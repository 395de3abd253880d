package codec

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// protoDepthMax limits the nesting of messages. It is the same as the limit for JSON.
const protoDepthMax = 10000

var errProtoDepth = errors.New("proto: exceeded max depth")

// protoReader decodes messages into JSON objects. Its zero value is ready to use.
type protoReader struct {
	share bool // strings are substrings of the message

	before *resource.Parsed // the previous state, whose values need not be decoded again, or nil
	sent   []byte           // the message of before
}

// object decodes a message as an object of kind gvk and type t.
func (r *protoReader) object(raw []byte, gvk schema.GVK, t *schema.Type) (object.Object, error) {
	r.share = len(raw) <= shareLimit
	obj := object.Object{}
	if err := r.message(messageOf(t), raw, obj, 0); err != nil {
		return nil, err
	}
	obj["kind"], obj["apiVersion"] = gvk.Kind, gvk.GV()
	return obj, nil
}

// message decodes the fields of a message into obj. Like the generated code of Kubernetes, it merges into existing values: it
// appends the elements of a repeated field, merges messages, and uses the last value of a scalar. It skips unknown fields.
func (r *protoReader) message(m *protoMessage, b []byte, obj map[string]any, depth int) error {
	if depth > protoDepthMax {
		return errProtoDepth
	}
	there := fieldsOf(obj)
	for len(b) > 0 {
		number, wire, value, err := nextField(b, m.name)
		if err != nil {
			return err
		}
		f := m.find(number)
		if f != nil && !f.takes(wire) {
			return fmt.Errorf("proto: wrong wireType = %d for field %s", wire, f.goName())
		}
		v, n, err := readValue(value, wire)
		if err != nil {
			return err
		}
		switch {
		case f == nil:
		case f.inner != nil:
			err = r.message(f.inner, v.content, obj, depth+1)
			there = fieldsOf(obj)
		case f.list:
			err = r.element(f, wire, v, there.take(f, obj), obj, depth)
		case f.field.Type.Kind == schema.Map:
			err = r.entry(f, value, there.take(f, obj), obj, depth)
		default:
			err = r.field(f, v, there.take(f, obj), obj, depth)
		}
		if err != nil {
			return err
		}
		b = value[n:]
	}
	return nil
}

// fields is a bit set of the fields that an object may already have; fields with the same index modulo 64 share a bit. Most fields
// occur once, so the object usually need not be searched for them.
type fields uint64

// fieldsOf returns the empty set for an empty object, and the set of all fields for any other object.
func fieldsOf(obj map[string]any) fields {
	if len(obj) == 0 {
		return 0
	}
	return ^fields(0)
}

// take returns the current value of a field, or nil if this is the field's first occurrence.
func (there *fields) take(f *protoField, obj map[string]any) any {
	bit := fields(1) << (f.at & 63)
	if *there&bit != 0 {
		return obj[f.field.Name]
	}
	*there |= bit
	return nil
}

// protoValue is a decoded value: a number, or bytes preceded by their length.
type protoValue struct {
	number  uint64
	content []byte
}

// readValue decodes the value at the beginning of b and returns it and its size in bytes.
func readValue(b []byte, wire protowire.Type) (v protoValue, n int, err error) {
	switch wire {
	case protowire.VarintType:
		v.number, n = protowire.ConsumeVarint(b)
	case protowire.BytesType:
		v.content, n = protowire.ConsumeBytes(b)
	case protowire.Fixed64Type:
		v.number, n = protowire.ConsumeFixed64(b)
	default:
		n, err = wireSize(b, wire)
		return v, n, err
	}
	if n < 0 {
		err = wireError(n)
	}
	return v, n, err
}

// nextField decodes the number and the wire type of the next field in b. It also returns the rest of b, which begins with the
// field's value. name is the name of the message.
func nextField(b []byte, name string) (protowire.Number, protowire.Type, []byte, error) {
	tag, n := protowire.ConsumeVarint(b)
	if n < 0 {
		return 0, 0, nil, wireError(n)
	}
	number, wire := int32(tag>>3), protowire.Type(tag&7)
	switch {
	case wire == protowire.EndGroupType:
		return 0, 0, nil, fmt.Errorf("proto: %s: wiretype end group for non-group", name)
	case number <= 0:
		return 0, 0, nil, fmt.Errorf("proto: %s: illegal tag %d (wire type %d)", name, number, tag)
	}
	return protowire.Number(number), wire, b[n:], nil
}

// wireSize returns the size in bytes of the value at the beginning of b. As in the generated code, a group ends with any end-group
// tag, whatever its number.
func wireSize(b []byte, wire protowire.Type) (int, error) {
	size := 0
	for depth := 0; ; {
		switch wire {
		case protowire.StartGroupType:
			depth++
		case protowire.EndGroupType:
			if depth--; depth < 0 {
				return 0, errors.New("proto: unexpected end of group")
			}
		case protowire.VarintType, protowire.Fixed32Type, protowire.Fixed64Type, protowire.BytesType:
			n := protowire.ConsumeFieldValue(1, wire, b[size:])
			if n < 0 {
				return 0, wireError(n)
			}
			size += n
		default:
			return 0, fmt.Errorf("proto: illegal wireType %d", wire)
		}
		if depth == 0 {
			return size, nil
		}
		tag, n := protowire.ConsumeVarint(b[size:])
		if n < 0 {
			return 0, wireError(n)
		}
		size += n
		wire = protowire.Type(tag & 7)
	}
}

// wireError returns the error of Kubernetes' decoder for an error of protowire: truncated input or, for all other errors, an
// overflow.
func wireError(n int) error {
	if err := protowire.ParseError(n); !errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("proto: integer overflow")
	}
	return io.ErrUnexpectedEOF
}

// goName returns the Go name of the field, derived from its JSON name.
func (f *protoField) goName() string {
	switch {
	case f.inner != nil:
		return f.inner.name
	case f.field.Name == "metadata": // an embedded struct
		return messageOf(f.field.Type).name
	}
	return strings.ToUpper(f.field.Name[:1]) + f.field.Name[1:]
}

// field decodes one occurrence of a field that is neither a list nor a map, and sets it in obj. old is the field's current value,
// or nil.
func (r *protoReader) field(f *protoField, in protoValue, old any, obj map[string]any, depth int) error {
	name, t := f.field.Name, f.field.Type
	var v any
	var err error
	if known := r.reuse(f, in.content, depth); known != nil && old == nil {
		v = object.Copy(known) // the caller may change the value
	} else if v, err = r.value(t, in, old, depth); err != nil {
		return err
	}
	switch {
	case v != nil && (f.field.Pointer || t.Message || !needless(f.field, v)):
		obj[name] = v
	case old != nil:
		delete(obj, name)
	}
	return nil
}

// element appends an element, or several packed numbers, to a list. old is the list so far.
func (r *protoReader) element(f *protoField, wire protowire.Type, in protoValue, old any, obj map[string]any, depth int) error {
	list, _ := old.([]any)
	add := func(in protoValue) error {
		v, err := r.value(f.field.Type.Elem, in, nil, depth)
		if list == nil {
			list = make([]any, 0, 4)
		}
		list = append(list, v)
		return err
	}
	if wire == f.wire {
		if err := add(in); err != nil {
			return err
		}
		obj[f.field.Name] = list
		return nil
	}
	for b := in.content; len(b) > 0; {
		one, n, err := readValue(b, f.wire)
		if err == nil {
			err = add(one)
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	if list != nil {
		obj[f.field.Name] = list
	}
	return nil
}

// value decodes one value of type t. old is the field's current value, into which messages are merged, or nil.
func (r *protoReader) value(t *schema.Type, in protoValue, old any, depth int) (any, error) {
	switch t.Kind {
	case schema.Bool:
		return in.number != 0, nil
	case schema.Int:
		if t.Bits == 32 {
			return int64(int32(in.number)), nil
		}
		return int64(in.number), nil
	case schema.Float:
		return finite(math.Float64frombits(in.number)), nil
	case schema.String:
		return r.string(in.content), nil
	case schema.Bytes:
		return base64.StdEncoding.EncodeToString(in.content), nil
	case schema.Struct:
		m, _ := old.(map[string]any)
		if m == nil {
			m = map[string]any{}
		}
		return m, r.message(messageOf(t), in.content, m, depth+1)
	}
	return r.special(t, in.content, old, depth)
}

// string returns b as a string, which may share its memory.
func (r *protoReader) string(b []byte) string {
	if r.share {
		return object.Text(b)
	}
	return string(b)
}

// finite replaces numbers that JSON cannot represent with 0.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// plain is a message of a few fields that is decoded without a type. It holds each field's encoded value by number; a missing field
// is nil.
type plain [5][]byte

// readPlain decodes a message whose fields 1, 2, … have the given wire types. The last of repeated fields wins.
func readPlain(b []byte, name string, wires ...protowire.Type) (p plain, err error) {
	for len(b) > 0 {
		number, wire, value, err := nextField(b, name)
		if err != nil {
			return p, err
		}
		known := int(number) <= len(wires)
		if known && wire != wires[number-1] {
			return p, fmt.Errorf("proto: wrong wireType = %d for field %d of %s", wire, number, name)
		}
		n, err := wireSize(value, wire)
		if err != nil {
			return p, err
		}
		if known {
			p[number] = value[:n]
		}
		b = value[n:]
	}
	return p, nil
}

func (p *plain) int(number int) int64 {
	if p[number] == nil {
		return 0
	}
	n, _ := protowire.ConsumeVarint(p[number]) // already validated by readPlain
	return int64(n)
}

func (p *plain) text(number int) []byte {
	if p[number] == nil {
		return nil
	}
	b, _ := protowire.ConsumeBytes(p[number])
	return b
}
