package resource

import (
	"bytes"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
)

// SkewCodec decodes and encodes built-in objects for one API server, if servers with different versions or feature gates share a
// store. Servers that decode in the same way share a SkewCodec. If all servers do, Definition.SkewCodec is nil.
//
//	written by 1.36          stored                   read by 1.35
//	{a, b, new} ──────────▶  {a, b, new} ──Read──▶    {a, b}      drops unknown fields,
//	                         {a, b}      ◀──write──   {a, b, c}   permanently if it writes
//
// An Item belongs to the SkewCodec that decoded it.
type SkewCodec struct {
	// Read decodes a stored object to the hub version of d with d's defaults. It drops fields that the server does not know. It
	// returns the object and its JSON without a final newline. If it fails, it returns the stored bytes instead of the JSON.
	Read func(d *Definition, stored []byte) (object.Object, []byte, error)

	// Write converts JSON in the hub version, with its raw values as they were written, to the version that is stored. If it is nil,
	// the JSON is stored unchanged.
	Write func(d *Definition, printed []byte) []byte
}

// item decodes a stored object. If that fails, the item has an Err.
func (l *SkewCodec) item(d *Definition, kv *mvcc.KV) *Item {
	value := kv.Value()
	obj, data, err := l.Read(d, value)
	it := newItem(d, obj, kv.ModRev, kv.Text)
	if err != nil {
		it.odd = &odd{err: err}
	}
	if !bytes.Equal(data, value) {
		it.SetStored(value)
		it.setText(data)
	}
	return it
}

// Value returns the bytes to store for an item, as the server's SkewCodec writes them.
func (d *Definition) Value(it *Item) []byte {
	if d.Hub.SkewCodec == nil || d.Hub.SkewCodec.Write == nil {
		return it.Raw()
	}
	return d.Hub.SkewCodec.Write(d.Hub, it.Raw())
}
