package patch

import (
	"bytes"
	"encoding/json"
)

// equal reports whether two JSON values are the same for the test operation: objects whatever the order of their keys,
// scalars by how they are written, so that 1 and 1.0 differ.
func equal(a, b json.RawMessage) bool {
	switch {
	case isArray(a) && isArray(b):
		var x, y []json.RawMessage
		if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case isContainer(a) && isContainer(b):
		var x, y map[string]json.RawMessage
		if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil || len(x) != len(y) {
			return false
		}
		for key, v := range x { // order does not matter
			if w, ok := y[key]; !ok || !equal(v, w) {
				return false
			}
		}
		return true
	}
	return bytes.Equal(bytes.TrimSpace(a), bytes.TrimSpace(b))
}
