package fake

import (
	"github.com/kubesim/kubesim/fake/oracle"
	"github.com/kubesim/kubesim/sim/auth"
)

// These types of package oracle describe a test's assertions about a server and its clients' behaviour.
type (
	// Oracles are the assertions of a test about a Server, which has them as methods: Never, Always, Eventually, AtRest, LeftBehind,
	// NoLostUpdates, NoHotLoop, WithinRBAC, Actions, Permissions, State and Broken.
	Oracles = oracle.Oracles
	// View is the stored state at one moment.
	View = oracle.View
	// Write is one commit of the store and its author.
	Write = oracle.Write
	// Object is a stored object as JSON has it: obj.Name(), obj.String("spec", "nodeName"), obj.Int64("spec", "replicas"). To
	// converts it to a Go type.
	Object = oracle.Object
	// Action is a request for a resource and its outcome.
	Action = oracle.Action
	// Actions are requests in the order in which they were answered.
	Actions = oracle.Actions
	// Permissions are the rules that a user needed in a run, and the rules that roles grant.
	Permissions = oracle.Permissions
	// Rule is one rule of a Role or ClusterRole.
	Rule = auth.Rule
)

// To converts objects of a View to a Go type, such as corev1.Pod. It panics if an object does not fit the type.
func To[T any](objects ...Object) []T { return oracle.To[T](objects...) }

// OnePerOwner is a check for Never: two objects of a resource have the same controller among their owners, and neither is being
// deleted. If an owner has several on purpose, name the labels whose values distinguish them: OnePerOwner("pods", "ordinal"). The check
// finds objects that a controller made twice because it did not know that it had already made them.
//
//	srv.Never("two deployments of a site", fake.OnePerOwner("deployments.apps"))
func OnePerOwner(resource string, labels ...string) func(View) error {
	return oracle.OnePerOwner(resource, labels...)
}

// Outcome compares the final states of several runs of the same test, as Explore makes them: whatever faults occur, the final state
// must be that of the run without faults. Declare it outside of the test's body. It is safe for concurrent use.
//
//	var same fake.Outcome
//	fake.Explore(t, o, func(t fake.T, srv *fake.Server) {
//		… // until everything has come to rest
//		same.Compare(t, srv, "sites.web.example.com", "deployments.apps")
//	})
type Outcome struct{ states oracle.Outcome }

// Compare fails the test if the stored objects of these resources differ from those of the run without faults, which comes first. The
// state is that of Server.State.
func (o *Outcome) Compare(t TB, srv *Server, resources ...string) {
	t.Helper()
	o.states.Compare(t, srv.State(resources...), srv.faultPlan())
}
