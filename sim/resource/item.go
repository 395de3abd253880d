package resource

import (
	"bytes"
	"strconv"
	"sync/atomic"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
)

// Item is one stored object: its printed form in the hub version, and what selectors ask for, taken out once when it
// was written. It is shared by everybody who reads it and never changed.
type Item struct {
	Namespace, Name string
	Rev             uint64 // of the last write: metadata.resourceVersion
	Bytes           []byte // canonical JSON without a final newline
	Labels          map[string]string
	Fields          map[string]string // Strategy.Fields

	proto atomic.Pointer[[]byte]
}

// NewItem makes the item of an object whose printed form is data.
func NewItem(d *Definition, obj object.Object, rev uint64, data []byte) *Item {
	it := &Item{Namespace: obj.Namespace(), Name: obj.Name(), Rev: rev, Bytes: data, Labels: obj.Labels()}
	if fields := d.Hub.Strategy.Fields; fields != nil {
		it.Fields = fields(obj)
	}
	return it
}

// ItemOf returns the item of a stored value, which the writer left beside it or which is read from the bytes again
// (a store loaded from an archive).
func ItemOf(d *Definition, kv *mvcc.KV) *Item {
	if it, ok := kv.Aux.(*Item); ok {
		return it
	}
	obj, err := object.Parse(kv.Value)
	if err != nil {
		panic("resource: the store holds " + kv.Key + ", which is not an object: " + err.Error())
	}
	return NewItem(d, obj, kv.ModRev, kv.Value)
}

// Object returns the item's object, a copy of its own, in the hub version.
func (it *Item) Object() object.Object {
	obj, err := object.Parse(it.Bytes)
	if err != nil {
		panic("resource: an item is not an object: " + err.Error())
	}
	return obj
}

// Proto returns the item's protobuf message, which encode makes when it is first asked for.
func (it *Item) Proto(encode func(object.Object) []byte) []byte {
	if p := it.proto.Load(); p != nil {
		return *p
	}
	data := encode(it.Object())
	it.proto.Store(&data)
	return data
}

// Field returns the value a field selector compares: metadata.name, metadata.namespace or one of Fields.
func (it *Item) Field(label string) string {
	switch label {
	case "metadata.name":
		return it.Name
	case "metadata.namespace":
		return it.Namespace
	}
	return it.Fields[label]
}

// At returns the item as a watch shows it when it went away at revision rev: the same object with that
// resourceVersion.
func (it *Item) At(rev uint64) *Item {
	moved := &Item{Namespace: it.Namespace, Name: it.Name, Rev: rev, Bytes: it.Bytes, Labels: it.Labels, Fields: it.Fields}
	old := strconv.AppendUint([]byte(`"resourceVersion":"`), it.Rev, 10)
	now := strconv.AppendUint([]byte(`"resourceVersion":"`), rev, 10)
	if at := metadataField(it.Bytes, old); at >= 0 {
		b := make([]byte, 0, len(it.Bytes)+4)
		b = append(append(b, it.Bytes[:at]...), now...)
		moved.Bytes = append(b, it.Bytes[at+len(old):]...)
	}
	return moved
}

// metadataField finds text as a direct member of metadata in the printed form of an object, or returns -1. A search of
// the text alone could find an annotation or an embedded object.
func metadataField(data, text []byte) int {
	key := []byte(`"metadata":{`)
	start := member(data, 0, key)
	if start < 0 {
		return -1
	}
	return member(data, start+len(key)-1, text)
}

// member finds text as a direct member of the JSON object that begins at start, or returns -1.
func member(data []byte, start int, text []byte) int {
	depth, quoted := 0, false
	for i := start; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			if !quoted && depth == 1 && bytes.HasPrefix(data[i:], text) {
				return i
			}
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return -1
			}
		}
	}
	return -1
}
