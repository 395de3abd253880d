package registry

import (
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// decorate returns an item, which may be nil, as the main resource shows it (resource.Strategy.Decorator).
func decorate(d *resource.Definition, it *resource.Item) *resource.Item {
	if it == nil || !it.Decorated {
		return it
	}
	shown, _ := d.Hub.Strategy.Decorator(it.Object())
	it = it.Reprinted(append(codec.Append(nil, shown, d.Hub.Layout()), '\n'))
	it.Decorated = false
	return it
}

// inAnswer returns the item in the answer to a request. Subresources show the stored object.
func inAnswer(q *Request, it *resource.Item) *resource.Item {
	if q.Subresource != "" {
		return it
	}
	return decorate(q.Definition, it)
}

// decoratedBefore returns the stored object of an update of the main resource as the update takes it: decorated, beside a
// new object that is not (BeginUpdate of the registry of services).
func decoratedBefore(q *Request, old object.Object) object.Object {
	decorate := q.Definition.Hub.Strategy.Decorator
	if decorate == nil || q.Subresource != "" {
		return old
	}
	shown, _ := decorate(old)
	return shown
}
