package codec

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/schema"
)

// special decodes a value that is neither a scalar nor a message with its own fields.
func (r *protoReader) special(t *schema.Type, b []byte, old any, depth int) (any, error) {
	switch t.Kind {
	case schema.List:
		items := &schema.Field{Name: "items", Proto: 1, Type: &schema.Type{Kind: schema.List, Elem: t.Elem}}
		m := map[string]any{"items": old}
		err := r.message(&protoMessage{name: t.GoType, fields: []protoField{newField(items, 0)}}, b, m, depth+1)
		list, _ := m["items"].([]any)
		if list == nil {
			list = []any{}
		}
		return list, err
	case schema.Time, schema.MicroTime:
		return decodeTimestamp(t, b)
	case schema.Duration:
		p, err := readPlain(b, "Duration", protowire.VarintType)
		return time.Duration(p.int(1)).String(), err
	case schema.Quantity:
		return decodeQuantity(b, old)
	case schema.IntOrString:
		p, err := readPlain(b, "IntOrString", protowire.VarintType, protowire.VarintType, protowire.BytesType)
		if p.int(1) != 0 {
			return string(p.text(3)), err
		}
		return int64(int32(p.int(2))), err
	}
	if t.Kind == schema.Any && t.Elem != nil {
		return r.schemaUnion(t, b, depth)
	}
	p, err := readPlain(b, "RawExtension", protowire.BytesType)
	if raw := p.text(1); err == nil && len(raw) > 0 {
		return r.raw(t, raw)
	}
	return nil, err
}

// raw decodes JSON that a protobuf message contains, such as a RawExtension.
func (r *protoReader) raw(t *schema.Type, text []byte) (any, error) {
	if t.Kind == schema.FieldsV1 {
		return r.fieldSet(string(text))
	}
	v, err := object.ParseValue(text)
	if err != nil || t.Kind != schema.RawExtension {
		return v, err
	}
	return object.AsWritten(string(text), v), nil
}

// decodeQuantity decodes a quantity. It validates every occurrence of the string, and the last one wins.
func decodeQuantity(b []byte, old any) (any, error) {
	if old == nil {
		old = "0"
	}
	for len(b) > 0 {
		number, wire, value, err := nextField(b, "Quantity")
		if err != nil {
			return nil, err
		}
		if number == 1 && wire != protowire.BytesType {
			return nil, fmt.Errorf("proto: wrong wireType = %d for field String_", wire)
		}
		n, err := wireSize(value, wire)
		if err != nil {
			return nil, err
		}
		if number == 1 {
			text, _ := protowire.ConsumeBytes(value)
			if old, err = quantity.Canonical(string(text)); err != nil {
				return nil, err
			}
		}
		b = value[n:]
	}
	return old, nil
}

// decodeTimestamp decodes a time of type t. It returns nil for the zero time and for an empty message.
func decodeTimestamp(t *schema.Type, b []byte) (any, error) {
	if len(b) == 0 {
		return nil, nil
	}
	p, err := readPlain(b, "Timestamp", protowire.VarintType, protowire.VarintType)
	if err != nil {
		return nil, err
	}
	nanos, layout := int64(0), time.RFC3339
	if t.Kind == schema.MicroTime {
		nanos, layout = int64(int32(p.int(2))), microLayout
		nanos -= nanos % 1000
	}
	at := time.Unix(p.int(1), nanos).UTC()
	if at.Year() < 0 || at.Year() > 9999 { // RFC 3339 cannot represent it, so it could not be decoded again
		return nil, nil
	}
	if at.IsZero() {
		return nil, nil
	}
	return at.Format(layout), nil
}

// schemaUnion decodes the union types that protoPrinter.schemaUnion encodes.
func (r *protoReader) schemaUnion(t *schema.Type, b []byte, depth int) (any, error) {
	fields := []schema.Field{{Name: "schema", Proto: 1, Type: t.Elem, Pointer: true}, {Name: "list", Proto: 2}}
	switch t.GoType {
	case schemaOrBool:
		fields[0].Proto = 2
		fields[1] = schema.Field{Name: "allows", Proto: 1, Type: &schema.Type{Kind: schema.Bool}, Pointer: true}
	case schemaOrStrings:
		fields[1].Type = &schema.Type{Kind: schema.List, Elem: stringType}
	default:
		fields[1].Type = &schema.Type{Kind: schema.List, Elem: t.Elem}
	}
	m := map[string]any{}
	if err := r.message(newMessage(&schema.Type{GoType: t.GoType, Fields: fields}), b, m, depth+1); err != nil {
		return nil, err
	}
	switch {
	case t.GoType == schemaOrBool && m["schema"] == nil:
		return m["allows"] == true, nil
	case t.GoType != schemaOrBool && m["list"] != nil:
		return m["list"], nil
	case m["schema"] == nil:
		return nil, nil
	}
	return m["schema"], nil
}
