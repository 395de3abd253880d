package controller

import (
	"bytes"
	"slices"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
)

// Ref names a stored object.
type Ref struct {
	Resource string // its storage name
	Key
}

// owned is who depends on whom, of all that is stored now:
//
//	uid of an owner ─▶ replicasets.apps web/api-5d8, pods web/api-5d8-x2x9k, …   in the order in which they came to it
//
// It is made when somebody first asks, and kept up by each commit from then on.
type owned struct{ byUID map[string][]Ref }

// committed keeps it up.
func (o *owned) committed(c *commit.Commit) {
	if o.byUID == nil {
		return
	}
	before, after := ownersOf(c.Before()), []string(nil)
	if !c.Deleted() {
		after = ownersOf(c.Item())
	}
	if slices.Equal(before, after) {
		return
	}
	o.move(refOf(c.Storage, c.Item()), before, after)
}

// move takes an object from those that owned it to those that do.
func (o *owned) move(ref Ref, before, after []string) {
	for _, uid := range before {
		if !slices.Contains(after, uid) {
			if left := slices.DeleteFunc(o.byUID[uid], func(r Ref) bool { return r == ref }); len(left) > 0 {
				o.byUID[uid] = left
			} else {
				delete(o.byUID, uid)
			}
		}
	}
	for _, uid := range after {
		if !slices.Contains(before, uid) {
			o.byUID[uid] = append(o.byUID[uid], ref)
		}
	}
}

// of returns what an owner has.
func (o *owned) of(uid string, view *mvcc.View, all []*resource.Definition) []Ref {
	if o.byUID == nil {
		o.byUID = map[string][]Ref{}
		seen := map[string]bool{}
		for _, d := range all {
			if seen[d.Storage] {
				continue // served in two groups
			}
			seen[d.Storage] = true
			view.Range(d.Hub.Key("", ""), "", func(kv *mvcc.KV) bool {
				it := resource.ItemOf(d.Hub, kv)
				o.move(refOf(d.Storage, it), nil, ownersOf(it))
				return true
			})
		}
	}
	return o.byUID[uid]
}

func refOf(storage string, it *resource.Item) Ref { return Ref{storage, Key{it.Namespace, it.Name}} }

// ownersOf returns the uids of the owners of an object, which may be nil.
func ownersOf(it *resource.Item) (uids []string) {
	if it == nil || !bytes.Contains(it.Bytes, []byte(`"ownerReferences":`)) {
		return nil
	}
	for _, owner := range it.Object().Objects("metadata", "ownerReferences") {
		uids = append(uids, owner.String("uid"))
	}
	return uids
}
