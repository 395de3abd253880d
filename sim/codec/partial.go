package codec

import (
	"bytes"
	"iter"

	"github.com/kubesim/kubesim/sim/object"
)

const metaGroup = "meta.k8s.io/"

// Partial returns what PartialObjectMetadata shows of an object; version is v1 or v1beta1. The metadata is shared.
func Partial(obj object.Object, version string) object.Object {
	meta := obj.Metadata()
	if meta == nil {
		meta = map[string]any{}
	}
	return object.Object{"kind": "PartialObjectMetadata", "apiVersion": metaGroup + version, "metadata": meta}
}

// AppendPartial prints the PartialObjectMetadata of an object that is printed canonically, without decoding it. Custom
// resources are printed with sorted keys, their partial metadata in the order of the Go struct like all others.
func AppendPartial(dst, canonical []byte, version string) []byte {
	return append(append(openPartial(dst, version), partialMeta(canonical)...), '}')
}

// openPartial prints what is before the metadata.
func openPartial(dst []byte, version string) []byte {
	return append(appendHead(dst, "PartialObjectMetadata", metaGroup+version), `,"metadata":`...)
}

// partialMeta returns the metadata of a canonical object: that of a built-in kind is a piece of it.
func partialMeta(canonical []byte) []byte {
	meta := member(canonical, `"metadata"`)
	switch {
	case meta == nil:
		return []byte("{}")
	case bytes.HasPrefix(canonical, headKind):
		return meta
	}
	return appendOrdered(make([]byte, 0, len(meta)), meta, &metaOrder)
}

// partial prints the PartialObjectMetadata of a canonical object.
func (c *composer) partial(canonical []byte, version string) {
	c.own = openPartial(c.own, version)
	c.add(partialMeta(canonical))
	c.own = append(c.own, '}')
}

// PartialList prints a PartialObjectMetadataList of canonical objects. Unlike other lists it says null when it has no
// items.
func PartialList(version string, meta ListMeta, items iter.Seq[[]byte]) Text {
	c := composer{own: appendHead(nil, "PartialObjectMetadataList", metaGroup+version)}
	c.own = meta.appendJSON(append(c.own, `,"metadata":`...))
	c.own = append(c.own, `,"items":`...)
	n := 0
	for item := range items {
		c.own = append(c.own, opening(n))
		c.partial(item, version)
		n++
	}
	c.own = append(append(c.own, closing(n)...), '}')
	return c.end()
}

// opening is what is before element n of an array.
func opening(n int) byte {
	if n == 0 {
		return '['
	}
	return ','
}

// closing ends an array of n elements; one without elements is null, as a nil slice of Go.
func closing(n int) string {
	if n == 0 {
		return "null"
	}
	return "]"
}

// order is the order of the fields of a Go struct, and of the structs in it.
type order struct {
	keys   []string // quoted
	nested map[string]*order
}

var metaOrder = order{
	keys: []string{`"name"`, `"generateName"`, `"namespace"`, `"selfLink"`, `"uid"`, `"resourceVersion"`, `"generation"`,
		`"creationTimestamp"`, `"deletionTimestamp"`, `"deletionGracePeriodSeconds"`, `"labels"`, `"annotations"`,
		`"ownerReferences"`, `"finalizers"`, `"managedFields"`},
	nested: map[string]*order{
		`"ownerReferences"`: {keys: []string{`"apiVersion"`, `"kind"`, `"name"`, `"uid"`, `"controller"`, `"blockOwnerDeletion"`}},
		`"managedFields"`: {keys: []string{`"manager"`, `"operation"`, `"apiVersion"`, `"time"`, `"fieldsType"`, `"fieldsV1"`,
			`"subresource"`}},
	},
}

// appendOrdered prints a printed object, or each of an array of objects, with its keys in another order. Keys that the
// order does not know are left out.
func appendOrdered(dst, raw []byte, o *order) []byte {
	switch {
	case len(raw) > 0 && raw[0] == '[':
		dst = append(dst, '[')
		start := len(dst)
		for _, elem := range rawElements(raw) {
			dst = appendOrdered(separate(dst, start), elem, o)
		}
		return append(dst, ']')
	case len(raw) == 0 || raw[0] != '{':
		return append(dst, raw...)
	}
	dst = append(dst, '{')
	start := len(dst)
	for _, key := range o.keys {
		value := member(raw, key)
		if value == nil {
			continue
		}
		dst = append(append(separate(dst, start), key...), ':')
		if inner := o.nested[key]; inner != nil {
			dst = appendOrdered(dst, value, inner)
		} else {
			dst = append(dst, value...)
		}
	}
	return append(dst, '}')
}

// member returns the value of the quoted key in a printed object, or nil.
func member(raw []byte, key string) []byte {
	for k, v := range rawElements(raw) {
		if string(k) == key {
			return v
		}
	}
	return nil
}

// rawElements walks over the values of a printed object, each with its quoted key, or of an array, with empty keys. The
// text must be JSON without spaces, as everything printed here is; the walk ends where it is not.
func rawElements(raw []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for i := 1; i < len(raw); i++ { // raw[0] is the bracket, later raw[i-1] is a comma
			var key []byte
			if raw[0] == '{' {
				end := rawEnd(raw, i)
				if end >= len(raw) || raw[end] != ':' {
					return
				}
				key, i = raw[i:end], end+1
			}
			end := rawEnd(raw, i)
			if end == i || end >= len(raw) || !yield(key, raw[i:end]) {
				return
			}
			i = end
		}
	}
}

// rawEnd returns the index behind the value that begins at raw[i].
func rawEnd(raw []byte, i int) int {
	depth := 0
	for ; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i++
			for i < len(raw) && raw[i] != '"' {
				if raw[i] == '\\' {
					i++
				}
				i++
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // the end of what holds a number or a word
			}
			depth--
		case ',', ':':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return min(i+1, len(raw))
		}
	}
	return len(raw)
}
