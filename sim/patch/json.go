package patch

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/kubesim/kubesim/sim/status"
)

// Limits of a JSON patch.
const (
	maxOperations = 10000
	maxCopied     = 3 << 20 // bytes that its copy operations may add
)

// JSON applies a JSON patch to doc as a PATCH request does: whatever an operation fails of, the answer is the same 422.
func JSON(doc, patch []byte, level Level) (result []byte, strict []string, s *status.Status) {
	if level != Ignore {
		var err error
		if strict, err = checkOperations(patch); err != nil {
			return nil, nil, status.BadRequest("error decoding patch: %v", err)
		}
	}
	ops, err := ReadOperations(patch)
	if err != nil {
		return nil, nil, status.BadRequest("%v", err)
	}
	if len(ops) > maxOperations {
		return nil, nil, status.TooLarge(
			"The allowed maximum operations in a JSON patch is 10000, got " + strconv.Itoa(len(ops)))
	}
	if result, err = ops.Apply(doc); err != nil {
		return nil, nil, status.Unprocessable()
	}
	return result, strict, nil
}

// JSONOperations are the operations of a JSON patch.
type JSONOperations []operation

// ErrTestFailed is the error of a test operation whose value is another.
var ErrTestFailed = errors.New("test failed")

// The other reasons why an operation fails.
var (
	errMissing = errors.New("missing value")
	errIndex   = errors.New("invalid index referenced")
)

// Apply applies the operations to doc, an object, one after the other. It differs from RFC 6902 as json-patch v4 does, which
// the real server has: indices may be negative, and replace, move, copy and test take a missing key of an object for null. The
// texts of errors are that library's. Version 5, which Operations uses, refuses these and has other texts.
func (o JSONOperations) Apply(doc []byte) ([]byte, error) {
	a := applier{doc: readDocument(doc, true)}
	if a.doc == nil {
		return nil, errors.New("json: cannot unmarshal the document into Go value of type jsonpatch.partialDoc")
	}
	for _, op := range o {
		if err := a.apply(op); err != nil {
			return nil, err
		}
	}
	return a.doc.append(make([]byte, 0, 2*len(doc))), nil
}

// operation is one step of a JSON patch.
type operation struct {
	op, path, from member
	value          json.RawMessage // nil if there is none
}

// node returns the value, with no raw for null; nil if there is none. Each document gets one of its own.
func (op operation) node() *node {
	if op.value == nil {
		return nil
	}
	if n := child(op.value, false); n != nil {
		return n
	}
	return &node{}
}

// member is a string of an operation, and why it is none.
type member struct {
	text string
	err  error
}

// applier carries out operations.
type applier struct {
	doc    *node
	copied int // bytes
}

// apply carries out one operation.
func (a *applier) apply(op operation) error {
	kind := op.op.text
	if op.op.err != nil {
		kind = "unknown"
	}
	switch kind {
	case "add":
		return a.add(op)
	case "remove":
		return a.remove(op)
	case "replace":
		return a.replace(op)
	case "move":
		return a.move(op)
	case "copy":
		return a.copy(op)
	case "test":
		return a.test(op)
	}
	return fmt.Errorf("Unexpected kind: %s", kind)
}

func (a *applier) add(op operation) error {
	if op.path.err != nil {
		return fmt.Errorf("add operation failed to decode path: %w", errMissing)
	}
	parent, key := a.doc.parent(op.path.text)
	if parent == nil {
		return fmt.Errorf("add operation does not apply: doc is missing path: \"%s\": %w", op.path.text, errMissing)
	}
	if err := parent.add(key, op.node()); err != nil {
		return fmt.Errorf("error in add for path: '%s': %w", op.path.text, err)
	}
	return nil
}

func (a *applier) remove(op operation) error {
	if op.path.err != nil {
		return fmt.Errorf("remove operation failed to decode path: %w", errMissing)
	}
	parent, key := a.doc.parent(op.path.text)
	if parent == nil {
		return fmt.Errorf("remove operation does not apply: doc is missing path: \"%s\": %w", op.path.text, errMissing)
	}
	if err := parent.remove(key); err != nil {
		return fmt.Errorf("error in remove for path: '%s': %w", op.path.text, err)
	}
	return nil
}

// replace sets a key of an object whether it is there or not, but only an element of an array that is there.
func (a *applier) replace(op operation) error {
	path := op.path.text
	if op.path.err != nil {
		return fmt.Errorf("replace operation failed to decode path: %w", op.path.err)
	}
	if path == "" {
		value := op.node()
		if value == nil || !value.open() {
			return errors.New("replace operation value must be object or array: %!w(<nil>)")
		}
		a.doc = value
		return nil
	}
	parent, key := a.doc.parent(path)
	if parent == nil {
		return fmt.Errorf("replace operation does not apply: doc is missing path: %s: %w", path, errMissing)
	}
	if _, err := parent.get(key); err != nil {
		return fmt.Errorf("replace operation does not apply: doc is missing key: %s: %w", path, errMissing)
	}
	parent.set(key, op.node())
	return nil
}

