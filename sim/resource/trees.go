package resource

import "github.com/kubesim/kubesim/sim/object"

// Trees keeps the objects of the items that were written last, so that the next write of one of them need not read it
// from bytes: what is written is often written again soon.
//
//	next ─▶ slot 0: pods/a ─▶ tree     Keep gives the next slot to an item, and takes the tree
//	        slot 1: pods/b ─▶ tree     of the one that had it
//	        …
//
// The zero value is empty. It belongs to one Cluster and is used under its lock; the items may be read by others.
type Trees struct {
	items [treesMax]*Item
	next  int
}

// treesMax is how many trees are kept. One takes some ten times the memory of the printed object.
const treesMax = 64

// Keep makes obj the item's Tree. It must not be changed any more, nor anything in it.
func (t *Trees) Keep(it *Item, obj object.Object) {
	if old := t.items[t.next]; old != nil {
		old.tree.Store(nil)
	}
	it.tree.Store(&obj)
	t.items[t.next] = it
	t.next = (t.next + 1) % treesMax
}

// Tree returns the object that was kept for the item, or nil. It must not be changed, nor anything in it.
func (it *Item) Tree() object.Object {
	if tree := it.tree.Load(); tree != nil {
		return *tree
	}
	return nil
}
