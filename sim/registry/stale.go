package registry

import (
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// staleAttempts is the number of attempts for a write whose object is written by another request while a webhook is called.
const staleAttempts = 5

// stale reports that a write has to be retried. It is never sent to a client.
var stale = &status.Status{Message: "the object was written by somebody else"}

// hasChanged reports whether an object has changed since item was read. Admission webhooks are called without the Cluster's lock,
// so other requests may write meanwhile.
func (r *Registry) hasChanged(d *resource.Definition, item *resource.Item) bool {
	if !r.Backend.Reachable() {
		return false // nothing will be written
	}
	kv, err := r.Backend.Store().Get(d.KeyOf(item), 0)
	return err != nil || kv == nil || kv.ModRev != item.Rev
}

// retryOnConflict calls write until it returns something other than stale, at most staleAttempts times. If may is false, it calls
// write only once. If write still returns stale, the result is a conflict.
func retryOnConflict(q *Request, may bool, write func() (*Result, *status.Status)) (*Result, *status.Status) {
	for range staleAttempts {
		result, s := write()
		if s != stale {
			return result, s
		}
		if !may || q.Deadline.Err() != nil {
			break
		}
	}
	return nil, status.Conflict(q.Definition.GroupResource(), q.Name, status.OptimisticLock)
}

// Objects returns access to the stored objects for components of the server that act without a request.
func (r *Registry) Objects() resource.Objects {
	return objects{r.Reader(), r, &Request{Manager: serverManager}}
}
