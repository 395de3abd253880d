package controller

import (
	"cmp"
	"slices"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
)

// Ref identifies a stored object.
type Ref struct {
	Resource string // the resource's storage name
	Key
}

// ownerIndex indexes all stored objects by owner, and the objects of some resources by a field (resource.Strategy.Index):
//
//	UID of an owner ─▶ replicasets.apps web/api-5d8, pods web/api-5d8-x2x9k, …   sorted by creation
//	pods/web        ─▶ pods web/debug, …                                         the pods in web without a controller
//	pods=node-7     ─▶ pods web/api-5d8-x2x9k, …                                 the pods of a node
//
// It is built on first use and updated by each commit from then on. Its contents depend only on the store, not on when it was
// built, so a fork starts without an index.
type ownerIndex struct {
	byOwner map[string]*dependents
	leaving *commit.Commit // a deletion of which controllers are being notified; they still find the deleted object
}

// dependents holds the dependents of an owner and the revisions that created them. A removed dependent leaves a gap. Gaps are
// closed when the dependents are read, or when there are more gaps than dependents.
type dependents struct {
	refs []Ref    // a gap is the zero value
	made []uint64 // revisions that created refs, ascending
	gaps int
	read bool // a reader uses refs, which must be copied before a change
}

// add adds an object that was created at revision made, usually the newest one.
func (d *dependents) add(ref Ref, made uint64) {
	n, found := slices.BinarySearch(d.made, made)
	if n < len(d.made) {
		d.own()
	}
	if found { // the object was removed earlier and left a gap
		d.refs[n] = ref
		d.gaps--
		return
	}
	d.refs, d.made = slices.Insert(d.refs, n, ref), slices.Insert(d.made, n, made)
}

// remove removes the object that was created at revision made. It leaves a gap.
func (d *dependents) remove(made uint64) {
	if n, found := slices.BinarySearch(d.made, made); found && d.refs[n] != (Ref{}) {
		d.own()
		d.refs[n] = Ref{}
		if d.gaps++; d.gaps > len(d.refs)/2 {
			d.close()
		}
	}
}

// own copies refs before a change if a reader uses them.
func (d *dependents) own() {
	if d.read {
		d.refs, d.read = slices.Clone(d.refs), false
	}
}

// close removes the gaps.
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

// all returns the dependents without gaps. The caller must not change the result.
func (d *dependents) all() []Ref {
	if d.gaps > 0 {
		d.close()
	}
	d.read = true
	return d.refs
}

// leaves records a deletion before controllers are notified of it. committed must be called afterwards.
func (o *ownerIndex) leaves(c *commit.Commit) { o.leaving = c }

// committed updates the index after a commit.
func (o *ownerIndex) committed(c *commit.Commit) {
	o.leaving = nil
	if o.byOwner == nil {
		return
	}
	before, after := keysOf(c.Definition, c.Storage, c.Before()), []string(nil)
	if !c.Deleted() {
		after = keysOf(c.Definition, c.Storage, c.Item())
	}
	if !slices.Equal(before, after) {
		o.move(refOf(c.Storage, c.Item()), createdAt(c), before, after)
	}
}

// createdAt returns the revision that created the object of a commit.
func createdAt(c *commit.Commit) uint64 { return cmp.Or(c.KV, c.Prev).CreateRev }

// move moves an object in the index from its keys before a commit to its keys after it. made is the revision that created it.
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

// of returns the dependents of the owner with the UID. It builds the index if necessary, from view and the resources of server.
func (o *ownerIndex) of(uid string, view *mvcc.View, server Server) []Ref {
	if o.byOwner == nil {
		o.make(view, server.Resources())
	}
	if d := o.byOwner[uid]; d != nil {
		return d.all()
	}
	return nil
}

// make builds the index from a view of the store.
func (o *ownerIndex) make(view *mvcc.View, all []*resource.Definition) {
	o.byOwner = map[string]*dependents{}
	seen := map[string]bool{}
	for _, d := range all {
		if !seen[d.Storage] { // false if the resource is served in two groups and was already added
			seen[d.Storage] = true
			o.add(d.Hub, view)
		}
	}
	if c := o.leaving; c != nil && c.Definition != nil {
		o.move(refOf(c.Storage, c.Item()), createdAt(c), nil, keysOf(c.Definition, c.Storage, c.Item()))
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
		o.move(refOf(d.Storage, it), kv.CreateRev, nil, keysOf(d, d.Storage, it))
	}
}

func refOf(storage string, it *resource.Item) Ref { return Ref{storage, Key{it.Namespace, it.Name}} }

// keysOf returns the keys of an object in byOwner. The object and its definition d may be nil.
func keysOf(d *resource.Definition, storage string, it *resource.Item) []string {
	keys := ownersOf(storage, it)
	if it != nil && d != nil && d.Hub.Strategy.Index != "" {
		if value := it.Field(d.Hub.Strategy.Index); value != "" {
			keys = append(keys, indexKey(storage, value))
		}
	}
	return keys
}

// indexKey returns the key in byOwner of the objects of a resource whose indexed field has the given value.
func indexKey(storage, value string) string { return storage + "=" + value }

// ownersOf returns the keys of an object in byOwner: the UIDs of its owners and, if none of them is its controller, its
// resource and namespace (controller.PodControllerIndex). it may be nil. Events without an owner have no key, because they are
// the most numerous objects and no controller looks for them.
func ownersOf(storage string, it *resource.Item) (uids []string) {
	switch {
	case it == nil:
		return nil
	case !it.Owned():
		if storage == events {
			return nil
		}
		return []string{storage + "/" + it.Namespace}
	}
	controlled := false
	for _, owner := range it.Shared().Objects("metadata", "ownerReferences") {
		uids = append(uids, owner.String("uid"))
		controlled = controlled || owner.True("controller")
	}
	if !controlled {
		uids = append(uids, storage+"/"+it.Namespace)
	}
	return uids
}
