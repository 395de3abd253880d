package codec

import (
	"bytes"
	"iter"

	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/object"
)

const metaGroup = "meta.k8s.io/"

// Partial returns the PartialObjectMetadata of an object. version is v1 or v1beta1. The metadata is shared.
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

// openPartial prints a PartialObjectMetadata up to its metadata.
func openPartial(dst []byte, version string) []byte {
	return append(appendHead(dst, "PartialObjectMetadata", metaGroup+version), `,"metadata":`...)
}

// partialMeta returns the metadata of a canonical object: that of a built-in kind is a piece of it.
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

// partial prints the PartialObjectMetadata of a canonical object.
func (c *composer) partial(canonical []byte, version string) {
	c.own = openPartial(c.own, version)
	c.add(partialMeta(canonical))
	c.own = append(c.own, '}')
}

// PartialList prints a PartialObjectMetadataList of canonical objects. Unlike in other lists, items is null if there are none.
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

// closing ends an array of n elements; one without elements is null, as a nil slice of Go.
func closing(n int) string {
	if n == 0 {
		return "null"
	}
	return "]"
}

// order is the order of the fields of a Go struct, and of the structs in it.
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

// appendOrdered prints a printed object, or each of an array of objects, with its keys in another order. Keys that the
// order does not know are left out.
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

// memberOf returns the value of a key in a printed object, or nil.
func memberOf(raw []byte, key string) []byte {
	if at := json.Find(raw, key); at >= 0 {
		return raw[at:json.End(raw, at)]
	}
	return nil
}
