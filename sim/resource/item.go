package resource

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"weak"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Item is one stored object: its printed form in the hub version, and what selectors ask for, taken out once when it
// was written. It is shared by everybody who reads it and never changed.
type Item struct {
	// What a list looks at comes first, to be in the same lines of the processor's cache.
	Bytes []byte // canonical JSON without a final newline
	codec *StorageCodec
	skew  *SkewCodec
	// Err says why an object cannot be shown in the version of the Item; its Bytes are as stored.
	Err error
	// Decorated says that the object is to be shown otherwise than it is stored: as Strategy.Decorate does.
	Decorated bool

	Namespace, Name string
	key             string // in the store, if it is not that of the Name: see Definition.KeyOf
	Rev             uint64 // of the last write: metadata.resourceVersion
	labels          facts
	fields          facts // Strategy.Fields
	hub             *Definition

	// Stored is what the store holds, where that is not Bytes: a raw value was written in another form than it is shown in,
	// or the definition of a custom resource has changed since the object was written.
	Stored []byte

	// other is what another server has made of the stored object, the last one that read it.
	other atomic.Pointer[Item]

	parsed  atomic.Pointer[weak.Pointer[Parsed]] // see Shared
	derived atomic.Pointer[derived]              // see Derived

	line  []byte // Bytes and a newline in one piece of memory, or nil
	proto atomic.Pointer[[]byte]
}

// NewItem makes the item of an object whose printed form is data.
func NewItem(d *Definition, obj object.Object, rev uint64, data []byte) *Item {
	it := &Item{Rev: rev, Bytes: data, hub: d.Hub, codec: d.StorageCodec, skew: d.SkewCodec}
	it.remember(d, obj)
	if decorate := d.Hub.Strategy.Decorate; decorate != nil {
		_, it.Decorated = decorate(obj)
	}
	return it
}

// NewLine is NewItem for data that ends in a newline, which Bytes leaves out and Line does not.
func NewLine(d *Definition, obj object.Object, rev uint64, line []byte) *Item {
	it := NewItem(d, obj, rev, line[:len(line)-1:len(line)-1])
	it.line = line
	return it
}

// Line returns Bytes and a newline, as an answer shows the object.
func (it *Item) Line() []byte {
	if it.line != nil {
		return it.line
	}
	return append(it.Bytes[:len(it.Bytes):len(it.Bytes)], '\n')
}

// ItemOf returns the item of a stored value, which the writer left beside it or which is read from the bytes again
// (a store loaded from an archive).
func ItemOf(d *Definition, kv *mvcc.KV) *Item {
	written, ok := kv.Aux.(*Item)
	if !ok {
		return readItem(d, kv)
	}
	if written.readBy(d) {
		return written
	}
	if it := written.other.Load(); it != nil && it.readBy(d) {
		return it
	}
	it := readItem(d, kv)
	if it.Err == nil { // what failed may work the next time
		written.other.Store(it)
	}
	return it
}

// AskedItem is ItemOf for a reader that wants what the store has: where a webhook converts objects, it is asked.
func AskedItem(d *Definition, kv *mvcc.KV) *Item {
	if d.StorageCodec == nil || d.StorageCodec.Ask == nil {
		return ItemOf(d, kv)
	}
	return d.StorageCodec.item(d, parsed(d, kv), kv, d.StorageCodec.Ask).StoredAt(kv.Key)
}

// readBy reports whether d reads objects as the item was read.
func (it *Item) readBy(d *Definition) bool {
	return it.codec == d.StorageCodec && it.skew == d.SkewCodec
}

// readItem reads a stored value.
func readItem(d *Definition, kv *mvcc.KV) *Item {
	if d.SkewCodec != nil {
		return d.SkewCodec.item(d, kv).StoredAt(kv.Key)
	}
	obj := parsed(d, kv)
	if d.StorageCodec != nil {
		return d.StorageCodec.item(d, obj, kv, d.StorageCodec.Read).StoredAt(kv.Key)
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
		it.writeNilBytes(kv.Value)
	}
	return it
}

// DefaultsLate reports whether obj, as it is stored or about to be, lacks defaults that its readers see.
func (d *Definition) DefaultsLate(obj object.Object) bool {
	late := d.Hub.Strategy.DefaultsLate
	return late != nil && d.Hub.Print != nil && late(obj)
}

// StoredAt notes the key under which the store has the item, and returns the item. It is called before others read the item.
func (it *Item) StoredAt(key string) *Item {
	if rest, ok := strings.CutSuffix(key, it.Name); !ok || !strings.HasSuffix(rest, "/") {
		it.key = key
	}
	return it
}

