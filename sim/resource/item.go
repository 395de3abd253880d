package resource

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/pack"
	"github.com/kubesim/kubesim/sim/schema"
)

// Item is one stored object: its JSON in the hub version, and the values that selectors need, which are extracted once when it is
// written. It is shared by all readers and never changed.
type Item struct {
	// Fields that a list reads come first, so that they share cache lines.
	text *pack.Text  // canonical JSON without a final newline; usually &own
	def  *Definition // the definition with which the object was decoded, in any version
	// Decorated reports that Strategy.Decorator returns a different object for clients.
	Decorated bool
	owned     bool // see Owned

	Namespace, Name string
	key             string // storage key if the item is stored; see Definition.KeyOf
	Rev             uint64 // revision of the last write: metadata.resourceVersion
	labels          facts
	fields          facts // values of Strategy.Fields

	odd    *odd // nil for most items
	memory memory
	own    pack.Text // in the item, because a store has many items, and each object more is work for the garbage collector
}

// odd contains the fields that most items do not need.
type odd struct {
	err    error
	stored []byte
}

// Err returns the error if the object could not be converted to the Item's version, and nil otherwise. If it is not nil, Bytes
// returns the stored bytes.
func (it *Item) Err() error {
	if it.odd == nil {
		return nil
	}
	return it.odd.err
}

// TransformError is the Err of an item with a stored value that cannot be decrypted.
type TransformError struct{ Err error }

// Error implements error.
func (e *TransformError) Error() string { return e.Err.Error() }

// Failed returns a copy of the item with an Err.
func (it *Item) Failed(err error) *Item {
	failed := &Item{text: it.text, def: it.def, Decorated: it.Decorated, owned: it.owned, Namespace: it.Namespace, Name: it.Name, key: it.key,
		Rev: it.Rev, labels: it.labels, fields: it.fields}
	failed.odd = &odd{err, it.Stored()}
	return failed
}

// Stored returns the stored form if it differs from Bytes, because a raw value was written in a different form, or because the
// definition of a custom resource has changed since the object was written. Otherwise it returns nil.
func (it *Item) Stored() []byte {
	if it.odd == nil {
		return nil
	}
	return it.odd.stored
}

// SetStored sets the stored form. It must be called before other goroutines can read the item.
func (it *Item) SetStored(value []byte) { it.odd = &odd{it.Err(), value} }

// NewItem returns an item of obj at revision rev. data is the canonical JSON of obj.
func NewItem(d *Definition, obj object.Object, rev uint64, data []byte) *Item {
	it := newItem(d, obj, rev, nil)
	it.setText(data)
	return it
}

// setText sets the JSON of a new item.
func (it *Item) setText(data []byte) {
	it.own.Set(data)
	it.text = &it.own
}

func newItem(d *Definition, obj object.Object, rev uint64, text *pack.Text) *Item {
	it := &Item{Rev: rev, text: text, def: d}
	it.remember(d, obj)
	it.owned = len(obj.List("metadata", "ownerReferences")) > 0
	if decorate := d.Hub.Strategy.Decorator; decorate != nil {
		_, it.Decorated = decorate(obj)
	}
	return it
}

// Bytes returns the object as canonical JSON without a final newline. The caller must not modify the result.
func (it *Item) Bytes() []byte { return it.text.Bytes() }

// Text returns the JSON of Bytes as the packed text that the store keeps.
func (it *Item) Text() *pack.Text { return it.text }

// StoredAt sets the key under which the item is stored, and returns the item. It must be called before other goroutines can read
// the item.
func (it *Item) StoredAt(key string) *Item {
	it.key = key
	name := len(key) - len(it.Name)
	namespace := name - 1 - len(it.Namespace)
	if strings.HasSuffix(key, it.Name) && namespace >= 0 && (it.Namespace == "" || key[namespace:name-1] == it.Namespace) {
		it.Name, it.Namespace = key[name:], key[namespace:name-1] // share the memory of the key
	} else { // admission has renamed the object
		it.Name, it.Namespace = strings.Clone(it.Name), strings.Clone(it.Namespace)
	}
	return it
}

