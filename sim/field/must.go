package field

import "slices"

// MustBeOneOf reports a value that is not among the allowed ones.
func MustBeOneOf(p Path, value string, allowed ...string) ErrorList {
	if slices.Contains(allowed, value) {
		return nil
	}
	return ErrorList{NotSupported(p, Enum(value), allowed...)}
}
