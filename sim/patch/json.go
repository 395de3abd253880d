package patch

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
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
type JSONOperations jsonpatch.Patch

// ErrTestFailed is the error of a test operation whose value is another.
var ErrTestFailed = jsonpatch.ErrTestFailed

// ReadOperations decodes a patch without validating the operations. null has none.
func ReadOperations(patch []byte) (JSONOperations, error) {
	var ops jsonpatch.Patch
	err := json.Unmarshal(patch, &ops)
	return JSONOperations(ops), err
}

// Apply applies the operations to doc, an object, one after the other.
//
// The real server has version 4 of the library. Apply corrects the differences of version 5, which are in the recorded cases of the
// area patch.
//
//	version 4                                                  version 5             case
//	replace sets a missing key of an object                    refuses it            json-patch-failures
//	copy takes a missing key of an object for null             refuses it            json-patches-against-pods-and-status
//	"" leads nowhere, but for replace and test                 is the document       json-patches-against-pods-and-status
//	objects that were looked into have sorted keys afterwards  keep their order      json-patch-printed
//	test compares scalars by their texts                       by their values       json-patch-tests-of-texts
//
// Version 5 panics if test meets a null in a list, and at replace and test of "" without a value. So does version 4, and clients
// get no answer. Here they fail.
func (o JSONOperations) Apply(doc []byte) ([]byte, error) {
	a := applier{doc: sorted(doc, "")}
	for len(o) > 0 {
		n := slices.IndexFunc(o, isSingle)
		if n < 0 {
			n = len(o)
		}
		run := o[:max(n, 1)]
		if o = o[len(run):]; len(run) > 1 && a.together(run) {
			continue
		}
		for _, op := range run {
			if err := a.apply(op); err != nil {
				return nil, err
			}
		}
	}
	return a.doc, nil
}

// applier carries out operations.
type applier struct {
	doc    []byte
	copied int64 // bytes
}

var options = jsonpatch.ApplyOptions{SupportNegativeIndices: true, EscapeHTML: true}

// apply carries out one operation.
func (a *applier) apply(op jsonpatch.Operation) error {
	kind := op.Kind()
	path, _ := op.Path()
	from, _ := op.From()
	known := likeVersion4(op)
	switch kind {
	case "test":
		return a.test(op)
	case "replace":
		if a.lacks(path) {
			known["op"] = parts["op"]
		}
	case "copy":
		source, _ := find(object.Text(a.doc), from)
		a.copied += int64(len(source.value))
		if a.lacks(from) {
			known["op"], known["value"] = parts["op"], parts["value"]
		}
		fallthrough
	case "move":
		a.doc = sorted(a.doc, from)
	}
	made, err := jsonpatch.Patch{known}.ApplyWithOptions(a.doc, &options)
	switch {
	case err != nil:
		return version4Error(err, path, from)
	case a.copied > maxCopied:
		return jsonpatch.NewAccumulatedCopySizeError(maxCopied, a.copied)
	}
	a.doc = sorted(made, path)
	return nil
}

// parts are templates of the members of an operation. The path is one that does not exist.
var parts = func() (op jsonpatch.Operation) {
	if err := json.Unmarshal([]byte(`{"op":"add","path":"nowhere","value":null}`), &op); err != nil {
		panic(err)
	}
	return op
}()

// likeVersion4 returns the operation with which version 5 of the library behaves like version 4, as far as that does not depend on
// the document.
func likeVersion4(op jsonpatch.Operation) jsonpatch.Operation {
	op = maps.Clone(op)
	path, err := op.Path()
	switch {
	case err != nil:
	case path == "" && op.Kind() == "replace":
		if op["value"] == nil {
			op["value"] = parts["path"] // neither object nor array
		}
	case leadsNowhere(path):
		op["path"] = parts["path"]
	}
	if from, err := op.From(); err == nil && leadsNowhere(from) {
		op["from"] = parts["path"]
	}
	return op
}

// leadsNowhere reports whether a pointer is that of the document, or begins with its member "", which no object has.
func leadsNowhere(pointer string) bool { return pointer == "" || strings.HasPrefix(pointer, "//") }

// lacks reports whether a pointer is that of a missing key in an existing object.
func (a *applier) lacks(pointer string) bool {
	p, ok := find(object.Text(a.doc), pointer)
	return ok && p.value == "" && p.err == nil
}

