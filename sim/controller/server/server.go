// Package server implements the controllers that run in every API server. Each has its own file. The real controllers are in
// k8s.io/apiextensions-apiserver, k8s.io/kube-aggregator and k8s.io/apiserver.
//
//	commit of a definition ─▶ Naming ─▶ Establishing, Approval, NonStructural ─▶ Registration: APIServices of its versions
//	                                 └─ it is being deleted ────▶ Finalizing: deletes its objects, removes its finalizer
//	of a service or        ─▶ Services, Addresses: each service has IPAddresses for its clusterIPs
//	IPAddress              └▶ Parents: repairs services within three minutes after an IPAddress has changed
//	of a flow schema or    ─▶ Dangling: sets the condition that reports whether its priority level exists
//	priority level         └▶ Ensuring: restores the objects that servers created, within a minute
//	of a lease             ─▶ Leases: deletes the expired leases of API servers that are gone
//	of a ConfigMap         ─▶ Publishing: restores the ConfigMap with the trusted certificate authorities
//	of a ServiceCIDR       ─▶ Ranges: restores the ServiceCIDR kubernetes
//	of the Service         ─▶ Kubernetes: restores it and its endpoints, which have the addresses of all API servers
//	kubernetes
//	of a lease             ─▶ Identity: restores the leases of the running API servers
//	of a LeaseCandidate    ─▶ Elections: selects the holder of its Lease, if the gate of coordinated leader election is enabled
//
// Each step is a commit, which causes the next one. In the real server, Naming and Approval race: of 60 definitions on which both
// set a condition, 29 got the condition of Approval first. Here Naming is always first.
package server

import (
	"encoding/json"
	"time"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
)

// Machines describes the machines of the API servers over a store.
type Machines interface {
	// Servers returns the machines of the Cluster's own API servers, and Port their published port.
	Servers() []boot.Server
	Port() int
	// PeerAddresses returns the addresses of API servers in other processes that publish them with the endpoint reconciler lease.
	PeerAddresses() []string
	// Holds reports whether a lease belongs to an API server over the store.
	Holds(lease string) bool
}

// Controllers returns the controllers of an API server in the order in which they are notified of a commit. signers contains the trusted
// certificate authorities. With o.Bare, the controllers that restore the objects which API servers create when they start are omitted.
func Controllers(o *config.Cluster, m Machines, signers *auth.Signers) []controller.Controller {
	all := []controller.Controller{Dangling()}
	if !o.Bare {
		all = append(all, Ensuring(), Publishing(signers), Ranges(o.ServiceRanges()), Kubernetes(o, m), Identity(m))
	}
	all = append(all, Registration(), Services(), Addresses(), Parents(), Naming(), Establishing(), Approval(), NonStructural(), Finalizing(), Leases(m))
	return append(all, leaderElection(o, m)...)
}

// ofDefinitions lists the controllers that watch definitions.
var ofDefinitions = []string{registration, naming, establishing, approval, finalizing}

// Own returns a controller that runs in the API server and sends its requests as the loopback client.
func Own(name string, r controller.Reconciler, watches ...controller.Watch) controller.Controller {
	q := registry.Loopback(nil, nil, "", "")
	return controller.Controller{Name: name, User: q.User, FieldManager: q.Manager, Watches: watches, Reconciler: r,
		InServer: true}
}

var definitions = controller.Watch{Resource: crd.Storage}

// Recorded returns a state that contains only the given progress: cleaning contains the ongoing deletions of definitions by name,
// and ensure is the time of the next check of flow schemas, or zero if there is none.
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

// Rewound returns the state of controllers at the given time in the past, if no other data about it is known. flows reports whether
// flow schemas have to be maintained.
func Rewound(now time.Time, flows bool) *controller.State {
	ensure := time.Time{}
	if flows {
		ensure = now.Add(EnsureInterval) // flow schemas may have to be restored
	}
	s := Recorded(nil, ensure)
	s.Resync = append(s.Resync, ofDefinitions...)
	return s
}

// Restarted returns the state of controllers that have just started after a period in which none ran.
func Restarted(now time.Time, flows bool) *controller.State {
	s := &controller.State{Resync: append([]string{services, addresses}, ofDefinitions...)}
	if flows {
		s.Ready = []controller.Item{{Controller: ensuring}}
		s.Loops = []controller.LoopState{{Name: ensuring, Memory: printed(ensured{now})}}
		s.Resync = append(s.Resync, Authentication)
		s.Ready = append(s.Ready, controller.Item{Controller: ranges, Key: controller.Key{Name: defaultRange}})
	}
	return s
}

// Started returns the state of controllers that have just started with the data of API servers that ran before, maybe with other
// addresses and on other machines.
func Started(now time.Time, bare bool) *controller.State {
	s := Restarted(now, !bare)
	if !bare {
		s.Ready = append(s.Ready, controller.Item{Controller: KubernetesService, Key: MembersKey}, controller.Item{Controller: identity})
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
