package registry

import (
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// staleAttempts is how often a write is retried because its object was written while an admission webhook was called.
const staleAttempts = 5

// stale reports that a write has to be retried. It is never an answer.
var stale = &status.Status{Message: "the object was written by somebody else"}

// hasChanged reports whether an object has changed since item was read: admission webhooks are called without the Cluster's lock, and
// others may write meanwhile.
func (r *Registry) hasChanged(d *resource.Definition, item *resource.Item) bool {
	if !r.Backend.Reachable() {
		return false // nothing will be written
	}
	kv, err := r.Backend.Store().Get(d.KeyOf(item), 0)
	return err != nil || kv == nil || kv.ModRev != item.Rev
}

// retryOnConflict calls write until it is not stale. If a write must not be retried, or does not succeed in time, it is a conflict.
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

// Objects returns the stored objects as a part of the server that acts by itself sees them.
func (r *Registry) Objects() resource.Objects {
	return objects{r.Reader(), r, &Request{Manager: serverManager}}
}
