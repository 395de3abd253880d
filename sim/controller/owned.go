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
//	pods/web        ─▶ pods web/debug, …                                         the pods of web that have no owner
//
// It is made when somebody first asks, and kept up by each commit from then on.
type owned struct{ byOwner map[string][]Ref }

// committed keeps it up.
func (o *owned) committed(c *commit.Commit) {
	if o.byOwner == nil {
		return
	}
	before, after := ownersOf(c.Storage, c.Before()), []string(nil)
	if !c.Deleted() {
		after = ownersOf(c.Storage, c.Item())
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
			if left := slices.DeleteFunc(o.byOwner[uid], func(r Ref) bool { return r == ref }); len(left) > 0 {
				o.byOwner[uid] = left
			} else {
				delete(o.byOwner, uid)
			}
		}
	}
	for _, uid := range after {
		if !slices.Contains(before, uid) {
			o.byOwner[uid] = append(o.byOwner[uid], ref)
		}
	}
}

// of returns what an owner has.
func (o *owned) of(uid string, view *mvcc.View, all []*resource.Definition) []Ref {
	if o.byOwner == nil {
		o.byOwner = map[string][]Ref{}
		seen := map[string]bool{}
		for _, d := range all {
			if !seen[d.Storage] { // else it is served in two groups
				seen[d.Storage] = true
				o.add(d.Hub, view)
			}
		}
	}
	return o.byOwner[uid]
}

// add adds the objects of a resource.
func (o *owned) add(d *resource.Definition, view *mvcc.View) {
	view.Range(d.Key("", ""), "", func(kv *mvcc.KV) bool {
		it := resource.ItemOf(d, kv)
		o.move(refOf(d.Storage, it), nil, ownersOf(d.Storage, it))
		return true
	})
}

func refOf(storage string, it *resource.Item) Ref { return Ref{storage, Key{it.Namespace, it.Name}} }

// ownersOf returns under what an object, which may be nil, is found: the uids of its owners.
func ownersOf(storage string, it *resource.Item) (uids []string) {
	switch {
	case it == nil:
		return nil
	case !bytes.Contains(it.Bytes, []byte(`"ownerReferences":`)):
		return []string{storage + "/" + it.Namespace}
	}
	for _, owner := range it.Shared().Objects("metadata", "ownerReferences") {
		uids = append(uids, owner.String("uid"))
	}
	return uids
}
