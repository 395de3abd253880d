package codec

import (
	"bytes"
	"iter"
	"strconv"

	"github.com/kubesim/kubesim/sim/object"
)

// ListMeta is the metadata of a list, as metav1.ListMeta.
type ListMeta struct {
	ResourceVersion string
	Continue        string
	Remaining       *int64 // remainingItemCount; nil is unknown
}

// AppendList prints a list of a built-in kind. The items are stored objects: canonical JSON that begins with kind and
// apiVersion, which items of a list do not show.
//
//	{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"123"},"items":[{"metadata":{…},…},…]}
func AppendList(dst []byte, listKind, apiVersion string, meta ListMeta, items iter.Seq[[]byte]) []byte {
	dst = appendHead(dst, listKind, apiVersion)
	dst = meta.appendJSON(append(dst, `,"metadata":`...))
	dst = append(dst, `,"items":[`...)
	first := true
	for item := range items {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(dst, '{'), StripTypeMeta(item)...)
	}
	return append(dst, ']', '}')
}

// AppendCustomList prints a list of a custom kind: keys are sorted, items are whole and metadata.continue is always
// there, as unstructured lists are printed.
func AppendCustomList(dst []byte, listKind, apiVersion string, meta ListMeta, items iter.Seq[[]byte]) []byte {
	dst = object.AppendString(append(dst, `{"apiVersion":`...), apiVersion)
	dst = append(dst, `,"items":[`...)
	first := true
	for item := range items {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, item...)
	}
	dst = object.AppendString(append(dst, `],"kind":`...), listKind)
	dst = object.AppendString(append(dst, `,"metadata":{"continue":`...), meta.Continue)
	if meta.Remaining != nil {
		dst = strconv.AppendInt(append(dst, `,"remainingItemCount":`...), *meta.Remaining, 10)
	}
	dst = object.AppendString(append(dst, `,"resourceVersion":`...), meta.ResourceVersion)
	return append(dst, '}', '}')
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

// StripTypeMeta returns a canonical object without its opening brace, kind and apiVersion: what to put behind a "{".
// Objects that begin otherwise lose only the brace. Kinds and versions hold nothing that is escaped.
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
