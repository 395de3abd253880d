package patch

import (
	"encoding/json"
	"errors"
	"strconv"

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
			"The allowed maximum operations in a JSON patch is 10000, got " + strconv.Itoa(len(ops)))
	}
	a := applier{doc: readDocument(doc, true)}
	for _, op := range ops {
		if a.doc == nil || !a.apply(op) {
			return nil, nil, status.Unprocessable()
		}
	}
	return a.doc.append(make([]byte, 0, len(doc)+len(patch))), strict, nil
}

// operation is one step of a JSON patch. Members that are missing or of a wrong type are nil.
type operation struct {
	op, from, path *string
	value          *node // with no raw for null
}

// applier carries out operations.
type applier struct {
	doc    *node
	copied int // bytes
}

// apply carries out one operation. It reports whether that is possible.
func (a *applier) apply(op operation) bool {
	if op.op == nil || op.path == nil {
		return false
	}
	switch path := *op.path; *op.op {
	case "add":
		return a.add(path, op.value)
	case "remove":
		parent, key := a.doc.parent(path)
		return parent != nil && parent.remove(key)
	case "replace":
		return a.replace(path, op.value)
	case "move":
		return a.move(op.from, path)
	case "copy":
		return a.copy(op.from, path)
	case "test":
		return a.test(path, op.value)
	}
	return false
}

func (a *applier) add(path string, value *node) bool {
	parent, key := a.doc.parent(path)
	return parent != nil && parent.add(key, value)
}

// replace sets a key of an object whether it is there or not, but only an element of an array that is there.
func (a *applier) replace(path string, value *node) bool {
	if path == "" {
		if value == nil || !value.open() {
			return false
		}
		a.doc = value
		return true
	}
	parent, key := a.doc.parent(path)
	if parent == nil {
		return false
	}
	_, ok := parent.get(key)
	if ok {
		parent.set(key, value)
	}
	return ok
}

// at returns what is found at a path, where it is.
func (a *applier) at(path *string) (parent *node, key string, value *node, ok bool) {
	if path == nil {
		return nil, "", nil, false
	}
	if parent, key = a.doc.parent(*path); parent == nil {
		return nil, "", nil, false
	}
	value, ok = parent.get(key)
	return parent, key, value, ok
}

func (a *applier) move(from *string, path string) bool {
	parent, key, value, ok := a.at(from)
	return ok && parent.remove(key) && a.add(path, value)
}

// copy adds what is found at from; a missing key of an object is null.
func (a *applier) copy(from *string, path string) bool {
	_, _, value, ok := a.at(from)
	if !ok {
		return false
	}
	to, last := a.doc.parent(path)
	if to == nil {
		return false
	}
	if value != nil {
		text := value.append(nil)
		if a.copied += len(text); a.copied > maxCopied {
			return false
		}
		value = &node{raw: text, printed: true}
	}
	return to.add(last, value)
}

// test compares the value at the path; a missing key of an object is null.
func (a *applier) test(path string, want *node) bool {
	have, ok := a.doc, true
	if path != "" {
		parent, key := a.doc.parent(path)
		if parent == nil {
			return false
		}
		have, ok = parent.get(key)
	}
	switch {
	case !ok:
		return false
	case have == nil:
		return want == nil || want.raw == nil
	case want == nil:
		return false
	}
	return have.equal(want)
}

// readOperations decodes a patch without looking at what the operations say.
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
		ops[i] = operation{op: text(m["op"]), path: text(m["path"]), from: text(m["from"])}
		if value, ok := m["value"]; ok {
			if ops[i].value = child(value, false); ops[i].value == nil {
				ops[i].value = &node{}
			}
		}
	}
	return ops, nil
}

// text returns a JSON string, or nil for anything else.
func text(raw json.RawMessage) *string {
	var s *string
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return s
}

// goType puts the Go type of the real server into the error of a value that does not fit.
func goType(err error, name string) error {
	var t *json.UnmarshalTypeError
	if !errors.As(err, &t) {
		return err
	}
	return errors.New("json: cannot unmarshal " + t.Value + " into Go value of type " + name)
}
