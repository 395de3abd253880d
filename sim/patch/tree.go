package patch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// node is a value of a document that is taken apart only where a patch looks into it. Where it does, the printed
// document has sorted keys; everywhere else it stays as it was, which clients see in the errors about undecodable
// results. A nil node is a null of the document.
type node struct {
	raw     json.RawMessage // nil for the document itself and for a null that a patch wrote
	printed bool            // raw is as the server prints it, not as a client wrote it
	object  map[string]*node
	array   []*node
	form    form
}

// form says which part of a node counts.
type form uint8

const (
	closed   form = iota // raw
	asObject             // object
	asArray              // array
)

// readDocument takes the outermost object or array of a document apart; nil when it is neither. The document is the
// server's, or a patch, which must be well-formed.
func readDocument(doc json.RawMessage, printed bool) *node {
	n := &node{raw: doc, printed: printed}
	if !n.open() {
		return nil
	}
	n.raw = nil
	return n
}

// child returns the node of a value inside a document.
func child(raw json.RawMessage, printed bool) *node {
	if string(raw) == "null" {
		return nil
	}
	return &node{raw: raw, printed: printed}
}

// openObject takes a node apart that is an object.
func (n *node) openObject() bool {
	if n.form == closed && first(n.raw) == '{' {
		n.form, n.object = asObject, map[string]*node{}
		split(n.raw, func(key string, raw json.RawMessage) { n.object[key] = child(raw, n.printed) })
	}
	return n.form == asObject
}

// openArray takes a node apart that is an array.
func (n *node) openArray() bool {
	if n.form == closed && first(n.raw) == '[' {
		n.form = asArray
		split(n.raw, func(_ string, raw json.RawMessage) { n.array = append(n.array, child(raw, n.printed)) })
	}
	return n.form == asArray
}

// open takes a node apart that is an object or an array.
func (n *node) open() bool { return n.form != closed || n.openObject() || n.openArray() }

// append prints the node.
func (n *node) append(dst []byte) []byte {
	switch {
	case n == nil || n.form == closed && n.raw == nil:
		return append(dst, "null"...)
	case n.form == asObject:
		dst = append(dst, '{')
		for i, key := range object.SortedKeys(n.object) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = n.object[key].append(append(object.AppendString(dst, key), ':'))
		}
		return append(dst, '}')
	case n.form == asArray:
		dst = append(dst, '[')
		for i, v := range n.array {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = v.append(dst)
		}
		return append(dst, ']')
	case n.printed:
		return append(dst, n.raw...)
	}
	return append(dst, object.Compact(n.raw)...)
}

// parent follows a JSON pointer (RFC 6901) to the object or array that holds what it names, and returns that with the
// last key. What stands before the first slash does not count. It returns nil when there is nothing to follow.
func (n *node) parent(pointer string) (*node, string) {
	keys := strings.Split(pointer, "/")[1:]
	if len(keys) == 0 {
		return nil, ""
	}
	for i, key := range keys {
		keys[i] = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
	}
	last := len(keys) - 1
	for _, key := range keys[:last] {
		next, err := n.get(key)
		if err != nil || next == nil || next.raw == nil || !next.open() {
			return nil, ""
		}
		n = next
	}
	return n, keys[last]
}

// get returns what an open node has at the key. A missing key of an object is null.
func (n *node) get(key string) (*node, error) {
	if n.form == asObject {
		return n.object[key], nil
	}
	i, err := index(key, len(n.array), len(n.array)-1)
	if err != nil {
		return nil, err
	}
	return n.array[i], nil
}

// set replaces what get returned.
func (n *node) set(key string, value *node) {
	if n.form == asObject {
		n.object[key] = value
		return
	}
	if i, err := index(key, len(n.array), len(n.array)-1); err == nil {
		n.array[i] = value
	}
}

// add puts a key into an object, or an element before the one with the index.
func (n *node) add(key string, value *node) error {
	if n.form == asObject {
		n.object[key] = value
		return nil
	}
	i := len(n.array)
	if key != "-" {
		if _, err := strconv.Atoi(key); err != nil {
			return fmt.Errorf("value was not a proper array index: '%s': %w", key, err)
		}
		var err error
		if i, err = index(key, len(n.array)+1, len(n.array)); err != nil {
			return err
		}
	}
	n.array = slices.Insert(slices.Clone(n.array), i, value)
	return nil
}

func (n *node) remove(key string) error {
	if n.form == asObject {
		if _, ok := n.object[key]; !ok {
			return fmt.Errorf("Unable to remove nonexistent key: %s: %w", key, errMissing)
		}
		delete(n.object, key)
		return nil
	}
	i, err := index(key, len(n.array), len(n.array)-1)
	if err != nil {
		return err
	}
	n.array = slices.Delete(slices.Clone(n.array), i, i+1)
	return nil
}

// index reads an index up to last; negative ones count from the end of size places.
func index(key string, size, last int) (int, error) {
	i, err := strconv.Atoi(key)
	if err != nil {
		return 0, err
	}
	if i < -size || i > last {
		return 0, fmt.Errorf("Unable to access invalid index: %d: %w", i, errIndex)
	}
	if i < 0 {
		i += size
	}
	return i, nil
}

// equal reports whether two nodes are the same for the test operation: objects whatever the order of their keys,
// scalars by how they are written, so that 1 and 1.0 differ. It opens what it compares.
func (n *node) equal(o *node) bool {
	if n == nil || o == nil {
		return n == o
	}
	if !n.open() {
		return o.form == closed && bytes.Equal(compact(n.raw), compact(o.raw))
	}
	if n.form == asObject {
		return o.openObject() && maps.EqualFunc(n.object, o.object, (*node).equal)
	}
	return o.openArray() && slices.EqualFunc(n.array, o.array, (*node).equal)
}

func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// merge applies a JSON merge patch: both are open objects.
func (n *node) merge(patch *node) {
	for key, v := range patch.object { // order does not matter
		have := n.object[key]
		switch {
		case v == nil:
			delete(n.object, key)
		case have == nil || !have.openObject():
			v.dropNulls()
			n.object[key] = v
		case v.openObject():
			have.merge(v)
		default:
			n.object[key] = v
		}
	}
}

// dropNulls removes the null entries of all objects in n.
func (n *node) dropNulls() {
	if !n.open() {
		return
	}
	for key, v := range n.object { // order does not matter
		if v == nil {
			delete(n.object, key)
		} else {
			v.dropNulls()
		}
	}
	for _, v := range n.array {
		if v != nil {
			v.dropNulls()
		}
	}
}

// first returns the first byte of raw that is not white space.
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
