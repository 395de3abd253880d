package patch

import (
	"encoding/json"

	"github.com/kubesim/kubesim/sim/status"
)

// Merge applies a JSON merge patch (RFC 7386) to doc: null deletes, objects are merged, everything else replaces.
func Merge(doc, patch []byte, level Level) (result []byte, strict []string, s *status.Status) {
	if level != Ignore {
		var err error
		if _, strict, err = readObject(patch); err != nil {
			return nil, nil, status.BadRequest("error decoding patch: %v", err)
		}
	}
	if !json.Valid(patch) {
		return nil, nil, badMerge()
	}
	n, change := readDocument(doc, true), readDocument(patch, false)
	switch {
	case change == nil || n == nil:
		return nil, nil, badMerge()
	case change.form == asArray:
		change.dropNulls()
		n = change
	default:
		n.merge(change)
	}
	return n.append(make([]byte, 0, len(doc)+len(patch))), strict, nil
}

func badMerge() *status.Status { return status.BadRequest("Invalid JSON Patch") }
