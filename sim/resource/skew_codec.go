package resource

import (
	"bytes"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
)

// SkewCodec decodes and encodes built-in objects for one API server, if servers with different versions or feature gates share a
// store. Servers that decode alike share a SkewCodec. If all do, there is none.
//
//	written by 1.36          stored                   read by 1.35
//	{a, b, new} ──────────▶  {a, b, new} ──Read──▶    {a, b}      fields that it does not know are gone,
//	                         {a, b}      ◀──write──   {a, b, c}   for good once it writes
//
// An Item belongs to the SkewCodec that it was read with.
type SkewCodec struct {
	// Read decodes a stored object into the hub version of d with d's defaults, without fields that the server does not know, and
	// returns it with its printed form without a final newline. If it fails, it returns the stored bytes.
	Read func(d *Definition, stored []byte) (object.Object, []byte, error)

	// Write returns the stored form of a printed object, with its raw values as they were written, in another version than the
	// hub's. If it is nil, the printed form is stored.
	Write func(d *Definition, printed []byte) []byte
}

// item reads a stored object.
func (l *SkewCodec) item(d *Definition, kv *mvcc.KV) *Item {
	obj, data, err := l.Read(d, kv.Value)
	it := NewItem(d, obj, kv.ModRev, data)
	it.Err = err
	if !bytes.Equal(data, kv.Value) {
		it.Stored = kv.Value
	}
	return it
}

// Value returns the bytes that the store holds for an item.
func (d *Definition) Value(it *Item) []byte {
	if d.Hub.SkewCodec == nil || d.Hub.SkewCodec.Write == nil {
		return it.Raw()
	}
	return d.Hub.SkewCodec.Write(d.Hub, it.Raw())
}
