package workload

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
)

// expectationsTimeout is how long a controller waits to see what it has done.
const expectationsTimeout = 5 * time.Minute

// Expectations are what controllers have done and have yet to see: a controller whose cache lags would do it again. By
// key of the object (controller.UIDTrackingControllerExpectations).
type Expectations map[string]*expected

type expected struct {
	Creates int      `json:",omitempty"`
	Deletes []string `json:",omitempty"` // names
	Since   time.Time
}

// Expect begins to wait.
func (e *Expectations) Expect(key string, creates int, deletes []string, now time.Time) {
	if *e == nil {
		*e = Expectations{}
	}
	(*e)[key] = &expected{Creates: creates, Deletes: deletes, Since: now}
}

// Created says that n objects were seen, or were not made.
func (e Expectations) Created(key string, n int) {
	if x := e[key]; x != nil {
		x.Creates -= n
	}
}

// Deleted says that an object was seen to go, or could not be deleted.
func (e Expectations) Deleted(key, name string) {
	if x := e[key]; x != nil {
		x.Deletes = slices.DeleteFunc(x.Deletes, func(s string) bool { return s == name })
	}
}

// Seen observes each commit to a pod of an object (see Owner.Watch).
func (e *Expectations) Seen(key controller.Key, c *commit.Commit) {
	switch p := PodOf(c.Item()); {
	case c.Deleted() || p.Deleting:
		e.Deleted(key.String(), p.Name)
	case c.Created():
		e.Created(key.String(), 1)
	}
}

// Fulfilled reports whether there is nothing to wait for, or it has taken too long.
func (e Expectations) Fulfilled(key string, now time.Time) bool {
	x := e[key]
	return x == nil || x.Creates <= 0 && len(x.Deletes) == 0 || now.Sub(x.Since) > expectationsTimeout
}
