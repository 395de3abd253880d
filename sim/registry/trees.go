package registry

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// CheckTrees makes every write prove that the objects it keeps, and those kept before, are still what is stored, and that
// what it leaves out for what has not changed would have come to the same: it panics when somebody has changed one, or
// when the short way leads elsewhere. It is for tests, which set it before the first Cluster is made; reading every
// object again costs what keeping it saves.
var CheckTrees bool

// keep leaves the object of tree beside the item that it was stored as: the next write of the object begins with it. It
// must not be changed any more. old is the tree of the item before, or nil: parts that are equal are shared.
func (r *Registry) keep(d *resource.Definition, it *resource.Item, old, tree *resource.Tree) {
	tree.Object.Set(FormatRev(it.Rev), "metadata", "resourceVersion")
	var before object.Object
	if old != nil {
		before = old.Object
	}
	if d.Hub.Dialect != nil || !codec.Reduce(tree.Object, before, d.Hub.Layout()) {
		return
	}
	r.kept().Keep(it, tree)
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
		return tree.Object
	}
	obj := it.Object()
	codec.Reduce(obj, nil, d.Hub.Layout())
	return obj
}

// Printed returns the object that a PUT is about as it is stored in the version of the request, if it is kept; otherwise
// nothing.
func (r *Registry) Printed(q *Request) codec.Printed {
	d := q.Definition
	if d.Hub != d || d.Layout() == nil || !r.Backend.Reachable() {
		return codec.Printed{}
	}
	it := r.stored(d, q.Namespace, q.Name)
	p := printed(it)
	p.Share = p.Object != nil && q.Subresource == "" && it.Settled(d) && d.SharesUnchanged()
	return p
}

// printed returns the tree of an item, which may be nil, with its bytes; nothing if there is none.
func printed(it *resource.Item) codec.Printed {
	if it != nil {
		if tree := it.Tree(); tree != nil {
			return codec.Printed{Object: tree.Object, Text: it.Bytes, Parts: tree.Parts}
		}
	}
	return codec.Printed{}
}

// checkTree panics when the tree of an item is not its object.
func checkTree(d *resource.Definition, it *resource.Item) {
	tree, want := it.Tree().Object, it.Object()
	if t := d.Hub.Layout(); t != nil {
		want, _, _ = codec.DecodeJSON(it.Bytes, t)
	}
	stored := it.Object().List("metadata", "managedFields") // without what reading shares
	if !object.Equal(map[string]any(tree), map[string]any(want)) || !object.Equal(tree.List("metadata", "managedFields"), stored) {
		panic(fmt.Sprintf("registry: the object kept for %s/%s is\n%s\nwhile this is stored, so somebody has changed a shared part of it:\n%s",
			it.Namespace, it.Name, object.JSON(map[string]any(tree)), object.JSON(map[string]any(want))))
	}
	for _, p := range it.Tree().Parts {
		text := it.Bytes[p.Start:p.End]
		part, err := object.ParseValue(text)
		if is, _ := it.Object().Get(strings.Split(p.Name, ".")...); err != nil || !object.Equal(part, object.Plain(is)) {
			panic(fmt.Sprintf("registry: of %s/%s, %s is thought to be\n%s\nin\n%s", it.Namespace, it.Name, p.Name, text, it.Bytes))
		}
	}
}

// share gives obj the top-level fields of old that are equal, metadata aside: what compares, prints or keeps the two
// afterwards sees at once that nothing has changed. Nobody may change these fields of obj any more.
func share(obj, old object.Object) {
	for name, v := range obj { // order does not matter
		if m, ok := v.(map[string]any); ok && name != "metadata" && object.Equal(m, old[name]) {
			obj[name] = old[name]
		}
	}
}

// unchanged reports whether an update left all as it was that Context.Settled speaks of.
func unchanged(obj, old object.Object) bool {
	return object.Equal(obj["spec"], old["spec"]) &&
		object.Equal(obj.Metadata()["annotations"], old.Metadata()["annotations"])
}

// checkPrinted panics when text is not what obj is printed as.
func checkPrinted(d *resource.Definition, obj object.Object, text []byte) {
	if want := codec.Append(nil, obj, d.Hub.Layout()); !bytes.Equal(text, want) {
		panic(fmt.Sprintf("registry: printed with parts of what was stored before:\n%s\nprinted anew:\n%s", text, want))
	}
}

// checkSettled panics when an update for which Settled is set is not as valid without it.
func checkSettled(ctx *resource.Context, obj, old object.Object) {
	validate := ctx.Definition.Hub.Strategy.ValidateUpdate
	if validate == nil {
		return
	}
	whole := *ctx
	whole.Settled, whole.Warn = false, func(string) {}
	if got, want := validate(ctx, obj, old), validate(&whole, obj, old); !reflect.DeepEqual(got, want) {
		panic(fmt.Sprintf("registry: validation of a settled object finds\n%v\nand of the whole object\n%v", got, want))
	}
}
