// Package server holds the controllers that run in every API server, a file each. The real ones are in
// k8s.io/apiextensions-apiserver, k8s.io/kube-aggregator and k8s.io/apiserver.
//
//	commit of a definition ─▶ Naming ─▶ Establishing, Approval ─▶ Registration: APIServices of its versions
//	                                 └─ it is being deleted ────▶ Finalizing: its objects go, then its finalizer
//	of a service or        ─▶ Services, Addresses: each service has the IPAddresses of its clusterIPs
//	IPAddress              └▶ Parents: within three minutes, a service whose IPAddress has changed
//	of a flow schema or    ─▶ Dangling: the condition that says whether its priority level exists
//	priority level         └▶ Ensuring: within a minute, the objects that servers created are restored
//	of a lease             ─▶ Leases: an expired lease of an API server that is gone is deleted
//	of a ConfigMap         ─▶ Publishing: the one with the trusted certificate authorities is restored
//
// Each step is a commit, which causes the next one. Naming and Approval race in the real server: of 60 definitions on which both
// set a condition, 29 got the condition of Approval first. Here Naming is always first.
package server

import (
	"encoding/json"
	"time"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
)

// Controllers returns the controllers of an API server, in the order in which they are notified of a commit. running reports
// whether a lease is that of an API server of the Cluster, and signers has the trusted certificate authorities. bare leaves out the
// controllers that restore objects which API servers create when they start.
func Controllers(bare bool, running func(lease string) bool, signers *auth.Signers) []controller.Controller {
	all := []controller.Controller{Dangling()}
	if !bare {
		all = append(all, Ensuring(), Publishing(signers))
	}
	return append(all, Registration(), Services(), Addresses(), Parents(), Naming(), Establishing(), Approval(), Finalizing(), Leases(running))
}

// ofDefinitions are the names of the controllers that look at definitions.
var ofDefinitions = []string{registration, naming, establishing, approval, finalizing}

// Own is a controller that watches resources as the server itself: its requests are those of the loopback client.
func Own(name string, r controller.Reconciler, watches ...controller.Watch) controller.Controller {
	q := registry.Loopback(nil, nil, "", "")
	return controller.Controller{Name: name, User: q.User, FieldManager: q.Manager, Watches: watches, Reconciler: r,
		InServer: true}
}

var definitions = controller.Watch{Resource: crd.Storage}

// Recorded returns a state with only the given progress: the ongoing deletions of definitions, by name, and the time of the next
// check of flow schemas, which is zero if there is none.
func Recorded(cleaning map[string]Cleanup, ensure time.Time) *controller.State {
	s := &controller.State{Resync: []string{addresses, parents}}
	if !ensure.IsZero() {
		s.Waiting = append(s.Waiting, controller.Waiting{Item: controller.Item{Controller: ensuring}, At: ensure})
		s.Loops = append(s.Loops, controller.LoopState{Name: ensuring, Memory: printed(ensured{ensure})})
	}
	for _, name := range object.SortedKeys(cleaning) {
		item := controller.Item{Controller: finalizing, Key: controller.Key{Name: name}}
		s.Waiting = append(s.Waiting, controller.Waiting{Item: item, At: cleaning[name].Next})
	}
	if len(cleaning) > 0 {
		s.Loops = append(s.Loops, controller.LoopState{Name: finalizing, Memory: printed(cleaning)})
	}
	return s
}

// Rewound returns the state of controllers at a time of the past from which nothing else is known. flows reports whether flow
// schemas have to be maintained.
func Rewound(now time.Time, flows bool) *controller.State {
	ensure := time.Time{}
	if flows {
		ensure = now.Add(EnsureInterval) // in case that something is to be put back
	}
	s := Recorded(nil, ensure)
	s.Resync = append(s.Resync, ofDefinitions...)
	return s
}

// Restarted returns the state of controllers that have just started, after a time in which none ran.
func Restarted(now time.Time, flows bool) *controller.State {
	s := &controller.State{Resync: append([]string{services, addresses}, ofDefinitions...)}
	if flows {
		s.Ready = []controller.Item{{Controller: ensuring}}
		s.Loops = []controller.LoopState{{Name: ensuring, Memory: printed(ensured{now})}}
		s.Resync = append(s.Resync, Authentication)
	}
	return s
}

func printed(memory any) json.RawMessage {
	text, err := json.Marshal(memory)
	if err != nil {
		panic("server: a memory cannot be printed: " + err.Error())
	}
	return text
}
