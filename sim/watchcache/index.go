package watchcache

import (
	"strings"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// index finds the objects in the state of a cache by the value of the kind's indexed field, resource.Strategy.Index:
//
//	spec.nodeName   ""       {default/c}
//	                node-1   {default/a, kube-system/b}
//
// It is created when it is first needed, and then updated with each commit. As in the real server, only the newest state is
// indexed; reads of older states scan all objects.
type index struct {
	def  *resource.Definition
	keys map[string]map[string]bool // keys of the objects by value of the field
}

// newIndex returns an index of the objects of kind d in a view whose keys begin with prefix.
func newIndex(d *resource.Definition, view *mvcc.View, prefix string) *index {
	x := &index{def: d, keys: map[string]map[string]bool{}}
	view.Range(prefix, "", func(kv *mvcc.KV) bool {
		x.add(indexed(d, kv), kv.Key)
		return true
	})
	return x
}

// indexed returns the value of the indexed field of an object, or "" if kv is nil or the object does not have the field.
func indexed(d *resource.Definition, kv *mvcc.KV) string {
	if kv == nil {
		return ""
	}
	return resource.ItemOf(d, kv).Field(d.Strategy.Index)
}

func (x *index) add(value, key string) {
	if x.keys[value] == nil {
		x.keys[value] = map[string]bool{}
	}
	x.keys[value][key] = true
}

// apply updates the index with a commit.
func (x *index) apply(e *mvcc.Event) {
	before, now := indexed(x.def, e.Prev), indexed(x.def, e.KV)
	if e.Prev != nil && e.KV != nil && before == now {
		return
	}
	if e.Prev != nil {
		if delete(x.keys[before], e.Key); len(x.keys[before]) == 0 {
			delete(x.keys, before)
		}
	}
	if e.KV != nil {
		x.add(now, e.Key)
	}
}

// Select yields the objects in the state of the cache whose indexed field equals value and whose keys begin with prefix. It yields
// them in key order until yield returns false. d is the definition of their kind, which must have an indexed field.
func (c *Cache) Select(d *resource.Definition, value, prefix string, yield func(*mvcc.KV) bool) {
	view := c.View().Made()
	if c.index == nil || c.index.def != d {
		c.index = newIndex(d, view, c.state.Prefix)
	}
	for _, key := range object.SortedKeys(c.index.keys[value]) {
		if strings.HasPrefix(key, prefix) && !yield(view.Get(key)) {
			return
		}
	}
}
