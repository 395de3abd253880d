package field

import "slices"

// MustBeSet reports an empty string as a missing value.
func MustBeSet(p Path, value string) ErrorList {
	if value == "" {
		return ErrorList{Required(p, "")}
	}
	return nil
}

// MustBeOneOf reports a value that is not among the allowed ones.
func MustBeOneOf(p Path, value string, allowed ...string) ErrorList {
	if slices.Contains(allowed, value) {
		return nil
	}
	return ErrorList{NotSupported(p, Enum(value), allowed...)}
}

// MustBeSetToOneOf reports a missing value, or one that is not among the allowed ones.
func MustBeSetToOneOf(p Path, value string, allowed ...string) ErrorList {
	if value == "" {
		return MustBeSet(p, value)
	}
	return MustBeOneOf(p, value, allowed...)
}
