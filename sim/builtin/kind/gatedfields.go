package kind

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// gatedFields are the fields of disabled gates, as trees.
//
//	spec.containers.*.lifecycle.stopSignal?        spec ─ containers ─ * ─┬─ lifecycle ─ stopSignal
//	spec.containers.*.restartPolicyRules     ─▶                           └─ restartPolicyRules
//	status.resources                               status ─ resources
type gatedFields struct {
	all   *branch   // the fields of all gates in one tree, to search an object only once
	gates []*branch // the fields of each gate
}

// branch is a field of a disabled gate, or an ancestor of such fields.
type branch struct {
	name  string // "*" stands for all items of a list or all values of a map
	gated bool
	takes bool // the field is gated; its parent is removed, too, if nothing else is left in it
	below []*branch
}

func fieldsOf(gates []Gate) gatedFields {
	f := gatedFields{all: &branch{}}
	for _, g := range gates {
		own := &branch{}
		for _, path := range g.Fields {
			own.add(path)
			f.all.add(path)
		}
		f.gates = append(f.gates, own)
	}
	return f
}

// add adds the field at a path of Gate.Fields.
func (b *branch) add(path string) {
	path, takes := strings.CutSuffix(path, "?")
	for name := range strings.SplitSeq(path, ".") {
		b = b.child(name)
	}
	b.gated, b.takes = true, takes
}

func (b *branch) child(name string) *branch {
	i := slices.IndexFunc(b.below, func(next *branch) bool { return next.name == name })
	if i < 0 {
		i, b.below = len(b.below), append(b.below, &branch{name: name})
	}
	return b.below[i]
}

// drop removes the gated fields from obj, except those of gates whose fields old already uses.
func (f gatedFields) drop(obj, old object.Object) {
	if old == nil || !f.all.usedBelow(map[string]any(old)) {
		f.all.dropBelow(map[string]any(obj))
		return
	}
	for _, gate := range f.gates {
		if !gate.usedBelow(map[string]any(old)) {
			gate.dropBelow(map[string]any(obj))
		}
	}
}

// drop removes the field, or the fields below it, from the value that contains it. It reports whether parent is now empty
// and must be removed as well.
func (b *branch) drop(parent any) (empty bool) {
	if b.name == "*" {
		eachValue(parent, func(item any) { b.dropBelow(item) })
		return false
	}
	m, _ := parent.(map[string]any)
	switch v, had := m[b.name]; {
	case !had:
	case b.gated:
		delete(m, b.name)
		return b.takes && len(m) == 0
	case b.dropBelow(v):
		delete(m, b.name)
	}
	return false
}

func (b *branch) dropBelow(v any) (empty bool) {
	for _, next := range b.below {
		empty = next.drop(v) || empty
	}
	return empty
}

// used reports whether the field, or a field below it, is set in its parent.
func (b *branch) used(parent any) bool {
	found := false
	if b.name == "*" {
		eachValue(parent, func(item any) { found = found || b.usedBelow(item) })
		return found
	}
	m, _ := parent.(map[string]any)
	v, had := m[b.name]
	return had && (b.gated && v != nil || b.usedBelow(v))
}

func (b *branch) usedBelow(v any) bool {
	return slices.ContainsFunc(b.below, func(next *branch) bool { return next.used(v) })
}

// eachValue calls f with the items of a list or the values of a map, in unspecified order.
func eachValue(v any, f func(any)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			f(item)
		}
	case map[string]any:
		for _, item := range v { // order does not matter
			f(item)
		}
	}
}
