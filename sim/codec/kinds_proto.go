package codec

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// decodeProto reads a body that is protobuf, and finds its kind.
func (d *Decoder) decodeProto(b *body) (object.Object, error) {
	sent, raw, err := readEnvelope(b.data)
	if err != nil {
		return nil, err
	}
	kind := withDefaults(sent, b.want)
	if sent != (schema.GVK{}) { // a body without kind and apiVersion is not recognized if it cannot be read
		b.gvk = kind
	}
	t := d.known(kind, b.want)
	if t == nil {
		return nil, noKind(b.gvk)
	}
	var r protoReader
	if kind == b.want && b.before != nil {
		r.before, r.sent = b.before.Parsed(), b.before.Message()
	}
	obj, err := r.object(raw, kind, t)
	if err == nil {
		b.gvk = kind
	}
	return obj, err
}

// reuse returns the value of a field of the object itself, if the message that clients have got of the object before has the
// same content there; otherwise nil. It is decoder.reuse for protobuf.
func (r *protoReader) reuse(f *protoField, content []byte, depth int) map[string]any {
	if r.before == nil || depth > 0 {
		return nil
	}
	for _, part := range r.before.Fields {
		if part.Name == f.field.Name && bytes.Equal(content, fieldOf(r.sent, f.number)) {
			return part.Value
		}
	}
	return nil
}

// fieldOf returns the content of a field in a message of ours, nil if it has none.
func fieldOf(message []byte, number protowire.Number) []byte {
	for len(message) > 0 {
		n, wire, tag := protowire.ConsumeTag(message)
		v, size, _ := readValue(message[tag:], wire)
		if n == number {
			return v.content
		}
		message = message[tag+size:]
	}
	return nil
}

// fieldSet reads a value of type FieldsV1. It may return one from the previous object, because these values are immutable.
func (r *protoReader) fieldSet(text string) (any, error) {
	if r.before != nil {
		for _, part := range r.before.Sets {
			if part.Text == text {
				return part.Value, nil
			}
		}
	}
	d := newDecoder(text, nil)
	v := d.fieldSet()
	if d.End(); d.Bad {
		return object.ParseValue([]byte(text))
	}
	return v, nil
}
