package celgo

import (
	"fmt"
	"iter"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// subject is a value to which rules apply.
type subject struct {
	node *node
	self any
	path field.Path
	was  *structural.Correlation // correlates the value with the old one; nil if it is new or cannot be correlated
	kept *structural.Correlation // was, or that of the innermost enclosing value that has one; nil if nothing is ratcheted
}

// all returns the value and all values within it that have rules. A value precedes the values within it, which are sorted
// by key.
func (s subject) all() iter.Seq[subject] {
	return func(yield func(subject) bool) { s.walk(true, yield) }
}

func (s subject) walk(whole bool, yield func(subject) bool) bool {
	if s.node == nil || !s.node.ruled || s.self == nil {
		return true
	}
	if !yield(s) {
		return false
	}
	switch self := s.self.(type) {
	case map[string]any:
		for _, key := range object.SortedKeys(self) {
			part := s.field(key, self[key])
			if whole && (key == "apiVersion" || key == "kind") { // conversion sets both, so changes cannot be detected
				part.kept = nil
			}
			if !part.walk(false, yield) {
				return false
			}
		}
	case []any:
		for i, v := range self {
			if !s.part(s.node.items, v, s.path.Index(i), s.was.Item(i)).walk(false, yield) {
				return false
			}
		}
	}
	return true
}

func (s subject) field(key string, v any) subject {
	if n, ok := s.node.properties[key]; ok {
		if s.node.untyped {
			n = nil
		}
		return s.part(n, v, s.path.Child(key), s.was.Field(key))
	}
	return s.part(s.node.additional, v, s.path.Key(key), s.was.Field(key))
}

func (s subject) part(n *node, v any, p field.Path, was *structural.Correlation) subject {
	part := subject{node: n, self: v, path: p, was: was, kept: was}
	if was == nil {
		part.kept = s.kept
	}
	return part
}

// variables returns the variables of rules. In always, oldSelf is the old value; it is missing if there is no old value. In
// optional, oldSelf is an optional value.
func (s subject) variables() (always, optional *variables) {
	always = &variables{self: valueOf(s.self, s.node)}
	optional = &variables{self: always.self, old: types.OptionalNone}
	if old := s.was.Old(); old != nil && s.node.usesOld {
		always.old = valueOf(old, s.node)
		optional.old = types.OptionalOf(always.old)
	}
	return always, optional
}

// invalid returns the error for a rule that cannot be evaluated.
func (s subject) invalid(format string, args ...any) *field.Error {
	return field.Invalid(s.path, s.node.kind, fmt.Sprintf(format, args...))
}

// broken returns the error for a rule that the value violates.
func (s subject) broken(text string, reason *string) *field.Error {
	value := s.self
	if s.node.kind == "object" || s.node.kind == "array" {
		value = field.Omit
	}
	if reason != nil {
		switch *reason {
		case "FieldValueForbidden":
			return field.Forbidden(s.path, text)
		case "FieldValueRequired":
			return field.Required(s.path, text)
		case "FieldValueDuplicate":
			return field.Duplicate(s.path, value)
		}
	}
	return field.Invalid(s.path, value, text)
}

// variables contains self and oldSelf of a rule.
type variables struct{ self, old ref.Val }

// ResolveName implements interpreter.Activation. It returns the value of self or oldSelf.
func (v *variables) ResolveName(name string) (any, bool) {
	switch name {
	case "self":
		return v.self, true
	case "oldSelf":
		return v.old, v.old != nil
	}
	return nil, false
}

// Parent implements interpreter.Activation. It returns nil because these variables have no enclosing scope.
func (v *variables) Parent() interpreter.Activation { return nil }
