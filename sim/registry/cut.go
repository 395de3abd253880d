package registry

import (
	"errors"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// unreachableRetry is the Retry-After, in seconds, of responses from a server that cannot reach its store.
const unreachableRetry = 2

// errUnreachable is the error of a watch that needs the store's revision while the store cannot be reached.
var errUnreachable = errors.New("etcdserver: request timed out")

// unreachable returns an error if an operation needs the store and the store cannot be reached. The steps of a write before that
// still run: an invalid object is rejected as usual.
func (r *Registry) unreachable(d *resource.Definition, operation string) *status.Status {
	if r.Backend.Reachable() {
		return nil
	}
	return status.ServerTimeout(d.GroupResource(), operation, unreachableRetry)
}
