// Package controller runs control loops: what API servers and controllers do by themselves after something was written.
//
//	commit ─▶ Watch.Keys ─▶ queue: [naming widgets.example.com] [finalizing …] [… at 00:00:05]
//	                           │ the next one, as the Order says
//	                           ▼
//	                        Reconcile(client, key) ─▶ again after 5s · an error: again, later each time · done
//	                           │ reads: the controller's cache, which may lag
//	                           ▼ writes: the API server, which may refuse them
//	                        commit ─▶ …
//
// There is one queue for all controllers of a Manager, on the Cluster's clock. Nothing runs by itself: Step does one
// reconcile, ReconcileAll all that is due. What waits, what has failed and what controllers remember is a State, so that a
// fork or an archive goes on alike. Each controller can be stopped, delayed or crashed, and its cache can lag.
//
// A controller is a file: a type with Reconcile, and a function that returns its Controller. It knows its cluster from its
// Client only, and remembers between two calls what it keeps in Memory only:
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
	// Name is what it is called, as kube-controller-manager's --controllers or the real server's log has it.
	Name string
	// User is who sends its requests.
	User resource.User
	// FieldManager owns what it writes.
	FieldManager string
	// Component is who its events say reports them. "": Name.
	Component string
	// Watches are what it is told of.
	Watches []Watch
	// InServer says that it runs in the API servers: it never waits for Step.
	InServer bool
	// Upkeep says that what it waits for keeps things as they are, such as the renewal of a lease: nobody waits for it.
	Upkeep bool
	// RetryMin is the pause after a first failure, and RetryMax bounds those that follow. 0: 5 ms and 1000 s.
	RetryMin, RetryMax time.Duration
	// ReadsWrites names resources of which the cache has to show what was written for a key before the key is reconciled again,
	// deletions aside: until then it fails (KEP-5647, since 1.36).
	ReadsWrites []string
	// Retries is how often in a row a key that fails is tried again before it is given up. 0: for ever.
	Retries int
	Reconciler
}

// Account returns a controller of kube-controller-manager: it asks as a service account in kube-system, which bootstrap
// roles let do what it does.
func Account(name, account string, r Reconciler, watches ...Watch) Controller {
	return Controller{Name: name, FieldManager: "kube-controller-manager", Watches: watches, Reconciler: r,
		User: resource.User{Name: "system:serviceaccount:kube-system:" + account, Groups: []string{"system:serviceaccounts",
			"system:serviceaccounts:kube-system", "system:authenticated"}}}
}

// Make returns a controller that has yet to be told of anything. Each Cluster, and each fork, has one of its own.
type Make func() Controller

// Reconciler is what a controller does.
type Reconciler interface {
	// Reconcile makes what the key names as it should be. It does so again after a time, unless that is 0, and when a
	// Status says what failed, with a pause that doubles each time.
	Reconcile(api *Client, key Key) (again time.Duration, failed *status.Status)
}

// Func is a Reconciler that remembers nothing.
type Func func(api *Client, key Key) (again time.Duration, failed *status.Status)

// Reconcile is Reconciler's.
func (f Func) Reconcile(api *Client, key Key) (time.Duration, *status.Status) { return f(api, key) }

// Rememberer is a Reconciler that remembers something between two calls, as a real controller does until it is restarted.
type Rememberer interface {
	Reconciler
	// Memory returns a pointer to what it remembers, which encoding/json reads and writes.
	Memory() any
}

// Learner is a Rememberer that keeps, beside what is printed, what it has read in the cache, to see what a commit changes.
type Learner interface {
	Rememberer
	// Learn reads it when a State was loaded, before anything else is written.
	Learn(api *Client)
}

// Heart is a Reconciler that writes something for no other reason than that time passes, such as the renewals of a lease. It
// beats when a client asks the Cluster, or a controller reconciles, and a beat was due before: nobody can see that it did not
// beat meanwhile, but who watches only and never asks. So it costs a Cluster nothing that nobody asks anything.
type Heart interface {
	Reconciler
	// Beat writes what is due now, however often it was due, and returns when the next beat is, and what failed. A controller
	// with a Heart is told of its start by a Key without a name.
	Beat(api *Client) (next time.Time, failed *status.Status)
	// Of returns the object that its beats are about: see Client.Beats.
	Of() Ref
}

// Watch is one resource that a controller is told of.
type Watch struct {
	// Resource is its storage name: pods, deployments.apps. "": all resources.
	Resource string
	// Keys returns what a commit calls for. nil: the key of the object.
	Keys func(api *Client, c *commit.Commit) []Key
	// After is how long a key waits before it is reconciled: a later commit does not prolong it.
	After time.Duration
	// Others leaves out the commits that the controller makes itself.
	Others bool
	// Listed leaves out all commits: the controller is told of what there is when it starts.
	Listed bool
}

// Key names what is to be reconciled: most often an object.
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

// keys returns what a commit calls for.
func (w *Watch) keys(api *Client, c *commit.Commit) []Key {
	if w.Keys == nil {
		return keyOf(c)
	}
	return w.Keys(api, c)
}
