package kind

import (
	"slices"
	"strings"
	"sync"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Gate is a feature gate and its effects on one resource. A disabled gate drops its fields on every write unless the
// stored object uses one of them already, and rejects its enum values unless the stored object has them (API changes
// guide, "Alpha, Beta, and Stable Versions", "New enum value in existing field"). A kind may have several Gates with the
// same name.
//
//	write ──▶ drop the fields of disabled gates ──▶ the kind's own preparation ──▶ validation, then values of disabled gates
//
// Other rules that depend on a gate call resource.Context.Enabled.
type Gate struct {
	Name string // a key of features

	// Fields are dotted paths. "*" stands for all items of a list and all values of a map. If a path ends in "?", the
	// parent of the field is removed, too, if nothing else is left in it.
	Fields []string

	// Values is an enum value that is allowed only if the gate is enabled.
	Values *GatedValue

	// Defaults sets the defaults of an enabled gate, and Otherwise those of a disabled one. Either may be nil.
	Defaults, Otherwise func(obj object.Object)

	// Changed replaces Kind.Changed if the gate is enabled. If nil, the gate does not affect generations.
	Changed Changes
}

// GatedValue is an enum value at a path, which is allowed only if a gate is enabled. Allowed contains the other values.
type GatedValue struct {
	Path, Value string
	Allowed     []string
}

// obey applies the feature gates of a server to a kind. hub returns the type of the kind's objects.
func (k *Kind) obey(gates resource.Gates, hub func() *schema.Type) {
	var off []Gate
	for _, g := range k.Gates {
		if !gates[g.Name] {
			off = append(off, g)
			k.alsoDefault(g.Otherwise)
			continue
		}
		if g.Changed != nil {
			k.Changed = g.Changed
		}
		k.alsoDefault(g.Defaults)
	}
	if len(off) > 0 {
		dropDisabled(&k.Strategy, off, hub)
	}
	if slices.ContainsFunc(off, func(g Gate) bool { return g.Values != nil }) {
		k.Validate, k.ValidateStatus = refuseValues(off, k.Validate), refuseValues(off, k.rule("status"))
	}
}

// alsoDefault adds a function to the defaults of all versions. It does nothing if more is nil.
func (k *Kind) alsoDefault(more func(obj object.Object)) {
	if more == nil {
		return
	}
	all := map[string]func(object.Object){}
	for version, base := range k.Defaults {
		all[version] = func(obj object.Object) { base(obj); more(obj) }
	}
	k.Defaults = all
}

// dropDisabled makes a strategy drop the fields of disabled gates.
func dropDisabled(s *resource.Strategy, off []Gate, hub func() *schema.Type) {
	create, update := s.PrepareForCreate, s.PrepareForUpdate
	fields := sync.OnceValue(func() gatedFields { return fieldsOf(known(off, hub())) })
	s.PrepareForCreate = func(ctx *resource.Context, obj object.Object) {
		fields().drop(obj, nil)
		if create != nil {
			create(ctx, obj)
		}
	}
	s.PrepareForUpdate = func(ctx *resource.Context, obj, old object.Object) {
		fields().drop(obj, old)
		if update != nil {
			update(ctx, obj, old)
		}
	}
}

// known returns the gates in off that have fields in type t, each with only those fields. Most disabled gates only have fields in
// newer releases.
func known(off []Gate, t *schema.Type) (left []Gate) {
	for _, g := range off {
		g.Fields = slices.DeleteFunc(slices.Clone(g.Fields), func(path string) bool {
			return !has(t, strings.Split(strings.TrimSuffix(path, "?"), "."))
		})
		if len(g.Fields) > 0 {
			left = append(left, g)
		}
	}
	return left
}

// has reports whether type t has a field at the path.
func has(t *schema.Type, path []string) bool {
	if len(path) == 0 || t.Kind == schema.Any {
		return true
	}
	if path[0] == "*" {
		return t.Elem != nil && has(t.Elem, path[1:])
	}
	f := t.Field(path[0])
	return f != nil && has(f.Type, path[1:])
}

// refuseValues returns a rule that also rejects the values of disabled gates.
func refuseValues(off []Gate, rule Rule) Rule {
	return func(ctx *resource.Context, at field.Cursor) {
		if rule != nil {
			rule(ctx, at)
		}
		gatedValues(off, at)
	}
}

// gatedValues reports the values of disabled gates, unless the stored object already has them.
func gatedValues(off []Gate, at field.Cursor) {
	was := field.CursorAt(at.Old(), nil)
	for _, g := range off {
		if g.Values == nil || len(findValue(was, g.Values.Path, g.Values.Value)) > 0 {
			continue
		}
		for _, found := range findValue(at, g.Values.Path, g.Values.Value) {
			found.OneOf(g.Values.Allowed...)
		}
	}
}

// findValue returns cursors at all places that match the path and contain the string.
func findValue(at field.Cursor, path, text string) (found []field.Cursor) {
	head, rest, _ := strings.Cut(path, ".")
	switch {
	case path == "" && at.String() == text:
		found = append(found, at)
	case path == "":
	case head != "*":
		return findValue(at.Child(head), rest, text)
	default:
		for item := range at.Each() {
			found = append(found, findValue(item, rest, text)...)
		}
	}
	return found
}
