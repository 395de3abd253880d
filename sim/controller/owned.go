package controller

import (
	"bytes"
	"cmp"
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

// ownerIndex indexes all stored objects by owner:
//
//	uid of an owner ─▶ replicasets.apps web/api-5d8, pods web/api-5d8-x2x9k, …   in the order in which they were created
//	pods/web        ─▶ pods web/debug, …                                         the pods of web that have no owner
//
// It is built at the first use, and updated by each commit from then on. Its contents depend only on the store, not on when it was
// built, so a fork starts without one.
type ownerIndex struct {
	byOwner map[string]*dependents
	leaving *commit.Commit // a deletion while controllers are notified of it, which still find the deleted object
}

// dependents are those of one owner, and the revisions that created them. Removed ones leave gaps, which are closed when the
// dependents are read, or are more than half.
type dependents struct {
	refs []Ref    // a gap is the zero value
	made []uint64 // ascending
	gaps int
	read bool // refs is in use by a reader, and is copied before a change
}

// add adds an object, which is most often the newest.
func (d *dependents) add(ref Ref, made uint64) {
	n, found := slices.BinarySearch(d.made, made)
	if n < len(d.made) {
		d.own()
	}
	if found { // it was removed before
		d.refs[n] = ref
		d.gaps--
		return
	}
	d.refs, d.made = slices.Insert(d.refs, n, ref), slices.Insert(d.made, n, made)
}

// remove takes an object out.
func (d *dependents) remove(made uint64) {
	if n, found := slices.BinarySearch(d.made, made); found && d.refs[n] != (Ref{}) {
		d.own()
		d.refs[n] = Ref{}
		if d.gaps++; d.gaps > len(d.refs)/2 {
			d.close()
		}
	}
}

// own makes sure that a change of refs is not visible to readers.
func (d *dependents) own() {
	if d.read {
		d.refs, d.read = slices.Clone(d.refs), false
	}
}

// close closes the gaps.
func (d *dependents) close() {
	left := len(d.refs) - d.gaps
	refs, made := make([]Ref, 0, left), make([]uint64, 0, left)
	for i, ref := range d.refs {
		if ref != (Ref{}) {
			refs, made = append(refs, ref), append(made, d.made[i])
		}
	}
	d.refs, d.made, d.gaps, d.read = refs, made, 0, false
}

// all returns the dependents.
func (d *dependents) all() []Ref {
	if d.gaps > 0 {
		d.close()
	}
	d.read = true
	return d.refs
}

// leaves is called before controllers are notified of a deletion, and committed after that.
func (o *ownerIndex) leaves(c *commit.Commit) { o.leaving = c }

// committed keeps it up.
func (o *ownerIndex) committed(c *commit.Commit) {
	o.leaving = nil
	if o.byOwner == nil {
		return
	}
	before, after := ownersOf(c.Storage, c.Before()), []string(nil)
	if !c.Deleted() {
		after = ownersOf(c.Storage, c.Item())
	}
	if !slices.Equal(before, after) {
		o.move(refOf(c.Storage, c.Item()), createdAt(c), before, after)
	}
}

// createdAt is the revision that created the object of a commit.
func createdAt(c *commit.Commit) uint64 { return cmp.Or(c.KV, c.Prev).CreateRev }

// move moves an object from its owners before a commit to its owners after it.
func (o *ownerIndex) move(ref Ref, made uint64, before, after []string) {
	for _, uid := range before {
		if d := o.byOwner[uid]; d != nil && !slices.Contains(after, uid) {
			if d.remove(made); len(d.refs) == d.gaps {
				delete(o.byOwner, uid)
			}
		}
	}
	for _, uid := range after {
		if !slices.Contains(before, uid) {
			if o.byOwner[uid] == nil {
				o.byOwner[uid] = &dependents{}
			}
			o.byOwner[uid].add(ref, made)
		}
	}
}

// of returns the dependents of an owner.
func (o *ownerIndex) of(uid string, view *mvcc.View, all []*resource.Definition) []Ref {
	if o.byOwner == nil {
		o.make(view, all)
	}
	if d := o.byOwner[uid]; d != nil {
		return d.all()
	}
	return nil
}

// make builds the index from the store.
func (o *ownerIndex) make(view *mvcc.View, all []*resource.Definition) {
	o.byOwner = map[string]*dependents{}
	seen := map[string]bool{}
	for _, d := range all {
		if !seen[d.Storage] { // else it is served in two groups
			seen[d.Storage] = true
			o.add(d.Hub, view)
		}
	}
	if c := o.leaving; c != nil && c.Definition != nil {
		o.move(refOf(c.Storage, c.Item()), createdAt(c), nil, ownersOf(c.Storage, c.Item()))
	}
}

// add adds the objects of a resource.
func (o *ownerIndex) add(d *resource.Definition, view *mvcc.View) {
	var found []*mvcc.KV
	view.Range(d.Key("", ""), "", func(kv *mvcc.KV) bool {
		found = append(found, kv)
		return true
	})
	slices.SortFunc(found, func(a, b *mvcc.KV) int { return cmp.Compare(a.CreateRev, b.CreateRev) })
	for _, kv := range found {
		it := resource.ItemOf(d, kv)
		o.move(refOf(d.Storage, it), kv.CreateRev, nil, ownersOf(d.Storage, it))
	}
}

func refOf(storage string, it *resource.Item) Ref { return Ref{storage, Key{it.Namespace, it.Name}} }

// ownersOf returns the keys of an object, which may be nil, in byOwner: the uids of its owners, or its resource and namespace if it
// has none. Events without an owner, of which there are more than of anything else and which no controller looks for, have no key.
func ownersOf(storage string, it *resource.Item) (uids []string) {
	switch {
	case it == nil:
		return nil
	case !bytes.Contains(it.Bytes, []byte(`"ownerReferences":`)):
		if storage == events {
			return nil
		}
		return []string{storage + "/" + it.Namespace}
	}
	for _, owner := range it.Shared().Objects("metadata", "ownerReferences") {
		uids = append(uids, owner.String("uid"))
	}
	return uids
}
