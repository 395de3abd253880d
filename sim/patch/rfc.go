package patch

import (
	"errors"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

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
