package registry

import (
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// decorate returns an item as clients see it if they read the main resource (resource.Strategy.Decorator). It returns nil if the
// item is nil.
func decorate(d *resource.Definition, it *resource.Item) *resource.Item {
	if it == nil || !it.Decorated {
		return it
	}
	shown, _ := d.Hub.Strategy.Decorator(it.Object())
	it = it.Reprinted(codec.Append(nil, shown, d.Hub.Layout()))
	it.Decorated = false
	return it
}

// inAnswer returns the item for the response to a request: decorated for the main resource, and as it is stored for a subresource.
func inAnswer(q *Request, it *resource.Item) *resource.Item {
	if q.Subresource != "" {
		return it
	}
	return decorate(q.Definition, it)
}

// decoratedBefore returns the old object that an update is compared with. For the main resource it is decorated, although the new
// object is not (BeginUpdate of the registry of services).
func decoratedBefore(q *Request, old object.Object) object.Object {
	decorate := q.Definition.Hub.Strategy.Decorator
	if decorate == nil || q.Subresource != "" {
		return old
	}
	shown, _ := decorate(old)
	return shown
}
