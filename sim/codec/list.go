package codec

import (
	"bytes"
	"encoding/binary"
	"iter"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubesim/kubesim/sim/object"
)

// ListMeta is the metadata of a list, as metav1.ListMeta.
type ListMeta struct {
	ResourceVersion string
	Continue        string
	Remaining       *int64 // remainingItemCount; nil is unknown
}

// List prints a list of a built-in kind. The items are stored objects: canonical JSON that begins with kind and
// apiVersion, which items of a list do not show.
//
//	{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"123"},"items":[{"metadata":{…},…},…]}
func List(listKind, apiVersion string, meta ListMeta, items iter.Seq[[]byte]) Text {
	c := composer{own: appendHead(nil, listKind, apiVersion)}
	c.own = meta.appendJSON(append(c.own, `,"metadata":`...))
	c.own = append(c.own, `,"items":[`...)
	for item := range items {
		if len(c.text) > 0 {
			c.own = append(c.own, ',')
		}
		c.own = append(c.own, '{')
		c.add(StripTypeMeta(item))
	}
	c.own = append(c.own, ']', '}')
	return c.end()
}

// CustomList prints a list of a custom kind: keys are sorted, items are whole and metadata.continue is always there, as
// unstructured lists are printed.
func CustomList(listKind, apiVersion string, meta ListMeta, items iter.Seq[[]byte]) Text {
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

// appendHead begins an object.
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
	return append(dst, '}')
}

// separate adds a comma unless nothing was added since start.
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

// StripTypeMeta returns a canonical object without its opening brace, kind and apiVersion, to be put after a "{". Objects that
// begin otherwise lose only the brace. Kinds and versions have no escapes.
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

// AppendFrame prints one event of a watch as JSON; obj is the printed object.
//
//	{"type":"ADDED","object":{…}}⏎
func AppendFrame(dst []byte, eventType string, obj []byte) []byte {
	dst = object.AppendString(append(dst, `{"type":`...), eventType)
	dst = append(append(dst, `,"object":`...), obj...)
	return append(dst, '}', '\n')
}

// AppendProtoFrame prints one event of a watch as protobuf; envelope is the result of AppendEnvelope for the object.
//
//	length (4 bytes, big-endian) │ WatchEvent { type = 1, object = 2 RawExtension { raw = 1: envelope } }
func AppendProtoFrame(dst []byte, eventType string, envelope []byte) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendString(dst, eventType)
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(1+protowire.SizeBytes(len(envelope))))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendBytes(dst, envelope)
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}