// isSingle reports whether an operation is carried out by itself, because its rule depends on the document.
func isSingle(op jsonpatch.Operation) bool {
	kind := op.Kind()
	return kind == "test" || kind == "copy"
}

// together carries out several operations, for which the library reads the document once. If one of them fails, it changes nothing
// and returns false. Then apply returns the error, or carries out the operation by a rule of version 4 under which it does not
// fail.
func (a *applier) together(ops []jsonpatch.Operation) bool {
	patch := make(jsonpatch.Patch, len(ops))
	for i, op := range ops {
		patch[i] = likeVersion4(op)
	}
	made, err := patch.ApplyWithOptions(a.doc, &options)
	if err != nil {
		return false
	}
	a.doc = made
	parents := map[string]bool{}
	for _, op := range ops {
		path, _ := op.Path()
		from, _ := op.From()
		for _, pointer := range []string{from, path} {
			parent := pointer[:max(0, strings.LastIndexByte(pointer, '/'))]
			if !parents[parent] {
				parents[parent] = true
				a.doc = sorted(a.doc, pointer)
			}
		}
	}
	return true
}

// version4Error returns an error of the library in the words of version 4. In version 4, a move from a missing path fails only when
// it removes the value.
func version4Error(err error, path, from string) error {
	return errors.New(strings.NewReplacer(
		"unable to remove", "Unable to remove",
		"unable to get nonexistent key", "Unable to remove nonexistent key",
		`from path: "nowhere"`, "from path: "+from,
		`from path: "`+from+`"`, "from path: "+from,
		"from path: nowhere", "from path: "+from,
		"path: nowhere", "path: "+path,
		`path: "nowhere"`, `path: "`+path+`"`,
	).Replace(err.Error()))
}

// test compares the value at the path with that of the operation.
func (a *applier) test(op jsonpatch.Operation) error {
	path, err := op.Path()
	if err != nil {
		return fmt.Errorf("test operation failed to decode path: %w", err)
	}
	have, want := object.Text(a.doc), "null"
	if value := op["value"]; value != nil {
		want = string(*value)
	}
	if path != "" {
		p, ok := find(have, path)
		switch {
		case !ok:
			return fmt.Errorf("test operation does not apply: is missing path: %s: %w", path, jsonpatch.ErrMissing)
		case p.err != nil:
			return fmt.Errorf("error in test for path: '%s': %w", path, p.err)
		}
		have = p.value
	}
	if have == "" {
		have = "null"
	}
	if !equal(have, want) {
		return fmt.Errorf("testing value %s failed: %w", path, ErrTestFailed)
	}
	a.doc = appendSorted(nil, object.Text(a.doc), split(path), appendAllSorted)
	return nil
}

// operations is the Go type that the real server reads a JSON patch into, to find repeated and unknown members.
var operations = func() *schema.Type {
	text := &schema.Type{Kind: schema.String, GoType: "string"}
	operation := schema.NewStruct("", "handlers.jsonPatchOp", []schema.Field{
		{Name: "op", Type: text}, {Name: "path", Type: text}, {Name: "from", Type: text},
		{Name: "value", Type: &schema.Type{Kind: schema.Any, GoType: "interface {}"}},
	})
	return &schema.Type{Kind: schema.List, GoType: "[]" + operation.GoType, Elem: operation}
}()

// checkOperations returns the repeated and unknown members of a JSON patch's operations, or the first error that
// decoding them into the server's struct would give.
func checkOperations(patch []byte) (strict []string, err error) {
	strict, err = codec.CheckJSON(patch, operations)
	for i, problem := range strict {
		strict[i] = "json patch " + problem
	}
	return strict, err
}

// Operations applies a JSON patch to doc as clients do, with their error texts. tested is false if a test operation failed; the
// document then stays as it is. Servers use JSON and JSONOperations.
func Operations(doc, patch []byte) (result []byte, tested bool, err error) {
	ops, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, false, err
	}
	result, err = ops.ApplyWithOptions(doc, &jsonpatch.ApplyOptions{SupportNegativeIndices: true, EscapeHTML: true,
		AccumulatedCopySizeLimit: maxCopied})
	switch {
	case errors.Is(err, jsonpatch.ErrTestFailed):
		return doc, false, nil
	case err != nil:
		return nil, false, errors.New(capitals.Replace(err.Error()))
	}
	return result, true, nil
}

// capitals turns texts of the library into those of its version 4, which the real server has.
var capitals = strings.NewReplacer("unable to remove", "Unable to remove", "unable to access", "Unable to access")