// KeyOf returns the key under which the store has an item. It is not that of the object's name if admission renamed an object
// that a PUT or an apply created: the real server stores such an object where the request's URL says.
func (d *Definition) KeyOf(it *Item) string {
	if it.key != "" {
		return it.key
	}
	return d.Key(it.Namespace, it.Name)
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
func (f *StorageCodec) item(d *Definition, obj object.Object, kv *mvcc.KV,
	read func(object.Object) (object.Object, error)) *Item {
	version := obj.ResourceVersion()
	obj.Remove("metadata", "resourceVersion")
	shown, err := read(obj)
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

// Shared returns the item's object in the form in which objects of clients are read, so that the two are alike where a client
// has changed nothing (Definition.Read). Everybody gets the same object, in which nobody may change anything, until the
// garbage collector runs and finds nobody using it: what was written is often written again soon, and ten controllers are told
// of it, while a parsed object takes some ten times the memory of the printed one. An update of a pod that finds its object
// parsed takes a third less time, and half the memory.
func (it *Item) Shared() object.Object { return it.SharedAfter(nil) }

// SharedAfter is Shared for the next state of an object, nil if that is not known: what the two have in common is not read again.
func (it *Item) SharedAfter(before *Item) object.Object {
	p := it.Parsed()
	if p == nil {
		if it.hub != nil && it.hub.Read != nil {
			p = it.hub.Read(it, before)
		} else {
			p = &Parsed{Object: it.Object()}
		}
		kept := weak.Make(p)
		it.parsed.Store(&kept)
	}
	return p.Object
}

// Layout returns the structure in whose order the item is printed; nil for a custom resource.
func (it *Item) Layout() *schema.Type {
	if it.hub == nil {
		return nil
	}
	return it.hub.Layout()
}

// Parsed is what was read from the bytes of an item: its object, and the texts of parts of it. Everybody shares it and
// nobody may change anything in it.
type Parsed struct {
	Object object.Object
	Fields []Part // at the top, without metadata
	Sets   []Part // the fieldsV1 of metadata.managedFields
}

// Part is a part of an object.
type Part struct {
	Name, Text string
	Value      map[string]any
}

// Parsed returns what Shared has read, nil if it is not there any more.
func (it *Item) Parsed() *Parsed {
	if kept := it.parsed.Load(); kept != nil {
		return kept.Value()
	}
	return nil
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

// Proto returns the item's protobuf message, which encode makes when it is first asked for.
func (it *Item) Proto(encode func(*Item) []byte) []byte {
	if p := it.proto.Load(); p != nil {
		return *p
	}
	data := encode(it)
	it.proto.Store(&data)
	return data
}

// Message returns what Proto has made, nil if it is not there.
func (it *Item) Message() []byte {
	if p := it.proto.Load(); p != nil {
		return *p
	}
	return nil
}

// Superseded implements mvcc.Aux. A reader of an older revision makes again what is freed.
func (it *Item) Superseded() {
	for ; it != nil; it = it.other.Load() {
		it.proto.Store(nil)
		it.derived.Store(nil)
	}
}

// Derived returns what derive makes of an item's object, which is kept with the item: whoever asks again gets the same
// value and must not change it. An item keeps one value of each type.
func Derived[T any](it *Item, derive func(object.Object) T) T {
	kept := it.derived.Load()
	for d := kept; d != nil; d = d.next {
		if v, ok := d.value.(T); ok {
			return v
		}
	}
	v := derive(it.Shared())
	it.derived.Store(&derived{v, kept})
	return v
}

// derived is a value that is kept with an item, and the others.
type derived struct {
	value any
	next  *derived
}

// At returns the item with another resourceVersion: as it is stored, or as a watch shows it when it went away.
func (it *Item) At(rev uint64) *Item {
	moved := &Item{Namespace: it.Namespace, Name: it.Name, key: it.key, Rev: rev, Bytes: it.Bytes, labels: it.labels, fields: it.fields, Err: it.Err,
		codec: it.codec, skew: it.skew, hub: it.hub, Decorated: it.Decorated}
	old := strconv.AppendUint([]byte(`"resourceVersion":"`), it.Rev, 10)
	now := strconv.AppendUint([]byte(`"resourceVersion":"`), rev, 10)
	if at := metadataField(it.Bytes, old); at >= 0 {
		line := make([]byte, 0, len(it.Bytes)+len(now)-len(old)+1)
		line = append(append(line, it.Bytes[:at]...), now...)
		moved.line = append(append(line, it.Bytes[at+len(old):]...), '\n')
		moved.Bytes = moved.line[: len(moved.line)-1 : len(moved.line)-1]
	}
	if it.Stored == nil {
		return moved
	}
	if at := metadataField(it.Stored, old); at >= 0 {
		moved.Stored = slices.Concat(it.Stored[:at], now, it.Stored[at+len(old):])
	}
	return moved
}

// Reprinted returns the item with other printed bytes, which end in a newline and say the same to selectors.
func (it *Item) Reprinted(line []byte) *Item {
	return &Item{Namespace: it.Namespace, Name: it.Name, Rev: it.Rev, Bytes: line[: len(line)-1 : len(line)-1], labels: it.labels,
		fields: it.fields, codec: it.codec, skew: it.skew, hub: it.hub, Decorated: it.Decorated, line: line}
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
