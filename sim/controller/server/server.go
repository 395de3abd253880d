// Package server holds the controllers that run in every API server, a file each. The real ones are in
// k8s.io/apiextensions-apiserver, k8s.io/kube-aggregator and k8s.io/apiserver.
//
//	commit of a definition ─▶ Naming ─▶ Establishing, Approval ─▶ Registration: APIServices of its versions
//	                                 └─ it is being deleted ────▶ Finalizing: its objects go, then its finalizer
//	of a flow schema or    ─▶ Dangling: the condition that says whether its priority level exists
//	priority level         └▶ Ensuring: within a minute, what servers made is as they made it
//
// Each step is a commit, which calls for the next one.
package server

import (
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/resource"
)

// FieldManager owns what API servers write, but for flow schemas and priority levels.
const FieldManager = "kube-apiserver"

// User is who API servers are to themselves (system:apiserver of the loopback client).
func User() resource.User {
	return resource.User{Name: "system:apiserver", Groups: []string{"system:masters", "system:authenticated"}}
}

// Controllers returns those of an API server, in the order in which they are told of a commit; flows says whether it has
// flow schemas to look after.
func Controllers(flows bool) []controller.Controller {
	all := []controller.Controller{Dangling()}
	if flows {
		all = append(all, Ensuring())
	}
	return append(all, Registration(), Naming(), Establishing(), Approval(), Finalizing())
}

// Definitions are the names of the controllers that have to look at every definition when a server starts anew.
var Definitions = []string{registration, naming, establishing, approval, finalizing}

// own is a controller that watches resources as the server itself.
func own(name string, r controller.Reconciler, watches ...controller.Watch) controller.Controller {
	return controller.Controller{Name: name, User: User(), FieldManager: FieldManager, Watches: watches, Reconciler: r}
}

var definitions = controller.Watch{Resource: crd.Storage}
