package patch

import (
	"errors"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// Operations applies a JSON patch to doc as admission does: its errors say what is wrong. tested is false when a test
// operation failed; the document then stays as it is.
func Operations(doc, patch []byte) (result []byte, tested bool, err error) {
	ops, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, false, err
	}
	result, err = ops.ApplyWithOptions(doc, &jsonpatch.ApplyOptions{SupportNegativeIndices: true, EscapeHTML: true,
		AccumulatedCopySizeLimit: maxCopied})
	if errors.Is(err, jsonpatch.ErrTestFailed) {
		return doc, false, nil
	}
	return result, err == nil, err
}
