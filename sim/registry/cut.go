package registry

import (
	"errors"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// unreachableRetry is the hint of answers of a server that does not reach its store, in seconds.
const unreachableRetry = 2

// errUnreachable is the error of a watch that needs the revision of a store which cannot be reached.
var errUnreachable = errors.New("etcdserver: request timed out")

// unreachable returns the error for an operation that needs the store while it cannot be reached, or nil. The steps of a write
// before the store still run: an invalid object is rejected as always.
func (r *Registry) unreachable(d *resource.Definition, operation string) *status.Status {
	if r.Backend.Reachable() {
		return nil
	}
	return status.ServerTimeout(d.GroupResource(), operation, unreachableRetry)
}
