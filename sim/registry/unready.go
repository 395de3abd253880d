package registry

import (
	"math"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Reads while the watch cache of their resource is being filled (KEP-4568, stable in 1.34): the store answers reads that are cheap,
// all others get 429 before they begin.
//
//	get                                          from the store
//	list at an exact revision, or continued      from the store
//	list with a limit and without selectors      from the store
//	other lists, every watch                     429

// unreadyMessage is the message of the 429.
const unreadyMessage = "storage is (re)initializing"

// retryMax is the greatest Retry-After of an unready cache in seconds.
const retryMax = 30

// checkReady returns 429 while the cache of a resource is being filled, and otherwise nil. The longer that takes, the longer the
// Retry-After: e^(0.06·s) seconds after s seconds, from 1 to 30.
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

// cannotFill returns the error while the cache of a version cannot be filled, because objects cannot be converted to it.
func (r *Registry) cannotFill(d *resource.Definition, broken []*resource.Item) *status.Status {
	of := d.GVK.String()
	if r.reportsCorrupt() {
		of = "<unspecified>"
	}
	return status.TooManyRequests(unreadyMessage+": failed to list "+of+": "+r.corruptList(d, broken).Message, retryAfter(0))
}

// checkFillable returns cannotFill if an object of a custom resource cannot be decoded, and otherwise nil.
func (r *Registry) checkFillable(d *resource.Definition, namespace string) *status.Status {
	if d.StorageCodec == nil {
		return nil
	}
	var broken []*resource.Item
	r.Backend.Cache(d.Hub).View().Range(d.Key(namespace, ""), "", func(kv *mvcc.KV) bool {
		if it := resource.ItemOf(d.Hub, kv); it.Err != nil {
			broken = append(broken, it)
		}
		return len(broken) == 0 || r.reportsCorrupt()
	})
	if len(broken) == 0 {
		return nil
	}
	return r.cannotFill(d, broken)
}

// light reports whether the store answers a list while the cache cannot.
func (l *lister) light(read reading) bool {
	return read.exact || l.o.paged || l.o.Continue != "" || l.o.Limit > 0 && l.o.Labels.Empty() && l.o.Fields.Empty()
}
