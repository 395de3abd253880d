package registry

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// seeded is metadata that is the server's to set, and that a test may want to be as it says.
var seeded = []string{"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"}

// Seed gives the stored object of a request what no client can: the uid, times, generation, deletion and status of obj, of which
// that is given. Nobody is asked whether that can be, but an object that is being deleted must wait for something: a real server
// has none that does not.
func (r *Registry) Seed(q *Request, obj object.Object) *status.Status {
	d := q.Definition
	it := r.asked(d, q.Namespace, q.Name)
	if it == nil {
		return status.NotFound(d.Resourced(), q.Name)
	}
	hub, s := decode(d, obj)
	if s != nil {
		return s
	}
	live := it.Object()
	for _, field := range seeded {
		if v, ok := hub.Get("metadata", field); ok && v != nil && v != "" {
			live.Set(v, "metadata", field)
		}
	}
	if state := hub.Map("status"); len(state) > 0 {
		live["status"] = state
	}
	if live.DeletionTimestamp() != "" && len(live.Finalizers()) == 0 && d.Hub.Strategy.GracePeriod == nil {
		return status.BadRequest("it has a deletionTimestamp and no finalizers: a server removes such an object at once")
	}
	if live.DeletionTimestamp() != "" {
		live.SetDefault(int64(0), "metadata", "deletionGracePeriodSeconds")
	}
	if object.Equal(map[string]any(live), map[string]any(it.Object())) {
		return nil
	}
	_, s = r.put(q, d, live)
	return s
}