func (a *applier) move(op operation) error {
	if op.from.err != nil {
		return fmt.Errorf("move operation failed to decode from: %w", op.from.err)
	}
	parent, key := a.doc.parent(op.from.text)
	if parent == nil {
		return fmt.Errorf("move operation does not apply: doc is missing from path: %s: %w", op.from.text, errMissing)
	}
	value, err := parent.get(key)
	if err == nil {
		err = parent.remove(key)
	}
	if err != nil {
		return fmt.Errorf("error in move for path: '%s': %w", key, err)
	}
	if op.path.err != nil {
		return fmt.Errorf("move operation failed to decode path: %w", op.path.err)
	}
	if parent, key = a.doc.parent(op.path.text); parent == nil {
		return fmt.Errorf("move operation does not apply: doc is missing destination path: %s: %w", op.path.text, errMissing)
	}
	if err := parent.add(key, value); err != nil {
		return fmt.Errorf("error in move for path: '%s': %w", op.path.text, err)
	}
	return nil
}

// copy adds what is found at from; a missing key of an object is null.
func (a *applier) copy(op operation) error {
	if op.from.err != nil {
		return fmt.Errorf("copy operation failed to decode from: %w", op.from.err)
	}
	parent, key := a.doc.parent(op.from.text)
	if parent == nil {
		return fmt.Errorf("copy operation does not apply: doc is missing from path: %s: %w", op.from.text, errMissing)
	}
	value, err := parent.get(key)
	if err != nil {
		return fmt.Errorf("error in copy for from: '%s': %w", op.from.text, err)
	}
	if op.path.err != nil {
		return fmt.Errorf("copy operation failed to decode path: %w", errMissing)
	}
	if parent, key = a.doc.parent(op.path.text); parent == nil {
		return fmt.Errorf("copy operation does not apply: doc is missing destination path: %s: %w", op.path.text, errMissing)
	}
	if value != nil {
		text := value.append(nil)
		if a.copied += len(text); a.copied > maxCopied {
			return fmt.Errorf("Unable to complete the copy, the accumulated size increase of copy is %d, exceeding the limit %d",
				a.copied, maxCopied)
		}
		value = &node{raw: text, printed: true}
	}
	if err := parent.add(key, value); err != nil {
		return fmt.Errorf("error while adding value during copy: %w", err)
	}
	return nil
}

// test compares the value at the path; a missing key of an object is null.
func (a *applier) test(op operation) error {
	path, want := op.path.text, op.node()
	if op.path.err != nil {
		return fmt.Errorf("test operation failed to decode path: %w", op.path.err)
	}
	have := a.doc
	if path != "" {
		parent, key := a.doc.parent(path)
		if parent == nil {
			return fmt.Errorf("test operation does not apply: is missing path: %s: %w", path, errMissing)
		}
		var err error
		if have, err = parent.get(key); err != nil {
			return fmt.Errorf("error in test for path: '%s': %w", path, err)
		}
	}
	same := false
	switch {
	case have == nil:
		same = want == nil || want.raw == nil
	case want != nil:
		same = have.equal(want)
	}
	if !same {
		return fmt.Errorf("testing value %s failed: %w", path, ErrTestFailed)
	}
	return nil
}

// ReadOperations decodes a patch without looking at what the operations say. null has none.
func ReadOperations(patch []byte) (JSONOperations, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(patch, &list); err != nil {
		return nil, goType(err, "jsonpatch.Patch")
	}
	ops := make(JSONOperations, len(list))
	for i, raw := range list {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, goType(err, "jsonpatch.Operation")
		}
		ops[i] = operation{op: text(m, "op"), path: text(m, "path"), from: text(m, "from"), value: m["value"]}
	}
	return ops, nil
}

// text returns a string of an operation.
func text(m map[string]json.RawMessage, name string) member {
	raw, ok := m[name]
	switch {
	case (!ok || string(raw) == "null") && name == "from":
		return member{err: fmt.Errorf("operation, missing from field: %w", errMissing)}
	case !ok || string(raw) == "null":
		return member{err: fmt.Errorf("operation missing %s field: %w", name, errMissing)}
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return member{s, err}
}

// goType puts the Go type of the real server into the error of a value that does not fit.
func goType(err error, name string) error {
	var t *json.UnmarshalTypeError
	if !errors.As(err, &t) {
		return err
	}
	return errors.New("json: cannot unmarshal " + t.Value + " into Go value of type " + name)
}
