// Package controller runs control loops, which react to the writes of API servers, controllers and clients.
//
//	commit ─▶ Watch.Keys ─▶ queue: [naming widgets.example.com] [finalizing …] [… at 00:00:05]
//	                           │ the next item is chosen by the Order
//	                           ▼
//	                        Reconcile(client, key) ─▶ again after 5s · an error: retried with backoff · done
//	                           │ reads: the controller's cache, which may lag
//	                           ▼ writes: the API server, which may reject them
//	                        commit ─▶ …
//
// All controllers of a Manager share one queue, which uses the Cluster's clock. There is no goroutine for them: Step performs one
// reconcile, and ReconcileAll performs all that are due. A State contains the queue's items, the failures and the memories of
// controllers, so that a fork or a loaded archive continues identically. Each controller can be stopped, delayed or crashed, and
// its cache can lag.
//
// Each controller has its own file, with a type that implements Reconcile, and a function that returns its Controller. It
// accesses its cluster only through its Client, and keeps state between calls only in its Memory:
//
//	func Approval() Controller {
//		return Controller{Name: "approval", Watches: []Watch{{Resource: "widgets.example.com"}}, Reconciler: approval{}}
//	}
package controller

import (
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// All selects all controllers of kube-controller-manager, like its flag --controllers=*, and those of nodes.
var All = []string{"*"}

// Controller is one control loop.
type Controller struct {
	// Name is the controller's name in kube-controller-manager's flag --controllers, or in the log of the real API server.
	Name string
	// User is the user of its requests.
	User resource.User
	// FieldManager is the field manager of its writes.
	FieldManager string
	// Component is the reporting component of its events. The default is Name.
	Component string
	// Watches lists the resources that it watches.
	Watches []Watch
	// InServer marks a controller that runs in the API servers. It runs even if other controllers wait for Step.
	InServer bool
	// Admitted makes admission plugins modify or reject the requests of a controller that runs in the API servers. Those of all other
	// controllers are admitted anyway.
	Admitted bool
	// ReactionTime is the minimum time between a commit and the reconciles that it causes.
	ReactionTime time.Duration
	// Upkeep marks a controller whose waiting items only maintain the current state, such as lease renewals. They are ignored
	// when waiting for the cluster to settle.
	Upkeep bool
	// RetryMin is the delay after the first failure. RetryMax is the maximum delay after further failures. The defaults are 5 ms
	// and 1000 s.
	RetryMin, RetryMax time.Duration
	// ReadsWrites lists resources for which the cache must show all writes for a key, except deletions, before the key is
	// reconciled again. Until then the reconcile fails (KEP-5647, since 1.36).
	ReadsWrites []string
	// ReadsWritesSince is the minor since which that holds. The default is 36.
	ReadsWritesSince int
	// Retries is the number of consecutive retries of a failing key before the key is dropped. 0 means no limit.
	Retries int
	Reconciler
}

// Account returns a controller of kube-controller-manager. It sends its requests as a service account in kube-system, to which
// bootstrap roles grant permissions.
func Account(name, account string, r Reconciler, watches ...Watch) Controller {
	return Controller{Name: name, FieldManager: "kube-controller-manager", Watches: watches, Reconciler: r,
		User: resource.User{Name: "system:serviceaccount:kube-system:" + account, Groups: []string{"system:serviceaccounts",
			"system:serviceaccounts:kube-system", "system:authenticated"}}}
}

// Make returns a new controller without state. Each Cluster and each fork needs its own.
type Make func() Controller

// Reconciler is the logic of a controller.
type Reconciler interface {
	// Reconcile brings the object with the key to its desired state. If again is not 0, Reconcile is called again after that
	// delay. After a failure, it is called again after a delay that doubles each time.
	Reconcile(api *Client, key Key) (again time.Duration, failed *status.Status)
}

// Func is a Reconciler without a memory.
type Func func(api *Client, key Key) (again time.Duration, failed *status.Status)

// Reconcile implements Reconciler.
func (f Func) Reconcile(api *Client, key Key) (time.Duration, *status.Status) { return f(api, key) }

// Rememberer is a Reconciler with a memory that persists between calls, like that of a real controller until it restarts.
type Rememberer interface {
	Reconciler
	// Memory returns a pointer to the state, which must be encodable as JSON.
	Memory() any
}

// Learner is a Rememberer with additional state that is not in its Memory. The additional state is derived from the cache, and
// determines what a commit changes.
type Learner interface {
	Rememberer
	// Learn derives that state from the cache. It is called after a State has been loaded, before any further writes.
	Learn(api *Client)
}

// Heartbeat is a Reconciler that writes only because time passes, for example to renew a lease. Overdue renewals are made up for
// when a client sends a request to the Cluster or a controller reconciles. Only a client that does nothing but watch can notice
// the delay. As a result, heartbeats cost an idle Cluster nothing.
type Heartbeat interface {
	Reconciler
	// Renew performs the writes that are due now, but only once each, even if it has become due several times. It returns the time
	// of the next renewal, and an error if a write failed. When a controller with a Heartbeat starts, a Key without a name is
	// queued.
	Renew(api *Client) (next time.Time, failed *status.Status)
	// Of returns the object that it renews. See Client.HasHeartbeat.
	Of() Ref
}

// Watch describes a resource that a controller watches.
type Watch struct {
	// Resource is the storage name of the resource, such as pods or deployments.apps. If it is empty, the watch covers all
	// resources.
	Resource string
	// Keys returns the keys to reconcile for a commit. If Keys is nil, the key of the object is used.
	Keys func(api *Client, c *commit.Commit) []Key
	// After is the delay before a key is reconciled. Later commits do not prolong it.
	After time.Duration
	// Others excludes commits that the controller itself has made.
	Others bool
	// Listed excludes all commits: the controller is notified only of the objects that exist when it starts.
	Listed bool
	// Index, if not nil, restricts the watch to commits for which it returns Value.
	Index Index
	Value string
}

// Key identifies an item to reconcile, in most cases an object.
type Key struct {
	Namespace string `json:",omitempty"`
	Name      string `json:",omitempty"`
}

// String returns the key as namespace/name.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// keyOf returns the key of a commit's object.
func keyOf(c *commit.Commit) []Key {
	if c.Definition == nil {
		return nil
	}
	return []Key{{c.Namespace, c.Name}}
}

// keys returns the keys to reconcile for a commit: the result of Keys or, if it is nil, the key of the object.
func (w *Watch) keys(api *Client, c *commit.Commit) []Key {
	if w.Keys == nil {
		return keyOf(c)
	}
	return w.Keys(api, c)
}
