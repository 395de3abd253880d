package patch

import (
	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// Merge applies a JSON merge patch (RFC 7386) to doc: null deletes, objects are merged, everything else replaces.
func Merge(doc, patch []byte, level Level) (result []byte, strict []string, s *status.Status) {
	if level != Ignore {
		var err error
		if _, strict, err = codec.DecodeJSON(patch, nil); err != nil {
			return nil, nil, status.BadRequest("error decoding patch: %v", err)
		}
	}
	change := json.Scanner{Text: object.Text(patch)}
	made, err := jsonpatch.MergePatch(doc, patch)
	switch c := change.Next(); {
	case err != nil || c != '{' && c != '[': // the library takes anything else, too
		return nil, nil, status.BadRequest("Invalid JSON Patch")
	case c == '[':
		return appendAllSorted(nil, object.Text(made)), strict, nil
	}
	return appendMerged(make([]byte, 0, len(made)), object.Text(made), object.Text(doc), change.Text), strict, nil
}

// appendMerged prints an object that a patch made of another with sorted keys wherever the patch looked: the real server does so, and
// the library adds keys in the order of a Go map.
func appendMerged(dst []byte, made, doc, patch string) []byte {
	had, changes := members(doc), members(patch)
	return appendObject(dst, members(made), func(dst []byte, key, value string) []byte {
		change, named := changes[key]
		switch {
		case named && !isObject(had[key]):
			return appendAllSorted(dst, value)
		case isObject(change):
			return appendMerged(dst, value, had[key], change)
		}
		return append(dst, value...)
	})
}
