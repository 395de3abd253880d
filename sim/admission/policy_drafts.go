package admission

import (
	"maps"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// drafts are the object of one write in the versions in which mutating policies match it. As in the real server each version is
// changed on its own, and the write continues with the version that was mutated last: changes in the others are lost.
//
//	object ─┬─ v1: policy a ─ policy c     dropped
//	        └─ v2: policy b ─ policy d ──▶ object
//
// Attributes.Object holds the current draft, in the hub version.
type drafts struct {
	several bool          // invocations match more than one version; otherwise Attributes.Object is the only draft
	before  object.Object // before any mutation
	states  map[*resource.Definition]object.Object
	current *resource.Definition // the version of the draft in Attributes.Object
	last    *resource.Definition // the version of the last invocation that ran, or nil
	dirty   map[*resource.Definition]bool
}

func newDrafts(a *Attributes, list []*invocation) *drafts {
	d := &drafts{current: list[0].kind, dirty: map[*resource.Definition]bool{}}
	d.several = a.Object != nil && slices.ContainsFunc(list, func(i *invocation) bool { return i.kind != d.current })
	if d.several {
		d.before, d.states = a.Object.Copy(), map[*resource.Definition]object.Object{}
	}
	return d
}

// load makes Attributes.Object the draft of a version.
func (d *drafts) load(a *Attributes, kind *resource.Definition) {
	if !d.several || kind == d.current {
		return
	}
	d.states[d.current] = a.Object.Copy()
	next := d.states[kind]
	if next == nil {
		next = d.before.Copy()
	}
	d.current = kind
	put(a.Object, next)
}

// mutated notes that an invocation ran on the draft of a version, and whether a mutation succeeded.
func (d *drafts) mutated(kind *resource.Definition, ok bool) {
	d.last, d.dirty[kind] = kind, d.dirty[kind] || ok
}

// finish sets Attributes.Object to the object with which the write continues, and reports whether that is a mutated draft.
func (d *drafts) finish(a *Attributes) bool {
	if d.last == nil || !d.dirty[d.last] {
		if d.several {
			put(a.Object, d.before)
		}
		return false
	}
	d.load(a, d.last)
	return true
}

// put gives obj the contents of another object: plugins share a write's object with the registry.
func put(obj, contents object.Object) {
	clear(obj)
	maps.Copy(obj, contents)
}
