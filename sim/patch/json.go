package patch

import (
	"encoding/json"
	"errors"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/kubesim/kubesim/sim/status"
)

// Limits of a JSON patch.
const (
	maxOperations = 10000
	maxCopied     = 3 << 20 // bytes that its copy operations may add
)

// JSON applies a JSON patch to doc. It differs from the RFC as the real server does: indices may be negative, and
// replace and copy take a missing key of an object for null. Whatever an operation fails of, the answer is the same 422.
func JSON(doc, patch []byte, level Level) (result []byte, strict []string, s *status.Status) {
	if level != Ignore {
		var err error
		if strict, err = checkOperations(patch); err != nil {
			return nil, nil, status.BadRequest("error decoding patch: %v", err)
		}
	}
	ops, err := readOperations(patch)
	if err != nil {
		return nil, nil, status.BadRequest("%v", err)
	}
	if len(ops) > maxOperations {
		return nil, nil, status.TooLarge(
			"The allowed maximum operations in a JSON patch is 10000, got " + itoa(len(ops)))
	}
	a := applier{doc: doc, opened: &opened{}}
	for _, op := range ops {
		if !a.add(op) {
			return nil, nil, status.Unprocessable()
		}
	}
	if !a.flush() {
		return nil, nil, status.Unprocessable()
	}
	return a.opened.reorder(a.doc), strict, nil
}

// operation is one step of a JSON patch. Value is nil when the patch has none.
type operation struct {
	Op    string          `json:"op"`
	From  string          `json:"from,omitempty"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
}

// applier collects operations and applies them in as few goes as possible: only where the meaning of an operation
// depends on the document are those before it carried out.
type applier struct {
	doc     []byte
	pending []operation
	copied  int
	opened  *opened
}

// add takes one operation. It reports whether the operation can be applied, as far as that is known yet.
func (a *applier) add(op operation) bool {
	path, ok := pointer(op.Path)
	if op.Op == "replace" && op.Path == "" {
		return a.replaceAll(op.Value)
	}
	if !ok && op.Op != "test" {
		return false
	}
	a.opened.open(path)
	if op.Value == nil {
		op.Value = json.RawMessage("null")
	}
	switch op.Op {
	case "replace":
		return a.replace(op, path)
	case "copy":
		return a.copy(op)
	case "move":
		from, ok := pointer(op.From)
		if !ok {
			return false
		}
		a.opened.open(from)
	case "test":
		return (ok || op.Path == "") && a.test(op.Value, path)
	case "add", "remove":
	default:
		return false
	}
	a.pending = append(a.pending, op)
	return true
}

// replaceAll makes value the document.
func (a *applier) replaceAll(value json.RawMessage) bool {
	if !a.flush() || !isContainer(value) {
		return false
	}
	a.doc = value
	return true
}

// replace sets a key of an object whether it is there or not, but only an element of an array that is there.
func (a *applier) replace(op operation, path []string) bool {
	last := path[len(path)-1]
	if _, err := atoi(last); err == nil || last == "-" {
		if !a.flush() {
			return false
		}
		parent, ok := find(a.doc, path[:len(path)-1])
		if !ok {
			return false
		}
		if isArray(parent) {
			a.pending = append(a.pending, op)
			return true
		}
	}
	op.Op = "add"
	a.pending = append(a.pending, op)
	return true
}

// test compares the value at the keys with want; a missing key of an object is null.
func (a *applier) test(want json.RawMessage, keys []string) bool {
	if !a.flush() {
		return false
	}
	have, ok := a.lookup(keys)
	return ok && equal(have, want)
}

// lookup returns the value at the keys of the document; a missing key of an object is null.
func (a *applier) lookup(keys []string) (json.RawMessage, bool) {
	if len(keys) == 0 {
		return a.doc, true
	}
	parent, ok := find(a.doc, keys[:len(keys)-1])
	if !ok || !isContainer(parent) {
		return nil, false
	}
	value, ok := find(parent, keys[len(keys)-1:])
	if !ok && !isArray(parent) {
		return json.RawMessage("null"), true
	}
	return value, ok
}

// copy adds what is found at from; a missing key of an object is null.
func (a *applier) copy(op operation) bool {
	from, ok := pointer(op.From)
	if !ok || !a.flush() {
		return false
	}
	a.opened.open(from)
	value, ok := a.lookup(from)
	if !ok {
		return false
	}
	if a.copied += len(value); a.copied > maxCopied {
		return false
	}
	a.pending = append(a.pending, operation{Op: "add", Path: op.Path, Value: value})
	return true
}

// flush carries out the pending operations.
func (a *applier) flush() bool {
	if len(a.pending) == 0 {
		return true
	}
	text, err := json.Marshal(a.pending)
	if err != nil {
		return false
	}
	a.pending = a.pending[:0]
	ops, err := jsonpatch.DecodePatch(text)
	if err != nil {
		return false
	}
	a.doc, err = ops.ApplyWithOptions(a.doc, &jsonpatch.ApplyOptions{SupportNegativeIndices: true, EscapeHTML: true})
	return err == nil
}

// pointer splits a JSON pointer (RFC 6901) into its keys. It reports false for the whole document and for an empty key
// that is not the last.
func pointer(p string) ([]string, bool) {
	keys := strings.Split(p, "/")
	if len(keys) < 2 {
		return nil, false
	}
	keys = keys[1:]
	for i, k := range keys {
		if k == "" && i < len(keys)-1 {
			return nil, false
		}
		keys[i] = strings.ReplaceAll(strings.ReplaceAll(k, "~1", "/"), "~0", "~")
	}
	return keys, true
}

// find returns the value at the keys of doc.
func find(doc json.RawMessage, keys []string) (json.RawMessage, bool) {
	for _, key := range keys {
		switch {
		case isArray(doc):
			var list []json.RawMessage
			if json.Unmarshal(doc, &list) != nil {
				return nil, false
			}
			i, err := atoi(key)
			if i < 0 {
				i += len(list)
			}
			if err != nil || i < 0 || i >= len(list) {
				return nil, false
			}
			doc = list[i]
		case isContainer(doc):
			var m map[string]json.RawMessage
			if json.Unmarshal(doc, &m) != nil {
				return nil, false
			}
			next, ok := m[key]
			if !ok {
				return nil, false
			}
			doc = next
		default:
			return nil, false
		}
	}
	return doc, true
}

// readOperations decodes a patch without looking at what the operations say: members of a wrong type count as missing.
func readOperations(patch []byte) ([]operation, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(patch, &list); err != nil {
		return nil, goType(err, "jsonpatch.Patch")
	}
	ops := make([]operation, len(list))
	for i, raw := range list {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, goType(err, "jsonpatch.Operation")
		}
		ops[i] = operation{Op: text(m["op"], "unknown"), Path: text(m["path"], "unknown"), From: text(m["from"], "unknown"), Value: m["value"]}
	}
	return ops, nil
}

// text returns a JSON string, or other for anything else.
func text(raw json.RawMessage, other string) string {
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return other
	}
	return *s
}

// goType puts the Go type of the real server into the error of a value that does not fit.
func goType(err error, name string) error {
	var t *json.UnmarshalTypeError
	if !errors.As(err, &t) {
		return err
	}
	return errors.New("json: cannot unmarshal " + t.Value + " into Go value of type " + name)
}
