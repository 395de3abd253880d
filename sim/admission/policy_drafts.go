package admission

import (
	"maps"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// drafts contains the object of one write in each version in which mutating policies match it. As in the real server,
// each version is mutated independently, and the write continues with the version that was mutated last. Changes to the
// others are lost.
//
//	object ─┬─ v1: policy a ─ policy c     dropped
//	        └─ v2: policy b ─ policy d ──▶ object
//
// Attributes.Object holds the current draft, in the hub version.
type drafts struct {
	several bool          // invocations match more than one version; otherwise Attributes.Object is the only draft
	before  object.Object // object before any mutation
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

// load makes the draft in version kind the current one and stores it in Attributes.Object.
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

// mutated records that an invocation ran on the draft in version kind. ok reports whether a mutation succeeded.
func (d *drafts) mutated(kind *resource.Definition, ok bool) {
	d.last, d.dirty[kind] = kind, d.dirty[kind] || ok
}

// finish sets Attributes.Object to the object with which the write continues. It reports whether a policy has mutated it.
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

// put replaces the contents of obj. Plugins share the object of a write with the registry, so it is modified in place.
func put(obj, contents object.Object) {
	clear(obj)
	maps.Copy(obj, contents)
}
