package resource

import (
	"bytes"
	"strconv"

	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Item is one stored object: its printed form in the hub version, and the values that selectors need, extracted once when it was
// written. It is shared by all readers and never changed.
type Item struct {
	// Fields that a list reads come first, so that they share cache lines.
	Bytes []byte // canonical JSON without a final newline
	codec *StorageCodec
	skew  *SkewCodec
	// Err is the error if an object cannot be converted to the version of the Item; its Bytes are then the stored ones.
	Err error
	// Decorated reports that Strategy.Decorator returns a different object for clients.
	Decorated bool

	Namespace, Name string
	key             string // in the store, if it is there: see Definition.KeyOf
	Rev             uint64 // of the last write: metadata.resourceVersion
	labels          facts
	fields          facts // Strategy.Fields
	hub             *Definition

	// Stored is the stored form if it differs from Bytes: a raw value was written in another form than it is printed in, or the
	// definition of a custom resource has changed since the object was written.
	Stored []byte

	memory memory
}

// NewItem makes the item of an object whose printed form is data.
func NewItem(d *Definition, obj object.Object, rev uint64, data []byte) *Item {
	it := &Item{Rev: rev, Bytes: data, hub: d.Hub, codec: d.StorageCodec, skew: d.SkewCodec}
	it.remember(d, obj)
	if decorate := d.Hub.Strategy.Decorator; decorate != nil {
		_, it.Decorated = decorate(obj)
	}
	return it
}

// StoredAt notes the key under which the store has the item, and returns the item. It is called before others read the item.
func (it *Item) StoredAt(key string) *Item {
	it.key = key
	return it
}

// KeyOf returns the key of an item in the store, or the one that a new item gets. It is not that of the object's name if admission
// renamed an object that a PUT or an apply created: the real server stores such an object under the name in the request's URL.
func (d *Definition) KeyOf(it *Item) string {
	if it.key != "" {
		return it.key
	}
	return d.Key(it.Namespace, it.Name)
}

// Raw returns what the store holds.
func (it *Item) Raw() []byte {
	if it.Stored != nil {
		return it.Stored
	}
	return it.Bytes
}

// SameCodec reports whether two items were read alike.
func (it *Item) SameCodec(other *Item) bool {
	return it.codec == other.codec && it.skew == other.skew
}

// Object returns the item's object, a copy of its own, in the hub version.
func (it *Item) Object() object.Object {
	var obj object.Object
	var err error
	switch at := it.places(); {
	case at == nil || it.Err != nil:
		obj, err = object.ParseRaw(it.Bytes, nil)
	case it.skew != nil && it.Stored != nil:
		obj, _, err = it.skew.Read(it.hub, it.Stored)
	default:
		obj, err = object.ParseRaw(it.Raw(), at)
	}
	if err != nil {
		panic("resource: an item is not an object: " + err.Error())
	}
	return obj
}

// Layout returns the structure in whose order the item is printed; nil for a custom resource.
func (it *Item) Layout() *schema.Type {
	if it.hub == nil {
		return nil
	}
	return it.hub.Layout()
}

// places returns where the object has raw values.
func (it *Item) places() *object.Places {
	if it.hub == nil {
		return nil
	}
	return it.hub.Places()
}

// Written returns the printed form with raw values as they were written, nil where only the object has them: another server
// has stored it.
func (it *Item) Written() []byte {
	switch {
	case it.places() == nil || it.Stored == nil:
		return it.Bytes
	case it.skew == nil:
		return it.Stored
	}
	return nil
}

// At returns the item with another resourceVersion: as it is stored, or as a watch shows it when it went away.
func (it *Item) At(rev uint64) *Item {
	moved := it.withoutCache()
	moved.Rev, moved.Stored = rev, it.withRevision(it.Stored, rev)
	if text := it.withRevision(it.Bytes, rev); text != nil {
		moved.print(append(text, '\n'))
	}
	return moved
}

// Reprinted returns the item with other printed bytes, which end in a newline. The values for selectors must be the same.
func (it *Item) Reprinted(line []byte) *Item {
	made := it.withoutCache()
	made.Stored = nil
	made.print(line)
	return made
}

// withoutCache returns the item without what it remembers.
func (it *Item) withoutCache() *Item {
	return &Item{Bytes: it.Bytes, codec: it.codec, skew: it.skew, Err: it.Err, Decorated: it.Decorated, Namespace: it.Namespace, Name: it.Name,
		key: it.key, Rev: it.Rev, labels: it.labels, fields: it.fields, hub: it.hub, Stored: it.Stored}
}

// withRevision returns a printed form of the item with another resourceVersion, or nil if it does not have the item's own. It has room for a
// newline.
func (it *Item) withRevision(text []byte, rev uint64) []byte {
	var room [2][22]byte
	old, now := quotedRev(room[0][:0], it.Rev), quotedRev(room[1][:0], rev)
	at := json.Find(text, "metadata", "resourceVersion")
	if at < 0 || !bytes.HasPrefix(text[at:], old) {
		return nil
	}
	made := make([]byte, 0, len(text)+len(now)-len(old)+1)
	return append(append(append(made, text[:at]...), now...), text[at+len(old):]...)
}

func quotedRev(b []byte, rev uint64) []byte {
	return append(strconv.AppendUint(append(b, '"'), rev, 10), '"')
}
