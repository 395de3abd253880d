package registry

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// CheckTrees makes every write prove that the objects it keeps, and those kept before, are still what is stored: it
// panics when somebody has changed one. It is for tests, which set it before the first Cluster is made; reading every
// object again costs what keeping it saves.
var CheckTrees bool

// keep leaves obj beside the item that it was stored as: the next write of the object begins with it. obj must not be
// changed any more. old is what read returned for the item before, or nil: parts that are equal are shared.
func (r *Registry) keep(d *resource.Definition, it *resource.Item, old, obj object.Object) {
	obj.Set(FormatRev(it.Rev), "metadata", "resourceVersion")
	if d.Hub.Dialect != nil || !codec.Reduce(obj, old, d.Hub.Layout()) {
		return
	}
	r.kept().Keep(it, obj)
	if CheckTrees {
		checkTree(d, it)
	}
}

// kept returns the trees of the objects that were written last.
func (r *Registry) kept() *resource.Trees {
	if r.trees == nil {
		r.trees = &resource.Trees{}
	}
	return r.trees
}

// read returns the object of an item in the form in which clients' objects are read (codec.Reduce). It must not be
// changed, nor anything in it: others may have it too.
func (r *Registry) read(d *resource.Definition, it *resource.Item) object.Object {
	if tree := it.Tree(); tree != nil {
		if CheckTrees {
			checkTree(d, it)
		}
		return tree
	}
	obj := it.Object()
	codec.Reduce(obj, nil, d.Hub.Layout())
	return obj
}

// checkTree panics when the tree of an item is not its object.
func checkTree(d *resource.Definition, it *resource.Item) {
	tree, want := it.Tree(), it.Object()
	if t := d.Hub.Layout(); t != nil {
		want, _, _ = codec.DecodeJSON(it.Bytes, t)
	}
	stored := it.Object().List("metadata", "managedFields") // without what reading shares
	if !object.Equal(map[string]any(tree), map[string]any(want)) || !object.Equal(tree.List("metadata", "managedFields"), stored) {
		panic(fmt.Sprintf("registry: the object kept for %s/%s is\n%s\nwhile this is stored, so somebody has changed a shared part of it:\n%s",
			it.Namespace, it.Name, object.JSON(map[string]any(tree)), object.JSON(map[string]any(want))))
	}
}
