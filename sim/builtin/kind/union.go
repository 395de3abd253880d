package kind

import (
	"slices"

	"github.com/kubesim/kubesim/sim/field"
)

// Pinned checks that an update neither sets nor clears a struct (validate.NoSet, validate.NoUnset). It returns false if the struct
// is not set or the update sets it, so that its members need not be checked.
func Pinned(at field.Cursor) bool {
	is, was := at.Has(), at.Old() != nil
	switch {
	case !at.Updates() || is == was:
		return is
	case was:
		at.Invalid(nil, "field cannot be cleared once set")
	default:
		at.Invalid(nil, "field cannot be set once created")
	}
	return false
}

// Frozen reports a field that an update must not change (validate.Immutable) if changed is true.
func Frozen(at field.Cursor, changed bool) {
	if changed {
		at.Invalid(nil, field.TextImmutable)
	}
}

// Differs reports whether an update sets or clears a struct or one of its members.
func Differs(at field.Cursor, members ...string) bool {
	old := at.Old()
	return at.Has() != (old != nil) || slices.ContainsFunc(members, func(name string) bool { return at.Has(name) != old.Has(name) })
}
