// Package controller runs control loops: the work of API servers and controllers after a write.
//
//	commit ─▶ Watch.Keys ─▶ queue: [naming widgets.example.com] [finalizing …] [… at 00:00:05]
//	                           │ the next one, as the Order says
//	                           ▼
//	                        Reconcile(client, key) ─▶ again after 5s · an error: again, later each time · done
//	                           │ reads: the controller's cache, which may lag
//	                           ▼ writes: the API server, which may refuse them
//	                        commit ─▶ …
//
// There is one queue for all controllers of a Manager, on the Cluster's clock. No goroutine runs them: Step does one reconcile, and
// ReconcileAll does all that are due. Waiting items, failures and the memories of controllers are in a State, so that a fork or a
// loaded archive continues identically. Each controller can be stopped, delayed or crashed, and its cache can lag.
//
// A controller is a file: a type with Reconcile, and a function that returns its Controller. It reads its cluster through its
// Client only, and keeps state between calls in Memory only:
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

// All names all controllers of kube-controller-manager, as its flag --controllers does, and those of nodes.
var All = []string{"*"}

// Controller is one control loop.
type Controller struct {
	// Name is the name of the controller in kube-controller-manager's flag --controllers or in the real server's log.
	Name string
	// User is the user of its requests.
	User resource.User
	// FieldManager owns the fields that it writes.
	FieldManager string
	// Component is the reporting component of its events. The default is Name.
	Component string
	// Watches are the resources that it watches.
	Watches []Watch
	// InServer marks a controller that runs in the API servers: it never waits for Step.
	InServer bool
	// Upkeep marks a controller whose waiting items only keep the state as it is, such as lease renewals. Waits for the cluster to
	// settle ignore them.
	Upkeep bool
	// RetryMin is the pause after a first failure, and RetryMax bounds the pauses after later ones. The defaults are
	// 5 ms and 1000 s.
	RetryMin, RetryMax time.Duration
	// ReadsWrites names resources for which the cache has to show the writes for a key, except deletions, before the key is
	// reconciled again. Until then the reconcile fails (KEP-5647, since 1.36).
	ReadsWrites []string
	// Retries is how often in a row a failing key is retried before it is dropped. 0 means no limit.
	Retries int
	Reconciler
}

// Account returns a controller of kube-controller-manager. Its requests come from a service account in kube-system, to which
// bootstrap roles grant its permissions.
func Account(name, account string, r Reconciler, watches ...Watch) Controller {
	return Controller{Name: name, FieldManager: "kube-controller-manager", Watches: watches, Reconciler: r,
		User: resource.User{Name: "system:serviceaccount:kube-system:" + account, Groups: []string{"system:serviceaccounts",
			"system:serviceaccounts:kube-system", "system:authenticated"}}}
}

// Make returns a new controller without any state. Each Cluster, and each fork, has one of its own.
type Make func() Controller

// Reconciler is the logic of a controller.
type Reconciler interface {
	// Reconcile brings the object of the key to its desired state. It is called again after a time, unless that is 0, and after a
	// failure, with a pause that doubles each time.
	Reconcile(api *Client, key Key) (again time.Duration, failed *status.Status)
}

// Func is a Reconciler that remembers nothing.
type Func func(api *Client, key Key) (again time.Duration, failed *status.Status)

// Reconcile implements Reconciler.
func (f Func) Reconcile(api *Client, key Key) (time.Duration, *status.Status) { return f(api, key) }

// Rememberer is a Reconciler that remembers something between two calls, as a real controller does until it is restarted.
type Rememberer interface {
	Reconciler
	// Memory returns a pointer to its state, which encoding/json can encode and decode.
	Memory() any
}

// Learner is a Rememberer that also keeps state derived from the cache, outside of Memory, to see what a commit changes.
type Learner interface {
	Rememberer
	// Learn reads it when a State was loaded, before anything else is written.
	Learn(api *Client)
}

// Heartbeat is a Reconciler that writes only because time passes, for example to renew a lease. Overdue renewals are made up for when a
// client asks the Cluster or a controller reconciles. The delay is invisible except to a client that only watches. So heartbeats cost an
// idle Cluster nothing.
type Heartbeat interface {
	Reconciler
	// Renew makes the writes that are due now, once even if they were due several times, and returns the time of the next renewal and
	// the error, if any. When a controller with a Heartbeat starts, it gets a Key without a name.
	Renew(api *Client) (next time.Time, failed *status.Status)
	// Of returns the object that it renews: see Client.HasHeartbeat.
	Of() Ref
}

// Watch is one resource that a controller watches.
type Watch struct {
	// Resource is its storage name: pods, deployments.apps. If it is empty, the watch covers all resources.
	Resource string
	// Keys returns the keys to reconcile for a commit. If Keys is nil, it is the key of the object.
	Keys func(api *Client, c *commit.Commit) []Key
	// After is how long a key waits before it is reconciled: a later commit does not prolong it.
	After time.Duration
	// Others leaves out the commits that the controller makes itself.
	Others bool
	// Listed leaves out all commits: the controller gets only the objects that exist when it starts.
	Listed bool
	// Index, if not nil, leaves out all commits but those for which it has the value Value.
	Index Index
	Value string
}

// Key names an item to reconcile, most often an object.
type Key struct {
	Namespace string `json:",omitempty"`
	Name      string `json:",omitempty"`
}

// String prints the key as namespace/name.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// keyOf returns the key of the object that a commit is about.
func keyOf(c *commit.Commit) []Key {
	if c.Definition == nil {
		return nil
	}
	return []Key{{c.Namespace, c.Name}}
}

// keys returns the keys to reconcile for a commit.
func (w *Watch) keys(api *Client, c *commit.Commit) []Key {
	if w.Keys == nil {
		return keyOf(c)
	}
	return w.Keys(api, c)
}
