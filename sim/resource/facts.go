package resource

import (
	"encoding/binary"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
)

// facts holds names and values in one string, each preceded by its length: 3 app 3 web 4 tier 5 front. An item lives as long as the
// store has its revision: maps would take three times the memory, and substrings of the parsed JSON would keep all of it in memory.
type facts string

// next returns the first string and the remaining facts. f must not be empty.
func (f facts) next() (string, facts) {
	n, at := 0, 0
	for shift := 0; ; shift += 7 {
		c := f[at]
		at++
		if n |= int(c&0x7f) << shift; c < 0x80 {
			return string(f[at : at+n]), f[at+n:]
		}
	}
}

// number returns the field number with which f begins, and the remaining facts.
func (f facts) number() (n int, rest facts) { return int(f[0]), f[1:] }

// field returns the value of the field with the number, or "" if there is none.
func (f facts) field(number int) string {
	for f != "" {
		var n int
		var value string
		n, f = f.number()
		if value, f = f.next(); n == number {
			return value
		}
	}
	return ""
}

// get returns the value of the named entry. It returns false if there is none.
func (f facts) get(name string) (string, bool) {
	for f != "" {
		var key, value string
		key, f = f.next()
		if value, f = f.next(); key == name {
			return value, true
		}
	}
	return "", false
}

func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// remember copies the labels and selectable fields from obj to the item, in one allocation. The name and the namespace share the memory
// of obj until StoredAt replaces them.
func (it *Item) remember(d *Definition, obj object.Object) {
	it.Namespace, it.Name = obj.Namespace(), obj.Name()
	buffer := make([]byte, 0, 512)
	for key, v := range obj.Map("metadata", "labels") { // order does not matter: labels are looked up by name
		if value, ok := v.(string); ok {
			buffer = appendText(appendText(buffer, key), value)
		}
	}
	labels := len(buffer)
	for i, f := range d.Hub.Strategy.Fields {
		if value := f.Text(obj); value != "" { // a missing field has the same value
			buffer = appendText(append(buffer, byte(i)), value)
		}
	}
	all := string(buffer)
	it.labels, it.fields = facts(all[:labels]), facts(all[labels:])
}

// Label returns the value of a label, and whether the object has it.
func (it *Item) Label(name string) (value string, ok bool) { return it.labels.get(name) }

// Labelled reports whether the object has any labels.
func (it *Item) Labelled() bool { return it.labels != "" }

// SameLabels reports whether two objects have the same labels.
func (it *Item) SameLabels(other *Item) bool {
	if len(it.labels) != len(other.labels) {
		return false
	}
	for f := it.labels; f != "" && it.labels != other.labels; {
		var key, value string
		key, f = f.next()
		value, f = f.next()
		if v, ok := other.Label(key); !ok || v != value {
			return false
		}
	}
	return true
}

// Field returns the value of a field label: metadata.name, metadata.namespace or one of Strategy.Fields. It returns "" for a
// missing field.
func (it *Item) Field(label string) string {
	switch label {
	case "metadata.name":
		return it.Name
	case "metadata.namespace":
		return it.Namespace
	}
	if it.fields == "" {
		return ""
	}
	return it.fields.field(slices.IndexFunc(it.def.Hub.Strategy.Fields, func(f Field) bool { return f.Name == label }))
}
