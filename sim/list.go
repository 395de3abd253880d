package sim

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// ListAt returns the stored objects of a resource at a revision (0 is the newest), sorted by key, without a request. A namespace or
// name other than "" restricts the result. The objects are in the hub version of d. If the revision is compacted or in the future,
// ListAt returns an error.
func (c *Cluster) ListAt(d *resource.Definition, namespace, name string, rev uint64) (all []object.Object, err error) {
	c.do(func() { all, err = c.listAtLocked(d, namespace, name, rev) })
	return all, err
}

// ListFirstAt is like ListAt, but returns only the first objects whose names begin with prefix, and the number of all such objects.
// most is the maximum number of objects. Only the returned objects are decoded. If the revision is compacted or in the future, it
// returns an error.
func (c *Cluster) ListFirstAt(d *resource.Definition, namespace, prefix string, most int, rev uint64) (first []object.Object, all int, err error) {
	c.do(func() {
		view, at := c.log.Store.At(rev)
		if err = at; err != nil {
			return
		}
		within := d.Key(namespace, "")
		if prefix != "" && (namespace != "" || !d.Namespaced) {
			within = d.Key(namespace, prefix)
		}
		view.Range(within, "", func(kv *mvcc.KV) bool {
			it := resource.ItemOf(d.Hub, kv)
			if !strings.HasPrefix(it.Name, prefix) {
				return true
			}
			if all++; all <= most {
				first = append(first, it.Object())
			}
			return true
		})
	})
	return first, all, err
}

func (c *Cluster) listAtLocked(d *resource.Definition, namespace, name string, rev uint64) ([]object.Object, error) {
	view, err := c.log.Store.At(rev)
	if err != nil {
		return nil, fmt.Errorf("revision %d: %w", rev, err)
	}
	var out []object.Object
	take := func(kv *mvcc.KV) {
		it := resource.ItemOf(d.Hub, kv)
		if name == "" || it.Name == name {
			out = append(out, it.Object())
		}
	}
	if name != "" && (namespace != "" || !d.Namespaced) {
		if kv := view.Get(d.Key(namespace, name)); kv != nil {
			take(kv)
		}
		return out, nil
	}
	view.Range(d.Key(namespace, ""), "", func(kv *mvcc.KV) bool {
		take(kv)
		return true
	})
	return out, nil
}
