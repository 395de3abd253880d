package codec

import (
	"bytes"
	"iter"

	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/object"
)

const metaGroup = "meta.k8s.io/"

// Partial returns the PartialObjectMetadata of an object. The result shares the metadata with obj. version is v1 or v1beta1.
func Partial(obj object.Object, version string) object.Object {
	meta := obj.Metadata()
	if meta == nil {
		meta = map[string]any{}
	}
	return object.Object{"kind": "PartialObjectMetadata", "apiVersion": metaGroup + version, "metadata": meta}
}

// AppendPartial encodes the PartialObjectMetadata of an object in canonical JSON without decoding it. Custom resources have sorted
// keys, but their partial metadata is in the order of the Go struct, as for all other kinds.
func AppendPartial(dst, canonical []byte, version string) []byte {
	return append(append(openPartial(dst, version), partialMeta(canonical)...), '}')
}

// openPartial appends the beginning of a PartialObjectMetadata, up to the name of its metadata field.
func openPartial(dst []byte, version string) []byte {
	return append(appendHead(dst, "PartialObjectMetadata", metaGroup+version), `,"metadata":`...)
}

// partialMeta returns the metadata of an object in canonical JSON. For a built-in kind, it is a part of canonical.
func partialMeta(canonical []byte) []byte {
	meta := memberOf(canonical, "metadata")
	switch {
	case meta == nil:
		return []byte("{}")
	case bytes.HasPrefix(canonical, headKind):
		return meta
	}
	return appendOrdered(make([]byte, 0, len(meta)), meta, &metaOrder)
}

// partial appends the PartialObjectMetadata of an object in canonical JSON.
func (c *composer) partial(canonical []byte, version string) {
	c.own = openPartial(c.own, version)
	c.add(PieceOf(partialMeta(canonical)))
	c.own = append(c.own, '}')
}

// PartialList encodes a PartialObjectMetadataList of objects in canonical JSON. If there are none, items is null, unlike in other
// lists.
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

// opening returns the character before element n of an array.
func opening(n int) byte {
	if n == 0 {
		return '['
	}
	return ','
}

// closing returns the end of an array of n elements. An array without elements is null, like a nil slice in Go.
func closing(n int) string {
	if n == 0 {
		return "null"
	}
	return "]"
}

// order is the order of the fields of a Go struct and of its nested structs.
type order struct {
	keys   []string
	nested map[string]*order
}

var metaOrder = order{
	keys: []string{"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations",
		"ownerReferences", "finalizers", "managedFields"},
	nested: map[string]*order{
		"ownerReferences": {keys: []string{"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"}},
		"managedFields": {keys: []string{"manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1",
			"subresource"}},
	},
}

// appendOrdered appends the JSON of an object, or of an array of objects, with its keys in the order o. It omits keys that o does
// not list.
func appendOrdered(dst, raw []byte, o *order) []byte {
	switch {
	case len(raw) > 0 && raw[0] == '[':
		dst = append(dst, '[')
		start := len(dst)
		for elem := range json.Members(raw) {
			dst = appendOrdered(separate(dst, start), elem.Value, o)
		}
		return append(dst, ']')
	case len(raw) == 0 || raw[0] != '{':
		return append(dst, raw...)
	}
	dst = append(dst, '{')
	start := len(dst)
	for _, key := range o.keys {
		value := memberOf(raw, key)
		if value == nil {
			continue
		}
		dst = append(append(append(separate(dst, start), '"'), key...), '"', ':')
		if inner := o.nested[key]; inner != nil {
			dst = appendOrdered(dst, value, inner)
		} else {
			dst = append(dst, value...)
		}
	}
	return append(dst, '}')
}

// memberOf returns the value of a key in the JSON of an object, or nil.
func memberOf(raw []byte, key string) []byte {
	if at := json.Find(raw, key); at >= 0 {
		return raw[at:json.End(raw, at)]
	}
	return nil
}
