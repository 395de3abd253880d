package workload

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
)

// expectationsTimeout is the time after which a controller no longer waits for its cache to show its writes.
const expectationsTimeout = 5 * time.Minute

// Expectations contains the creations and deletions that a controller's cache does not show yet, by key of the object. Without
// them, a controller with a lagging cache would repeat its writes (controller.UIDTrackingControllerExpectations).
type Expectations map[string]*expected

type expected struct {
	Creates int      `json:",omitempty"`
	Deletes []string `json:",omitempty"` // names of the objects whose deletion is expected
	Since   time.Time
}

// Expect records that a controller has begun the given number of creations and the deletions of the named objects. Fulfilled
// returns false until all of them are observed.
func (e *Expectations) Expect(key string, creates int, deletes []string, now time.Time) {
	if *e == nil {
		*e = Expectations{}
	}
	(*e)[key] = &expected{Creates: creates, Deletes: deletes, Since: now}
}

// Created records that n creations were observed or have failed.
func (e Expectations) Created(key string, n int) {
	if x := e[key]; x != nil {
		x.Creates -= n
	}
}

// Deleted records that a deletion was observed or has failed.
func (e Expectations) Deleted(key, name string) {
	if x := e[key]; x != nil {
		x.Deletes = slices.DeleteFunc(x.Deletes, func(s string) bool { return s == name })
	}
}

// Seen records a creation or deletion of a pod as observed. key is that of the pod's controller (see Owner.Watch).
func (e *Expectations) Seen(key controller.Key, c *commit.Commit) {
	switch p := PodOf(c.Item()); {
	case c.Deleted() || p.Deleting:
		e.Deleted(key.String(), p.Name)
	case c.Created():
		e.Created(key.String(), 1)
	}
}

// Fulfilled reports whether there is nothing left to wait for, or the wait has timed out.
func (e Expectations) Fulfilled(key string, now time.Time) bool {
	x := e[key]
	return x == nil || x.Creates <= 0 && len(x.Deletes) == 0 || now.Sub(x.Since) > expectationsTimeout
}