// KeyOf returns the storage key of an item, or the key that a new item will get. It differs from the key of the object's name if
// admission renamed an object created by a PUT or an apply: the real server stores such an object under the name in the request's
// URL.
func (d *Definition) KeyOf(it *Item) string {
	if it.key != "" {
		return it.key
	}
	return d.Key(it.Namespace, it.Name)
}

// Raw returns the bytes that the store contains: Stored if it is not nil, and otherwise Bytes.
func (it *Item) Raw() []byte {
	if stored := it.Stored(); stored != nil {
		return stored
	}
	return it.Bytes()
}

// Owned reports whether the object has owner references.
func (it *Item) Owned() bool { return it.owned }

// SameCodec reports whether two items were decoded with the same StorageCodec and SkewCodec.
func (it *Item) SameCodec(other *Item) bool {
	return it.readBy(other.def)
}

// Object returns a copy of the item's object, in the hub version.
func (it *Item) Object() object.Object {
	var obj object.Object
	var err error
	switch at := it.places(); {
	case at == nil || it.Err() != nil:
		obj, err = object.ParseRaw(it.Bytes(), nil)
	case it.def.SkewCodec != nil && it.Stored() != nil:
		obj, _, err = it.def.SkewCodec.Read(it.def.Hub, it.Stored())
	default:
		obj, err = object.ParseRaw(it.Raw(), at)
	}
	if err != nil {
		panic("resource: an item is not an object: " + err.Error())
	}
	return obj
}

// Layout returns the Go type that determines the order of fields in the item's JSON, or nil for a custom resource.
func (it *Item) Layout() *schema.Type { return it.def.Hub.Layout() }

// places returns the places of raw values in the object, or nil if there are none.
func (it *Item) places() *object.Places { return it.def.Hub.Places() }

// Written returns the JSON in which raw values keep the form in which they were written. If another server stored the object,
// Written may return nil; the JSON must then be encoded from Object.
func (it *Item) Written() []byte {
	switch {
	case it.places() == nil || it.Stored() == nil:
		return it.Bytes()
	case it.def.SkewCodec == nil:
		return it.Stored()
	}
	return nil
}

// At returns a copy of the item with another resourceVersion, for storing it or for the DELETED event of a watch.
func (it *Item) At(rev uint64) *Item {
	moved := it.withoutCache()
	moved.Rev = rev
	if moved.odd = nil; it.odd != nil {
		moved.odd = &odd{it.odd.err, it.withRevision(it.odd.stored, rev)}
	}
	if text := it.withRevision(it.Bytes(), rev); text != nil {
		moved.setText(text)
	}
	return moved
}

// Reprinted returns a copy of the item with different JSON, which must end in a newline. Its labels and selectable fields must be
// the same.
func (it *Item) Reprinted(data []byte) *Item {
	made := it.withoutCache()
	made.setText(data)
	if made.odd = nil; it.Err() != nil {
		made.odd = &odd{err: it.odd.err}
	}
	return made
}

// withoutCache returns a copy of the item without its cached results.
func (it *Item) withoutCache() *Item {
	return &Item{text: it.text, def: it.def, Decorated: it.Decorated, owned: it.owned, Namespace: it.Namespace, Name: it.Name, key: it.key, Rev: it.Rev,
		labels: it.labels, fields: it.fields, odd: it.odd}
}

// withRevision returns text with its resourceVersion replaced by rev, or nil if text does not contain the item's revision. The
// result has capacity for a newline.
func (it *Item) withRevision(text []byte, rev uint64) []byte {
	var room [2][22]byte
	old, now := quotedRev(room[0][:0], it.Rev), quotedRev(room[1][:0], rev)
	at := json.Find(text, "metadata", "resourceVersion")
	if at < 0 || !bytes.HasPrefix(text[at:], old) {
		return nil
	}
	made := make([]byte, 0, len(text)+len(now)-len(old))
	return append(append(append(made, text[:at]...), now...), text[at+len(old):]...)
}

func quotedRev(b []byte, rev uint64) []byte {
	return append(strconv.AppendUint(append(b, '"'), rev, 10), '"')
}
