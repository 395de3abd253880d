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
	maxCopied     = 3 << 20 // bytes that copy operations may add
)

// JSON applies a JSON patch to doc like a PATCH request. If an operation fails, it returns a 422, which is the same for all
// failures.
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

// ErrTestFailed is the error of a test operation that finds a different value.
var ErrTestFailed = jsonpatch.ErrTestFailed

// ReadOperations decodes a patch without validating its operations. If the patch is null, there are no operations. It returns an
// error if the patch is not an array of objects.
func ReadOperations(patch []byte) (JSONOperations, error) {
	var ops jsonpatch.Patch
	err := json.Unmarshal(patch, &ops)
	return JSONOperations(ops), err
}

// Apply applies the operations in order to doc, which must be an object.
//
// The real server uses version 4 of the library. Apply compensates for the differences of version 5, which the recorded cases of
// the area patch contain.
//
//	version 4                                                  version 5             case
//	replace sets a missing key of an object                    rejects it            json-patch-failures
//	copy treats a missing key of an object as null             rejects it            json-patches-against-pods-and-status
//	"" is a missing path, except for replace and test          is the document       json-patches-against-pods-and-status
//	sorts the keys of objects on the path                      keeps their order     json-patch-printed
//	test compares the text of scalars                          compares values       json-patch-tests-of-texts
//
// Version 5 panics if test encounters null in a list, and for replace and test of "" without a value. Version 4 panics, too, so
// that clients get no response. Here such operations fail.
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

// applier applies operations to a document.
type applier struct {
	doc    []byte
	copied int64 // bytes added by copy operations
}

var options = jsonpatch.ApplyOptions{SupportNegativeIndices: true, EscapeHTML: true}

// apply applies a single operation. Results and errors are those of version 4 of the library, which the API server uses.
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

// parts contains the members of an operation, for use in other operations. Its path does not exist in any document.
var parts = func() (op jsonpatch.Operation) {
	if err := json.Unmarshal([]byte(`{"op":"add","path":"nowhere","value":null}`), &op); err != nil {
		panic(err)
	}
	return op
}()

// likeVersion4 returns an operation that has the same effect in version 5 of the library as op has in version 4. It handles the
// differences that do not depend on the document.
func likeVersion4(op jsonpatch.Operation) jsonpatch.Operation {
	op = maps.Clone(op)
	path, err := op.Path()
	switch {
	case err != nil:
	case path == "" && op.Kind() == "replace":
		if op["value"] == nil {
			op["value"] = parts["path"] // a value that is neither an object nor an array
		}
	case leadsNowhere(path):
		op["path"] = parts["path"]
	}
	if from, err := op.From(); err == nil && leadsNowhere(from) {
		op["from"] = parts["path"]
	}
	return op
}

// leadsNowhere reports whether a pointer refers to the whole document, or begins with the key "", which no object contains.
func leadsNowhere(pointer string) bool { return pointer == "" || strings.HasPrefix(pointer, "//") }

// lacks reports whether a pointer refers to a key that is missing in an existing object.
func (a *applier) lacks(pointer string) bool {
	p, ok := find(object.Text(a.doc), pointer)
	return ok && p.value == "" && p.err == nil
}

// isSingle reports whether an operation must be applied separately, because its handling depends on the document.
func isSingle(op jsonpatch.Operation) bool {
	kind := op.Kind()
	return kind == "test" || kind == "copy"
}

// together applies several operations at once, so that the library parses the document only once. If one of them fails, together
// changes nothing and returns false. The caller must then call apply for each operation. apply returns the error, or handles a case
// that succeeds only in version 4.
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

// version4Error converts an error of the library to the one that version 4 returns. In version 4, a move from a missing path does
// not fail until the value is removed.
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

// test implements the test operation: it compares the value at the path with the value in the operation.
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

// operations is the Go type into which the real server decodes a JSON patch to find repeated and unknown members.
var operations = func() *schema.Type {
	text := &schema.Type{Kind: schema.String, GoType: "string"}
	operation := schema.NewStruct("", "handlers.jsonPatchOp", []schema.Field{
		{Name: "op", Type: text}, {Name: "path", Type: text}, {Name: "from", Type: text},
		{Name: "value", Type: &schema.Type{Kind: schema.Any, GoType: "interface {}"}},
	})
	return &schema.Type{Kind: schema.List, GoType: "[]" + operation.GoType, Elem: operation}
}()

// checkOperations returns the repeated and unknown members of a JSON patch's operations. If the patch cannot be decoded into the
// server's struct, it returns an error.
func checkOperations(patch []byte) (strict []string, err error) {
	strict, err = codec.CheckJSON(patch, operations)
	for i, problem := range strict {
		strict[i] = "json patch " + problem
	}
	return strict, err
}

// Operations applies a JSON patch to doc the way clients do. Its errors are those of the clients. If a test operation fails, tested
// is false and doc is unchanged. Servers use JSON and JSONOperations instead.
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

// capitals converts the error texts of the library to those of version 4, which the real server uses.
var capitals = strings.NewReplacer("unable to remove", "Unable to remove", "unable to access", "Unable to access")
