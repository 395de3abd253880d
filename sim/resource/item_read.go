package resource

import (
	"bytes"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
)

// ItemOf returns the item of a stored value. It is the item that the writer kept with the value, or, if there is none (as in a
// store loaded from an archive), a new one that is decoded from the value.
func ItemOf(d *Definition, kv *mvcc.KV) *Item { return ItemFor(nil, d, kv) }

// ItemFor is ItemOf on behalf of a request, which may wait for a conversion webhook.
func ItemFor(by Asker, d *Definition, kv *mvcc.KV) *Item {
	written, ok := kv.Aux.(*Item)
	if !ok {
		return readItem(by, d, kv)
	}
	if written.readBy(d) {
		return written
	}
	if it := written.memory.other.Load(); it != nil && it.readBy(d) {
		return it
	}
	it := readItem(by, d, kv)
	if it.Err() == nil { // a failed conversion may succeed the next time
		written.memory.other.Store(it)
	}
	return it
}

// AskedItem is like ItemFor, but if a webhook converts the objects, it always calls the webhook.
func AskedItem(by Asker, d *Definition, kv *mvcc.KV) *Item {
	if d.StorageCodec == nil || d.StorageCodec.Ask == nil {
		return ItemFor(by, d, kv)
	}
	return d.StorageCodec.item(by, d, parsed(d, kv), kv, d.StorageCodec.Ask).StoredAt(kv.Key)
}

// readBy reports whether d decodes stored objects with the codecs that decoded the item.
func (it *Item) readBy(d *Definition) bool {
	return it.def.StorageCodec == d.StorageCodec && it.def.SkewCodec == d.SkewCodec
}

// readItem decodes a stored value. If that fails, the item has an Err.
func readItem(by Asker, d *Definition, kv *mvcc.KV) *Item {
	if d.SkewCodec != nil {
		return d.SkewCodec.item(d, kv).StoredAt(kv.Key)
	}
	obj := parsed(d, kv)
	if d.StorageCodec != nil {
		return d.StorageCodec.item(by, d, obj, kv, d.StorageCodec.Read).StoredAt(kv.Key)
	}
	if d.DefaultsLate(obj) {
		d.Hub.Default(obj)
		it := NewItem(d, obj, kv.ModRev, d.Hub.Print(obj)).StoredAt(kv.Key)
		it.SetStored(kv.Value())
		return it
	}
	it := newItem(d, obj, kv.ModRev, kv.Text).StoredAt(kv.Key)
	switch {
	case d.Hub.Places() != nil:
		it.write(kv.Value())
	case d.NilBytes(obj):
		it.SetStored(kv.Value())
		it.setText(d.Hub.Print(obj))
	}
	return it
}

// DefaultsLate reports whether obj lacks defaults that readers of the stored object see (Strategy.DefaultsLate).
func (d *Definition) DefaultsLate(obj object.Object) bool {
	late := d.Hub.Strategy.DefaultsLate
	return late != nil && d.Hub.Print != nil && late(obj)
}

// write sets Bytes and Stored of an item with raw values: the JSON for clients and the JSON as written.
func (it *Item) write(value []byte) {
	if shown := object.Compact(value); !bytes.Equal(shown, value) {
		it.SetStored(value)
		it.setText(shown)
	}
}

// parsed parses a stored value. It panics if the value is not a JSON object.
func parsed(d *Definition, kv *mvcc.KV) object.Object {
	obj, err := object.ParseRaw(kv.Value(), d.Hub.Places())
	if err != nil {
		panic("resource: the store holds " + kv.Key + ", which is not an object: " + err.Error())
	}
	return obj
}

// item decodes an object that was stored in another version, or under a definition that has changed since. It hides the object's
// resourceVersion from read: a conversion webhook does not see it.
func (f *StorageCodec) item(by Asker, d *Definition, obj object.Object, kv *mvcc.KV,
	read func(Asker, object.Object) (object.Object, error)) *Item {
	version := obj.ResourceVersion()
	obj.Remove("metadata", "resourceVersion")
	shown, err := read(by, obj)
	if err != nil {
		it := newItem(d, parsed(d, kv), kv.ModRev, kv.Text) // read may have changed obj
		it.odd = &odd{err: err}
		return it
	}
	shown.Set(version, "metadata", "resourceVersion")
	it := NewItem(d, shown, kv.ModRev, object.JSON(map[string]any(shown)))
	it.SetStored(kv.Value())
	return it
}
