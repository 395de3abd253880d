package codec

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"google.golang.org/protobuf/encoding/protowire"
)

// protoDepthMax bounds how deep messages may be nested, as the JSON decoder bounds objects.
const protoDepthMax = 10000

var errProtoDepth = errors.New("proto: exceeded max depth")

// protoReader reads messages into JSON objects. Its zero value is ready.
type protoReader struct {
	share bool // strings stay parts of the message

	before *resource.Parsed // what may be met again; nil: nothing
	sent   []byte           // the message of before, as clients have got it
}

// object reads the message of an object of a kind, of type t.
func (r *protoReader) object(raw []byte, gvk schema.GVK, t *schema.Type) (object.Object, error) {
	r.share = len(raw) <= shareLimit
	obj := object.Object{}
	if err := r.message(messageOf(t), raw, obj, 0); err != nil {
		return nil, err
	}
	obj["kind"], obj["apiVersion"] = gvk.Kind, gvk.GV()
	return obj, nil
}

// message reads the fields of a message into a JSON object. As the generated code of Kubernetes does it goes on with
// what is there already: of a repeated field elements are added, a message is merged, of a scalar the last one counts.
// Unknown fields are skipped.
func (r *protoReader) message(m *protoMessage, b []byte, obj map[string]any, depth int) error {
	if depth > protoDepthMax {
		return errProtoDepth
	}
	for len(b) > 0 {
		number, wire, value, err := nextField(b, m.name)
		if err != nil {
			return err
		}
		f := m.find(number)
		if f != nil && !f.takes(wire) {
			return fmt.Errorf("proto: wrong wireType = %d for field %s", wire, f.goName())
		}
		n, err := wireSize(value, wire)
		if err != nil {
			return err
		}
		switch {
		case f == nil:
		case f.inner == nil && f.field.Type.Kind == schema.Map:
			err = r.entry(f, value, obj, depth)
		default:
			err = r.field(f, wire, value[:n], obj, depth)
		}
		if err != nil {
			return err
		}
		b = value[n:]
	}
	return nil
}

// nextField reads the number and the wire type of the field that the message b goes on with; what follows is its value
// and the rest. name is that of the message.
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

// wireSize returns how many bytes the value takes that b begins with. As in the generated code a group ends with any end
// of a group, whatever its number.
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

// wireError translates the one error of protowire that Kubernetes' decoder tells apart from a short message.
func wireError(n int) error {
	if err := protowire.ParseError(n); !errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("proto: integer overflow")
	}
	return io.ErrUnexpectedEOF
}

// wireType returns how a value of the type is written.
func wireType(t *schema.Type) protowire.Type {
	switch t.Kind {
	case schema.Bool, schema.Int:
		return protowire.VarintType
	case schema.Float:
		return protowire.Fixed64Type
	}
	return protowire.BytesType
}

// takes reports whether the field may come in a wire type; lists of numbers may come packed.
func (f *protoField) takes(wire protowire.Type) bool {
	if f.inner != nil {
		return wire == protowire.BytesType
	}
	t := f.field.Type
	if t.Kind == schema.List && !t.Message {
		return wire == wireType(t.Elem) || wire == protowire.BytesType
	}
	return wire == wireType(t)
}

// goName returns what the field is called in Go, as far as its JSON name tells.
func (f *protoField) goName() string {
	switch {
	case f.inner != nil:
		return f.inner.name
	case f.field.Name == "metadata": // an embedded struct
		return messageOf(f.field.Type).name
	}
	return strings.ToUpper(f.field.Name[:1]) + f.field.Name[1:]
}

// field reads one occurrence of a field from the value b, which is complete and of a type that it takes.
func (r *protoReader) field(f *protoField, wire protowire.Type, b []byte, obj map[string]any, depth int) error {
	if f.inner != nil {
		content, _ := protowire.ConsumeBytes(b)
		return r.message(f.inner, content, obj, depth+1)
	}
	name, t := f.field.Name, f.field.Type
	if t.Kind == schema.List && !t.Message {
		return r.element(f, wire, b, obj, depth)
	}
	var v any
	var err error
	old, had := obj[name]
	if known := r.known(f, b, depth); known != nil && !had {
		v = object.Copy(known) // whoever reads a body may change it
	} else if v, err = r.value(t, b, old, depth); err != nil {
		return err
	}
	switch {
	case v != nil && (f.field.Pointer || t.Message || !needless(f.field, v)):
		obj[name] = v
	case had:
		delete(obj, name)
	}
	return nil
}

// element adds an element to a list; numbers may come packed.
func (r *protoReader) element(f *protoField, wire protowire.Type, b []byte, obj map[string]any, depth int) error {
	elem := f.field.Type.Elem
	list, _ := obj[f.field.Name].([]any)
	want := wireType(elem)
	packed := wire != want
	if packed {
		b, _ = protowire.ConsumeBytes(b)
	}
	for len(b) > 0 {
		n := len(b)
		if packed {
			if n = protowire.ConsumeFieldValue(1, want, b); n < 0 {
				return wireError(n)
			}
		}
		v, err := r.value(elem, b[:n], nil, depth)
		if err != nil {
			return err
		}
		if list == nil {
			list = make([]any, 0, 4)
		}
		list = append(list, v)
		b = b[n:]
	}
	if list != nil {
		obj[f.field.Name] = list
	}
	return nil
}

// value reads one value; old is what the field holds already.
func (r *protoReader) value(t *schema.Type, b []byte, old any, depth int) (any, error) {
	switch t.Kind {
	case schema.Bool:
		n, _ := protowire.ConsumeVarint(b)
		return n != 0, nil
	case schema.Int:
		n, _ := protowire.ConsumeVarint(b)
		if t.Bits == 32 {
			return int64(int32(n)), nil
		}
		return int64(n), nil
	case schema.Float:
		n, _ := protowire.ConsumeFixed64(b)
		return finite(math.Float64frombits(n)), nil
	}
	b, _ = protowire.ConsumeBytes(b)
	switch t.Kind {
	case schema.String:
		return r.string(b), nil
	case schema.Bytes:
		return base64.StdEncoding.EncodeToString(b), nil
	case schema.Struct:
		m, _ := old.(map[string]any)
		if m == nil && t.Wide() && len(b) > 0 {
			m = make(map[string]any, 9) // see decoder.room
		} else if m == nil {
			m = map[string]any{}
		}
		return m, r.message(messageOf(t), b, m, depth+1)
	}
	return r.special(t, b, old, depth)
}

// string returns a string that is kept.
func (r *protoReader) string(b []byte) string {
	if r.share {
		return object.Text(b)
	}
	return string(b)
}

// finite replaces the numbers that JSON cannot say.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// plain is a message of a few fields, read without a type: the value of each by number, nil for one that is not there.
type plain [5][]byte

// readPlain reads a message whose fields 1, 2 … have the wire types; of a repeated one the last counts.
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
	n, _ := protowire.ConsumeVarint(p[number]) // it was read before
	return int64(n)
}

func (p *plain) text(number int) []byte {
	if p[number] == nil {
		return nil
	}
	b, _ := protowire.ConsumeBytes(p[number])
	return b
}
