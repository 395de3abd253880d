package codec

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubesim/kubesim/sim/object"
)

// ListMeta is the metadata of a list, like metav1.ListMeta.
type ListMeta struct {
	ResourceVersion string
	Continue        string
	Remaining       *int64 // remainingItemCount; nil if unknown
	Shards          string // shardInfo.selector, only in lists of built-in kinds; "" if the list contains all shards
}

// List encodes a list of a built-in kind. The items are stored objects: canonical JSON that begins with kind and apiVersion, which
// List omits.
//
//	{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"123"},"items":[{"metadata":{…},…},…]}
func List(listKind, apiVersion string, meta ListMeta, items iter.Seq[Piece]) Text {
	c := composer{own: appendHead(nil, listKind, apiVersion)}
	c.own = meta.appendJSON(append(c.own, `,"metadata":`...))
	c.own = append(c.own, `,"items":[`...)
	for item := range items {
		if len(c.text) > 0 {
			c.own = append(c.own, ',')
		}
		c.own = append(c.own, '{')
		c.add(item.withoutTypeMeta())
	}
	c.own = append(c.own, ']', '}')
	return c.end()
}

// CustomList encodes a list of custom resources like an unstructured list: keys are sorted, items have kind and apiVersion, and
// metadata.continue is always present.
func CustomList(listKind, apiVersion string, meta ListMeta, items iter.Seq[Piece]) Text {
	c := composer{own: object.AppendString([]byte(`{"apiVersion":`), apiVersion)}
	c.own = append(c.own, `,"items":[`...)
	for item := range items {
		if len(c.text) > 0 {
			c.own = append(c.own, ',')
		}
		c.add(item)
	}
	c.own = object.AppendString(append(c.own, `],"kind":`...), listKind)
	c.own = object.AppendString(append(c.own, `,"metadata":{"continue":`...), meta.Continue)
	if meta.Remaining != nil {
		c.own = strconv.AppendInt(append(c.own, `,"remainingItemCount":`...), *meta.Remaining, 10)
	}
	c.own = object.AppendString(append(c.own, `,"resourceVersion":`...), meta.ResourceVersion)
	c.own = append(c.own, '}', '}')
	return c.end()
}

// appendHead appends the beginning of an object: an opening brace, kind and apiVersion.
func appendHead(dst []byte, kind, apiVersion string) []byte {
	dst = object.AppendString(append(dst, `{"kind":`...), kind)
	return object.AppendString(append(dst, `,"apiVersion":`...), apiVersion)
}

func (m ListMeta) appendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	start := len(dst)
	if m.ResourceVersion != "" {
		dst = object.AppendString(append(dst, `"resourceVersion":`...), m.ResourceVersion)
	}
	if m.Continue != "" {
		dst = object.AppendString(append(separate(dst, start), `"continue":`...), m.Continue)
	}
	if m.Remaining != nil {
		dst = strconv.AppendInt(append(separate(dst, start), `"remainingItemCount":`...), *m.Remaining, 10)
	}
	if m.Shards != "" {
		dst = append(object.AppendString(append(separate(dst, start), `"shardInfo":{"selector":`...), m.Shards), '}')
	}
	return append(dst, '}')
}

// separate appends a comma unless nothing was appended since start.
func separate(dst []byte, start int) []byte {
	if len(dst) > start {
		return append(dst, ',')
	}
	return dst
}

var (
	headKind    = []byte(`{"kind":"`)
	headVersion = []byte(`","apiVersion":"`)
)

// StripTypeMeta returns the JSON of an object without its opening brace, kind and apiVersion, to be appended to a "{". If it does
// not begin with kind and apiVersion, only the brace is removed. Kinds and versions contain no escapes.
func StripTypeMeta(obj []byte) []byte {
	if rest, ok := bytes.CutPrefix(obj, headKind); ok {
		if i := bytes.IndexByte(rest, '"'); i >= 0 {
			if rest, ok = bytes.CutPrefix(rest[i:], headVersion); ok {
				if i = bytes.IndexByte(rest, '"'); i >= 0 {
					return bytes.TrimPrefix(rest[i+1:], []byte{','})
				}
			}
		}
	}
	return bytes.TrimPrefix(obj, []byte{'{'})
}

// Frame encodes one watch event as JSON. obj is the encoded object.
//
//	{"type":"ADDED","object": │ {…} │ }⏎
func Frame(eventType string, obj Piece) Text {
	head := object.AppendString(append(make([]byte, 0, 40), `{"type":`...), eventType)
	return Text{PieceOf(append(head, `,"object":`...)), obj, PieceOf(frameEnd)}
}

var frameEnd = []byte("}\n")

// ProtoFrame encodes one watch event as protobuf; envelope is the result of Envelope for the object.
//
//	length (4 bytes, big-endian) │ WatchEvent { type = 1, object = 2 RawExtension { raw = 1: envelope } }
func ProtoFrame(eventType string, envelope Text) Text {
	n := envelope.Len()
	head := protowire.AppendTag(make([]byte, 4, 40), 1, protowire.BytesType)
	head = protowire.AppendString(head, eventType)
	head = protowire.AppendTag(head, 2, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(1+protowire.SizeBytes(n)))
	head = protowire.AppendTag(head, 1, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(n))
	binary.BigEndian.PutUint32(head, uint32(len(head)-4+n))
	return slices.Concat(TextOf(head), envelope)
}
