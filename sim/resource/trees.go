package resource

import "github.com/kubesim/kubesim/sim/object"

// Tree is the object of an item, and where its parts stand in the item's Bytes.
type Tree struct {
	Object object.Object // must not be changed, nor anything in it
	Parts  []Part
}

// Part is the value of a field in a printed object. Fields at the top are named as they are; ManagedFields is one below.
type Part struct {
	Name       string
	Start, End int // offsets in bytes
}

// Shift moves the parts by n bytes.
func (t *Tree) Shift(n int) {
	for i := range t.Parts {
		t.Parts[i].Start += n
		t.Parts[i].End += n
	}
}

// ManagedFields is the name of the Part that metadata.managedFields are.
const ManagedFields = "metadata.managedFields"

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

// Keep makes tree the item's Tree.
func (t *Trees) Keep(it *Item, tree *Tree) {
	if old := t.items[t.next]; old != nil {
		old.tree.Store(nil)
	}
	it.tree.Store(tree)
	t.items[t.next] = it
	t.next = (t.next + 1) % treesMax
}

// Tree returns the tree that was kept for the item, or nil.
func (it *Item) Tree() *Tree { return it.tree.Load() }

// Settle notes that hub's ValidateUpdate has found nothing wrong with the item's object on an update of the main
// resource that changed neither spec nor annotations.
func (it *Item) Settle(hub *Definition) { it.settled.Store(hub) }

// Settled reports whether Settle was called for hub.
func (it *Item) Settled(hub *Definition) bool { return it.settled.Load() == hub }
