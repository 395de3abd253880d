package fake

import (
	"github.com/kubesim/kubesim/fake/oracle"
	"github.com/kubesim/kubesim/sim/auth"
)

// Types of package oracle, for a test's assertions about a server and its clients' behaviour.
type (
	// Oracles provides the assertions of a test about a Server, as methods of the Server: Never, Always, Eventually,
	// AtRest, LeftBehind, NoTwins, NoOrphans, NoLostUpdates, NoHotLoop, WithinRBAC, Actions, Permissions, State and
	// Broken.
	Oracles = oracle.Oracles
	// View is the stored state at one moment.
	View = oracle.View
	// Write is one commit of the store and its author.
	Write = oracle.Write
	// Object is a stored object in its JSON form: obj.Name(), obj.String("spec", "nodeName"), obj.Int64("spec",
	// "replicas"). To converts it to a Go type.
	Object = oracle.Object
	// Action is a request for a resource and its outcome.
	Action = oracle.Action
	// Actions are requests, in the order of their responses.
	Actions = oracle.Actions
	// Permissions compares the rules that a user needed in a run with the rules that roles grant.
	Permissions = oracle.Permissions
	// Rule is one rule of a Role or ClusterRole.
	Rule = auth.Rule
)

// To converts objects of a View to a Go type, such as corev1.Pod. It panics if an object does not fit the type.
func To[T any](objects ...Object) []T { return oracle.To[T](objects...) }

// OnePerOwner returns a check for Never. It finds two objects of a resource that have the same controller as owner and
// are not being deleted. This happens if a controller creates an object twice because it does not know that the object
// already exists. If an owner is supposed to have several objects, pass the labels or annotations that distinguish them:
// OnePerOwner("pods", "ordinal").
//
//	srv.Never("two deployments of a site", fake.OnePerOwner("deployments.apps"))
func OnePerOwner(resource string, distinguishing ...string) func(View) error {
	return oracle.OnePerOwner(resource, distinguishing...)
}

// StatusAgrees returns a check for Eventually. It fails if the status of an object of the given resources contradicts the object or the
// objects that it controls: an observed generation is not the current one, the condition Reconciling is True, or a condition such as
// Ready is True although a Deployment or another object that it controls is not ready. The rules are those of kstatus for custom
// resources (sigs.k8s.io/cli-utils/pkg/kstatus).
//
//	srv.Eventually("the status is right", time.Minute, fake.StatusAgrees("sites.web.example.com"))
func StatusAgrees(resources ...string) func(View) error { return oracle.StatusAgrees(resources...) }

// Outcome compares the final states of several runs of the same test, such as those of Explore: regardless of faults,
// the final state must be that of the run without faults. Declare it outside the test's body. It is safe for concurrent
// use.
//
//	var same fake.Outcome
//	fake.Explore(t, o, func(t fake.T, srv *fake.Server) {
//		… // until the clients have come to rest
//		same.Compare(t, srv, "sites.web.example.com", "deployments.apps")
//	})
type Outcome struct {
	// Counts also compares how often each object was created and deleted: no object may be created or deleted more often than in the
	// run without faults. It finds objects that a controller deletes and creates again without need, although the final state is correct.
	Counts bool
	// Without are the names of fields that may differ by design, such as args if the order of a command's arguments is random.
	Without []string

	states oracle.Outcome
}

// Compare fails the test if the stored objects of the given resources differ from those of the run without faults,
// which must be the first run. The comparison uses Server.State.
func (o *Outcome) Compare(t TB, srv *Server, resources ...string) {
	t.Helper()
	state := srv.StateWithout(o.Without, resources...)
	counts := ""
	if o.Counts {
		counts = srv.Counts(srv.Trace().Records, resources...)
	}
	o.states.Compare(t, state, counts, srv.faultPlan())
}
