package codec

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// protoPrefix is the prefix of every protobuf body (API concepts, "Kubernetes Protobuf encoding").
//
//	6b 38 73 00 │ Unknown { typeMeta = 1 { apiVersion = 1, kind = 2 }, raw = 2, contentEncoding = 3, contentType = 4 }
var protoPrefix = []byte("k8s\x00")

// ErrNoKind is the error of DecodeProto for a body of an unknown kind.
var ErrNoKind = errors.New("codec: unknown kind")

// AppendEnvelope appends raw, a message of the kind, in the envelope of the API (protoPrefix).
func AppendEnvelope(dst []byte, gvk schema.GVK, raw []byte) []byte {
	return append(append(openEnvelope(dst, gvk, len(raw)), raw...), envelopeEnd...)
}

// Envelope is like AppendEnvelope, for a message that consists of several pieces. It returns a new Text.
func Envelope(gvk schema.GVK, raw Text) Text {
	return slices.Concat(TextOf(openEnvelope(nil, gvk, raw.Len())), raw, TextOf(envelopeEnd))
}

// openEnvelope appends the part of the envelope before a message of n bytes.
func openEnvelope(dst []byte, gvk schema.GVK, n int) []byte {
	dst = append(dst, protoPrefix...)
	dst, at := openMessage(dst, 1)
	dst = appendProtoString(dst, 1, gvk.GV())
	dst = closeMessage(appendProtoString(dst, 2, gvk.Kind), at)
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	return protowire.AppendVarint(dst, uint64(n))
}

// envelopeEnd is the part of the envelope after the message: contentEncoding and contentType, which are empty.
var envelopeEnd = appendProtoString(appendProtoString(nil, 3, ""), 4, "")

// ProtoList encodes a list as a message without an envelope. The items are messages without envelopes, too.
//
//	PodList { metadata = 1 { selfLink = 1, resourceVersion = 2, continue = 3, remainingItemCount = 4, shardInfo = 5 { selector = 1 } }, items = 2 … }
func ProtoList(meta ListMeta, items iter.Seq[[]byte]) Text {
	dst, at := openMessage(nil, 1)
	dst = appendProtoString(dst, 1, "")
	dst = appendProtoString(dst, 2, meta.ResourceVersion)
	dst = appendProtoString(dst, 3, meta.Continue)
	if meta.Remaining != nil {
		dst = protowire.AppendTag(dst, 4, protowire.VarintType)
		dst = protowire.AppendVarint(dst, uint64(*meta.Remaining))
	}
	if meta.Shards != "" {
		var info int
		dst, info = openMessage(dst, 5)
		dst = closeMessage(appendProtoString(dst, 1, meta.Shards), info)
	}
	c := composer{own: closeMessage(dst, at)}
	for item := range items {
		c.own = protowire.AppendTag(c.own, 2, protowire.BytesType)
		c.own = protowire.AppendVarint(c.own, uint64(len(item)))
		c.add(PieceOf(item))
	}
	return c.end()
}

// DecodeProto decodes an object in an envelope. It calls kinds for the type of the kind that the client sent, which may lack the
// name or the version. If kinds returns nil, the error is ErrNoKind. The object has the kind and the apiVersion of the envelope.
// DecodeProto returns the kind in the envelope even if there is an error. Error messages are those of the real server.
func DecodeProto(body []byte, kinds func(schema.GVK) *schema.Type) (object.Object, schema.GVK, error) {
	gvk, raw, err := readEnvelope(body)
	if err != nil {
		return nil, gvk, err
	}
	t := kinds(gvk)
	if t == nil {
		return nil, gvk, ErrNoKind
	}
	obj, err := new(protoReader).object(raw, gvk, t)
	return obj, gvk, err
}

// readEnvelope returns the message in an envelope and its kind.
func readEnvelope(body []byte) (gvk schema.GVK, raw []byte, err error) {
	switch {
	case len(body) == 0:
		return gvk, nil, errors.New("empty data")
	case !bytes.HasPrefix(body, protoPrefix):
		return gvk, nil, fmt.Errorf("provided data does not appear to be a protobuf message, expected prefix %v", protoPrefix)
	case len(body) == len(protoPrefix):
		return gvk, nil, errors.New("empty body")
	}
	const text = protowire.BytesType
	unknown, err := readPlain(body[len(protoPrefix):], "Unknown", text, text, text, text)
	if err != nil {
		return gvk, nil, err
	}
	typeMeta, err := readPlain(unknown.text(1), "TypeMeta", text, text)
	if err != nil {
		return gvk, nil, err
	}
	return schema.ParseGVK(string(typeMeta.text(1)), string(typeMeta.text(2))), unknown.text(2), nil
}

// decodeProto decodes a protobuf body and sets its kind.
func (d *Decoder) decodeProto(b *body) (object.Object, error) {
	sent, raw, err := readEnvelope(b.data)
	if err != nil {
		return nil, err
	}
	kind := withDefaults(sent, b.want)
	if sent != (schema.GVK{}) { // a body without kind and apiVersion is unrecognized if it cannot be decoded
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

// reuse returns the value of a top-level field from the previous state of the object if the message of that state has the same
// content for the field, and nil otherwise. It corresponds to decoder.reuse.
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

// fieldOf returns the content of the field with the number in a message that this package encoded, or nil if the message does not
// have the field.
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

// fieldSet decodes a value of type FieldsV1. It may return a value of the previous state, because these values are immutable.
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
