package registry

import (
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// observed returns the objects of a resource that is computed on each read instead of being stored (registry/core/componentstatus).
// It returns false for all other resources.
func observed(d *resource.Definition) ([]*resource.Item, bool) {
	if d.Hub.Strategy.Observe == nil {
		return nil, false
	}
	var items []*resource.Item
	for _, obj := range d.Hub.Strategy.Observe() {
		head := object.Object{"kind": d.Hub.Kind, "apiVersion": d.Hub.GV()}
		for k, v := range obj { // order does not matter: a map again
			head[k] = v
		}
		items = append(items, resource.NewItem(d.Hub, head, 0, codec.Append(nil, head, d.Hub.Layout())))
	}
	return items, true
}

// getObserved implements Get for a resource that is computed on each read. Its objects are always current, whatever revision is
// requested. If the object does not exist, it returns 404.
func getObserved(q *Request, items []*resource.Item) (*resource.Item, *status.Status) {
	for _, it := range items {
		if it.Name == q.Name {
			return it, nil
		}
	}
	kind := status.Resource{Group: q.Definition.Group, Resource: strings.ToLower(q.Definition.Kind)}
	return nil, status.NotFound(kind, q.Name)
}

// listObserved implements List for a resource that is computed on each read. The result has no revision and is a single page.
func listObserved(o ListOptions, items []*resource.Item) *Page {
	p := &Page{}
	for _, it := range items {
		if o.Matches(it) && (o.Name == "" || o.Name == it.Name) {
			p.Items = append(p.Items, it)
		}
	}
	return p
}
