package patch

import (
	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/kubesim/kubesim/sim/status"
)

// Merge applies a JSON merge patch (RFC 7386) to doc: null deletes, objects are merged, everything else replaces.
func Merge(doc, patch []byte, level Level) (result []byte, strict []string, s *status.Status) {
	m, strict, err := readObject(patch)
	if level == Ignore {
		strict = nil
		if !isContainer(patch) || m == nil && !isArray(patch) {
			return nil, nil, badMerge()
		}
	} else if err != nil {
		return nil, nil, status.BadRequest("error decoding patch: %v", err)
	} else if m == nil {
		return nil, nil, badMerge()
	}
	result, err = jsonpatch.MergePatch(doc, patch)
	if err != nil {
		return nil, nil, badMerge()
	}
	marks := &opened{}
	marks.openMerged(m)
	if isArray(patch) {
		marks.all = true
	}
	return marks.reorder(result), strict, nil
}

func badMerge() *status.Status { return status.BadRequest("Invalid JSON Patch") }
