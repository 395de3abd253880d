package resource

import (
	"bytes"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
)

// ItemOf returns the item of a stored value, which the writer left beside it or which is read from the bytes again
// (a store loaded from an archive).
func ItemOf(d *Definition, kv *mvcc.KV) *Item { return ItemFor(nil, d, kv) }

// ItemFor is ItemOf for a request, which may wait for a conversion webhook.
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
	if it.Err == nil { // what failed may work the next time
		written.memory.other.Store(it)
	}
	return it
}

// AskedItem is ItemFor, but always calls the webhook if a webhook converts the objects.
func AskedItem(by Asker, d *Definition, kv *mvcc.KV) *Item {
	if d.StorageCodec == nil || d.StorageCodec.Ask == nil {
		return ItemFor(by, d, kv)
	}
	return d.StorageCodec.item(by, d, parsed(d, kv), kv, d.StorageCodec.Ask).StoredAt(kv.Key)
}

// readBy reports whether d reads objects as the item was read.
func (it *Item) readBy(d *Definition) bool {
	return it.codec == d.StorageCodec && it.skew == d.SkewCodec
}

// readItem reads a stored value.
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
		it.Stored = kv.Value
		return it
	}
	it := NewItem(d, obj, kv.ModRev, kv.Value).StoredAt(kv.Key)
	switch {
	case d.Hub.Places() != nil:
		it.write(kv.Value)
	case d.NilBytes(obj):
		it.Bytes, it.Stored = d.Hub.Print(obj), kv.Value
	}
	return it
}

// DefaultsLate reports whether obj, as it is stored or about to be, lacks defaults that its readers see.
func (d *Definition) DefaultsLate(obj object.Object) bool {
	late := d.Hub.Strategy.DefaultsLate
	return late != nil && d.Hub.Print != nil && late(obj)
}

// write sets the two forms of an item with raw values: as they are shown and as they were written.
func (it *Item) write(value []byte) {
	if shown := object.Compact(value); !bytes.Equal(shown, value) {
		it.Bytes, it.Stored = shown, value
	}
}

// parsed returns the object of a stored value.
func parsed(d *Definition, kv *mvcc.KV) object.Object {
	obj, err := object.ParseRaw(kv.Value, d.Hub.Places())
	if err != nil {
		panic("resource: the store holds " + kv.Key + ", which is not an object: " + err.Error())
	}
	return obj
}

// item reads an object that was stored by another version, or under a definition that has changed since. Its resourceVersion follows
// from the commit: a webhook that converts the object does not see it.
func (f *StorageCodec) item(by Asker, d *Definition, obj object.Object, kv *mvcc.KV,
	read func(Asker, object.Object) (object.Object, error)) *Item {
	version := obj.ResourceVersion()
	obj.Remove("metadata", "resourceVersion")
	shown, err := read(by, obj)
	if err != nil {
		it := NewItem(d, parsed(d, kv), kv.ModRev, kv.Value) // read may have changed obj
		it.Err = err
		return it
	}
	shown.Set(version, "metadata", "resourceVersion")
	it := NewItem(d, shown, kv.ModRev, object.JSON(map[string]any(shown)))
	it.Stored = kv.Value
	return it
}
