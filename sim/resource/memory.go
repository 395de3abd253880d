package resource

import (
	"sync/atomic"
	"weak"

	"github.com/kubesim/kubesim/sim/object"
)

// memory caches results that were computed from an item. All of it follows from the other fields of the Item.
//
//	Bytes   {…,"metadata":{…,"managedFields":[{…,"fieldsV1":{…}}]},"spec":{…}}    and a newline: line
//	                                                      ╰ Sets╯       ╰ Fields: parsed, with the object, see Shared
//	proto   the protobuf message, see Proto
//	derived values of several types, see Derived
//	other   what another server has made of the stored object, the last one that read it
//
// The garbage collector takes parsed away, and Superseded proto and derived.
type memory struct {
	line    []byte // nil if Bytes were not made with a newline
	parsed  atomic.Pointer[weak.Pointer[Parsed]]
	proto   atomic.Pointer[[]byte]
	derived atomic.Pointer[derived]
	other   atomic.Pointer[Item]
}

// NewLine is NewItem for data that ends in a newline, which Bytes leaves out and Line does not.
func NewLine(d *Definition, obj object.Object, rev uint64, line []byte) *Item {
	it := NewItem(d, obj, rev, nil)
	it.print(line)
	return it
}

// print sets Bytes and Line.
func (it *Item) print(line []byte) {
	it.memory.line = line
	it.Bytes = line[: len(line)-1 : len(line)-1]
}

// Line returns Bytes and a newline, as an answer shows the object.
func (it *Item) Line() []byte {
	if it.memory.line != nil {
		return it.memory.line
	}
	return append(it.Bytes[:len(it.Bytes):len(it.Bytes)], '\n')
}

// Shared returns the item's object in the form in which clients' objects are parsed, so that the two are equal in the parts that a
// client has not changed (Definition.Read). All callers get the same object, which they must not change. It is kept until the
// garbage collector runs and finds no user of it: an object that was written is often written again soon, and ten controllers read
// it, but a parsed object takes some ten times the memory of the printed one. An update of a pod whose object is already parsed
// takes a third less time, and half the memory.
func (it *Item) Shared() object.Object { return it.SharedAfter(nil) }

// SharedAfter is Shared for the next state of an object: parts that are equal in before are not parsed again. before is nil if it
// is not known.
func (it *Item) SharedAfter(before *Item) object.Object {
	p := it.Parsed()
	if p == nil {
		if it.hub != nil && it.hub.Read != nil {
			p = it.hub.Read(it, before)
		} else {
			p = &Parsed{Object: it.Object()}
		}
		kept := weak.Make(p)
		it.memory.parsed.Store(&kept)
	}
	return p.Object
}

// Parsed is the result of parsing the bytes of an item: its object, and the texts of parts of it. It is shared and must not be
// changed.
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

// Parsed returns the result of Shared, or nil if it has been freed.
func (it *Item) Parsed() *Parsed {
	if kept := it.memory.parsed.Load(); kept != nil {
		return kept.Value()
	}
	return nil
}

// Proto returns the item's protobuf message, which encode creates at the first call.
func (it *Item) Proto(encode func(*Item) []byte) []byte {
	if p := it.memory.proto.Load(); p != nil {
		return *p
	}
	data := encode(it)
	it.memory.proto.Store(&data)
	return data
}

// Message returns the result of Proto, or nil if there is none.
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

// Derived returns the result of derive for an item's object and caches it in the item: later callers get the same value and must
// not change it. An item caches one value of each type.
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

// derived is a value that is kept with an item, and the others.
type derived struct {
	value any
	next  *derived
}
