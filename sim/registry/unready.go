package registry

import (
	"math"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// While the watch cache of a resource is being filled, the store serves cheap reads, and all other reads are rejected with 429
// before they begin (KEP-4568, stable in 1.34):
//
//	get                                          from the store
//	list at an exact revision, or continued      from the store
//	list with a limit and without selectors      from the store
//	other lists, every watch                     429

// unreadyMessage is the message of the 429.
const unreadyMessage = "storage is (re)initializing"

// retryMax is the maximum Retry-After, in seconds, of a resource whose cache is not ready.
const retryMax = 30

// checkReady returns 429 while the cache of a resource is being filled, and nil otherwise. Retry-After grows with the downtime:
// after s seconds it is e^(0.06·s) seconds, but at least 1 and at most 30.
func (r *Registry) checkReady(d *resource.Definition) *status.Status {
	downtime, unready := r.Backend.Unready(d.Hub)
	if !unready {
		return nil
	}
	return status.TooManyRequests(unreadyMessage, retryAfter(downtime))
}

func retryAfter(downtime time.Duration) int {
	return int(min(max(math.Exp(0.06*downtime.Seconds()), 1), retryMax))
}

// cannotFill returns the error for reads while the cache of a version cannot be filled because objects cannot be converted to it.
func (r *Registry) cannotFill(d *resource.Definition, broken []*resource.Item) *status.Status {
	of := d.GVK.String()
	if r.reportsCorrupt() {
		of = "<unspecified>"
	}
	return status.TooManyRequests(unreadyMessage+": failed to list "+of+": "+r.corruptList(d, broken).Message, retryAfter(0))
}

// checkFillable returns the error of cannotFill if a cached object in the namespace cannot be decoded, and nil otherwise or for
// built-in resources. If namespace is empty, it checks all namespaces.
func (r *Registry) checkFillable(d *resource.Definition, namespace string) *status.Status {
	if d.StorageCodec == nil {
		return nil
	}
	var broken []*resource.Item
	r.Backend.Cache(d.Hub).View().Range(d.Key(namespace, ""), "", func(kv *mvcc.KV) bool {
		if it := resource.ItemOf(d.Hub, kv); it.Err() != nil {
			broken = append(broken, it)
		}
		return len(broken) == 0 || r.reportsCorrupt()
	})
	if len(broken) == 0 {
		return nil
	}
	return r.cannotFill(d, broken)
}

// servedFromStore reports whether the store serves a list while the cache is not ready.
func (l *lister) servedFromStore(read reading) bool {
	return read.exact || l.o.paged || l.o.Continue != "" || l.o.Limit > 0 && l.o.Labels.Empty() && l.o.Fields.Empty()
}
