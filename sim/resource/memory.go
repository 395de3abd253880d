package resource

import (
	"sync/atomic"
	"weak"

	"github.com/kubesim/kubesim/sim/object"
)

// memory caches results that are computed from an item's other fields.
//
//	Bytes   {…,"metadata":{…,"managedFields":[{…,"fieldsV1":{…}}]},"spec":{…}}
//	                                                      ╰ Sets╯       ╰ Fields: parsed, with the object, see Shared
//	proto   the protobuf message, see Proto
//	derived values of several types, see Derived
//	other   the item as decoded for the last other server that read it
//
// The garbage collector may free parsed, and Packed removes it. Superseded frees proto and derived.
type memory struct {
	form    atomic.Pointer[Form]
	parsed  atomic.Pointer[weak.Pointer[Parsed]]
	proto   atomic.Pointer[[]byte]
	derived atomic.Pointer[derived]
	other   atomic.Pointer[Item]
}

// Shared returns the item's object, parsed like the objects of clients, so that the two are equal in the parts that a client has
// not changed (Definition.Read). All callers get the same object and must not change it. It is kept until the garbage collector
// runs and finds no reference to it: an object that was written is often written again soon, and ten controllers read it, but a
// parsed object takes some ten times the memory of its JSON. An update of a pod whose object is already parsed takes a third less
// time, and half the memory.
func (it *Item) Shared() object.Object { return it.SharedAfter(nil) }

// SharedAfter is like Shared, for the next state of an object. before is its previous state, or nil. Parts that are equal in both
// are not parsed again.
func (it *Item) SharedAfter(before *Item) object.Object {
	p := it.Parsed()
	if p == nil {
		hub := it.def.Hub
		if form := it.memory.form.Load(); form != nil {
			p = (*form).Parsed(object.Text(it.Bytes()))
		} else if hub.Read != nil {
			p = hub.Read(it, before)
		} else {
			p = &Parsed{Object: it.Object()}
		}
		kept := weak.Make(p)
		it.memory.parsed.Store(&kept)
	}
	return p.Object
}

// Form is an object that was encoded, and the places of its parts in the JSON. Parsing the JSON gives this object.
type Form interface {
	// Parsed returns the result of parsing text, the JSON of the object, whose resourceVersion may differ from the encoded one. Several
	// goroutines may call it, and get the same result.
	Parsed(text string) *Parsed
}

// SetForm sets the form of an item whose object was just encoded, or removes it if form is nil. With a form, Shared need not parse the
// item's JSON. A form retains the object, so an item has one only while its write is committed, when most controllers read the object for
// the first time.
func (it *Item) SetForm(form Form) {
	if form == nil {
		it.memory.form.Store(nil)
	} else if it.Stored() == nil { // otherwise Shared parses the stored form
		it.memory.form.Store(&form)
	}
}

// Parsed is the result of parsing the JSON of an item: its object, and the JSON of some of its parts. It is shared and must not be
// changed.
type Parsed struct {
	Object object.Object
	Fields []Part // top-level fields, without metadata
	Sets   []Part // the fieldsV1 of metadata.managedFields
}

// Part is a named part of an object: its JSON and its value.
type Part struct {
	Name, Text string
	Value      map[string]any
}

// Parsed returns the parsed form that Shared has kept, or nil if there is none or it has been freed.
func (it *Item) Parsed() *Parsed {
	if kept := it.memory.parsed.Load(); kept != nil {
		return kept.Value()
	}
	return nil
}

// Proto returns the item's protobuf message. The first call encodes it with encode; the result is kept until the item is
// superseded.
func (it *Item) Proto(encode func(*Item) []byte) []byte {
	if p := it.memory.proto.Load(); p != nil {
		return *p
	}
	data := encode(it)
	it.memory.proto.Store(&data)
	return data
}

// Message returns the result of Proto, or nil if Proto has not been called or the result has been freed.
func (it *Item) Message() []byte {
	if p := it.memory.proto.Load(); p != nil {
		return *p
	}
	return nil
}

// Superseded implements mvcc.Aux. It frees cached results; a reader of an older revision computes them again.
func (it *Item) Superseded() {
	for ; it != nil; it = it.memory.other.Load() {
		it.memory.proto.Store(nil)
		it.memory.derived.Store(nil)
	}
}

// Packed implements mvcc.Aux. It removes the reference to the parsed form, which the garbage collector has probably freed: a store has many
// items, and each reference is work for the garbage collector.
func (it *Item) Packed() { it.memory.parsed.Store(nil) }

// Derived returns derive's result for an item's object and caches it in the item. Later callers get the same value and must not
// change it. An item caches one value of each type.
func Derived[T any](it *Item, derive func(object.Object) T) T {
	kept := it.memory.derived.Load()
	for d := kept; d != nil; d = d.next {
		if v, ok := d.value.(T); ok {
			return v
		}
	}
	v := derive(it.Shared())
	it.memory.derived.Store(&derived{v, kept})
	return v
}

// derived is a linked list of the values that an item caches.
type derived struct {
	value any
	next  *derived
}
