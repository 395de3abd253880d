package patch

import (
	"encoding/json"

	"github.com/kubesim/kubesim/sim/object"
)

// opened marks the objects of a document that a patch looked into. The real server prints those with sorted keys and
// leaves all others as they were, which clients see in the errors about undecodable results.
type opened struct {
	next map[string]*opened
	all  bool // everything below was looked into
}

// open marks the objects on the way to the keys, the last of which names a value that is not looked into.
func (o *opened) open(keys []string) {
	for i := 0; i < len(keys)-1; i++ {
		o = o.child(keys[i])
	}
}

func (o *opened) child(key string) *opened {
	c := o.next[key]
	if c == nil {
		c = &opened{}
		if o.next == nil {
			o.next = map[string]*opened{}
		}
		o.next[key] = c
	}
	return c
}

// openMerged marks what a merge patch with the value looks into.
func (o *opened) openMerged(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v { // order does not matter
			o.child(key).openMerged(x)
		}
	case []any:
		o.all = true
	}
}

// reorder sorts the keys of the marked objects of doc.
func (o *opened) reorder(doc json.RawMessage) json.RawMessage {
	var sorted any
	switch {
	case isArray(doc):
		var list []json.RawMessage
		if len(o.next) == 0 && !o.all || json.Unmarshal(doc, &list) != nil {
			return doc
		}
		element := o.elements()
		for i := range list {
			list[i] = element.reorder(list[i])
		}
		sorted = list
	case isContainer(doc):
		var m map[string]json.RawMessage
		if json.Unmarshal(doc, &m) != nil {
			return doc
		}
		for key, v := range m { // order does not matter
			if o.all {
				m[key] = o.reorder(v)
			} else if next := o.next[key]; next != nil {
				m[key] = next.reorder(v)
			}
		}
		sorted = m
	default:
		return doc
	}
	out, err := json.Marshal(sorted)
	if err != nil {
		return doc
	}
	return out
}

// elements returns the marks of the elements of an array: indices change while a patch is applied, so what was looked
// into in one element counts for all.
func (o *opened) elements() *opened {
	if o.all {
		return o
	}
	union := &opened{}
	for _, key := range object.SortedKeys(o.next) {
		union.join(o.next[key])
	}
	return union
}

func (o *opened) join(other *opened) {
	o.all = o.all || other.all
	for key, c := range other.next { // order does not matter
		o.child(key).join(c)
	}
}

// isContainer reports whether raw is a JSON object or array.
func isContainer(raw json.RawMessage) bool { return isArray(raw) || first(raw) == '{' }

func isArray(raw json.RawMessage) bool { return first(raw) == '[' }

func first(raw json.RawMessage) byte {
	for _, c := range raw {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}
