package resource

import (
	"encoding/binary"

	"github.com/kubesim/kubesim/sim/object"
)

// facts are named texts, concatenated: 3 app 3 web 4 tier 5 front. An item lives as long as the store has its revision: maps would
// take three times the memory, and substrings of the parsed text would keep all of it in memory.
type facts string

// next returns the first text and the rest.
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

// get returns the text with a name, and whether there is one.
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

// remember extracts the values that selectors need from the item's object, into one piece of memory.
func (it *Item) remember(d *Definition, obj object.Object) {
	namespace, name := obj.Namespace(), obj.Name()
	buffer := make([]byte, 0, 512)
	buffer = append(append(buffer, namespace...), name...)
	for key, v := range obj.Map("metadata", "labels") { // order does not matter: they are looked up
		if value, ok := v.(string); ok {
			buffer = appendText(appendText(buffer, key), value)
		}
	}
	labels := len(buffer)
	for _, f := range d.Hub.Strategy.Fields {
		if value := f.Text(obj); value != "" { // as is one that is not there
			buffer = appendText(appendText(buffer, f.Name), value)
		}
	}
	all, names := string(buffer), len(namespace)+len(name)
	it.Namespace, it.Name = all[:len(namespace)], all[len(namespace):names]
	it.labels, it.fields = facts(all[names:labels]), facts(all[labels:])
}

// Label returns the value of a label, and whether the object has it.
func (it *Item) Label(name string) (value string, ok bool) { return it.labels.get(name) }

// Labelled reports whether the object has a label.
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

// Field returns the value a field selector compares: metadata.name, metadata.namespace or one of Strategy.Fields.
func (it *Item) Field(label string) string {
	switch label {
	case "metadata.name":
		return it.Name
	case "metadata.namespace":
		return it.Namespace
	}
	value, _ := it.fields.get(label)
	return value
}
