// Package kubelet simulates nodes that run pods. Each node is a controller on the Cluster's one queue: deterministic, on the
// Cluster's clock, carried along by forks and archives, and stopped, crashed, delayed or made to lag as any controller.
//
//	Node registers, as node-1                                 node.go
//	  │ pod with spec.nodeName node-1
//	  ▼
//	does the node accept it? ─ no ─▶ it has failed                admit.go
//	  ▼ yes; its resources may change later                       resize.go
//	volumes are there? ─▶ sandbox, IP ─▶ init containers, sidecars ─▶ containers        pod.go, volumes.go
//	                                         each: creating ─▶ running ─▶ exited ─▶ backoff ─▶ creating   container.go
//	                                                            │ probes                       probe.go
//	  ▼ after each change
//	status of the pod, events                                 status.go, events.go
//
// Nothing runs in a container. Its behaviour follows from its Image, from annotations of its pod, and from its command, if that is
// finite in an obvious way (package shell): when it starts, is ready and ends, its output and its resource usage. Logs, exec,
// attach and port-forward answer from that, as a Session (session.go).
//
// A kubelet renews its lease every ten seconds and writes its node's status every five minutes, but only a client that reads can
// observe that. So overdue renewals are done when something happens in the cluster or a request arrives, and only the last of them
// (controller.Heartbeat). An idle cluster has no timer for them.
package kubelet

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/kubelet/images"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	pods       = "pods"
	nodes      = "nodes"
	leases     = "leases.coordination.k8s.io"
	configMaps = "configmaps"
	secrets    = "secrets"
	claims     = "persistentvolumeclaims"
)

// Image, Exit and Line describe the behaviour of an image's containers.
type (
	Image = images.Image
	Exit  = images.Exit
	Line  = images.Line
)

// Annotation is the prefix of the pod annotations that describe the behaviour of containers (package images).
const Annotation = images.Annotation

// prefix is the prefix of the controllers' names.
const prefix = "kubelet-"

// Nodes are the kubelets of a cluster.
//
//	pod with spec.nodeName node-7 ─▶ byNodeOfPod ─▶ kubelet-node-7
//	node-7                        ─▶ byName      ─▶ kubelet-node-7
//	Secret web/key                ─▶ byNeed      ─▶ the kubelets with pods of web that wait for an object
type Nodes struct {
	all      []*Kubelet          // the first one stores the contents of persistent volumes
	named    map[string]*Kubelet // by node
	clients  Clients
	schedule *clock.Schedule
	waiting  map[string]map[*Kubelet]bool // by namespace: all that have a pod which waits for an object, and some that had one

}

// Clients finds the clients of controllers.
type Clients interface {
	// Client returns the client of the controller with a name.
	Client(name string) *controller.Client
}

// New returns the kubelets of a cluster. They use their clients outside of a reconcile, and the clock for their sessions.
func New(o *config.Cluster, clients Clients, schedule *clock.Schedule) *Nodes {
	n := &Nodes{named: map[string]*Kubelet{}, clients: clients, schedule: schedule, waiting: map[string]map[*Kubelet]bool{}}
	for i := range o.Nodes {
		k := &Kubelet{nodes: n, node: fmt.Sprintf("node-%d", i+1), index: i, images: o.Images}
		n.all = append(n.all, k)
		n.named[k.node] = k
	}
	return n
}

// byNodeOfPod is the controller.Index of pods by their node.
type byNodeOfPod struct{}

// Values implements controller.Index.
func (byNodeOfPod) Values(c *commit.Commit) []string {
	if it := c.Item(); it != nil {
		if node := it.Field("spec.nodeName"); node != "" {
			return []string{node}
		}
	}
	return nil
}

// byName is the controller.Index of objects by their name.
type byName struct{}

// Values implements controller.Index.
func (byName) Values(c *commit.Commit) []string { return []string{c.Name} }

// Controllers returns them for a controller.Manager: kubelet-node-1 is that of node-1.
func (n *Nodes) Controllers() (all []controller.Controller) {
	for _, k := range n.all {
		all = append(all, controller.Controller{Name: prefix + k.node, FieldManager: "kubelet", Component: "kubelet", Reconciler: k,
			User: resource.User{Name: "system:node:" + k.node, Groups: []string{"system:nodes", "system:authenticated"}},
			Watches: []controller.Watch{{Resource: pods, Others: true, Index: byNodeOfPod{}, Value: k.node},
				{Resource: nodes, Others: true, Index: byName{}, Value: k.node, Keys: itself},
				{Resource: configMaps, Index: byNeed{n}, Value: k.node, Keys: k.awaited}, {Resource: secrets, Index: byNeed{n}, Value: k.node, Keys: k.awaited},
				{Resource: claims, Index: byNeed{n}, Value: k.node, Keys: k.awaited}}})
	}
	return all
}

// Of returns the kubelet of a node, or nil if there is none.
func (n *Nodes) Of(node string) *Kubelet {
	if n == nil {
		return nil
	}
	return n.named[node]
}

// Kubelet is the kubelet of one node. It is a controller.Reconciler, whose key without a name is the node itself.
type Kubelet struct {
	nodes  *Nodes
	node   string
	index  int
	images map[string]Image
	memory memory

	sessions map[string][]*Session // by key of the pod
}

// client returns its client for calls outside of a reconcile.
func (k *Kubelet) client() *controller.Client { return k.nodes.clients.Client(prefix + k.node) }

// memory is the state of a kubelet between two reconciles.
type memory struct {
	Registered time.Time       `json:",omitzero"`
	Reported   time.Time       `json:",omitzero"`  // when it wrote the status of its node
	Pods       map[string]*pod `json:",omitempty"` // by NAMESPACE/NAME
	Images     map[string]bool `json:",omitempty"` // which are on the node
	Address    int             `json:",omitempty"` // the last that a pod got

	Files map[string]string `json:",omitempty"` // on the node, and in persistent volumes, by path

	waiting map[string]map[string]bool // pods that wait for an object, by namespace and name: derived from Pods
}

// Memory implements controller.Rememberer.
func (k *Kubelet) Memory() any { return &k.memory }

// itself returns the key of the node.
func itself(*controller.Client, *commit.Commit) []controller.Key { return []controller.Key{{}} }

// Reconcile implements controller.Reconciler.
func (k *Kubelet) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	if k.memory.Registered.IsZero() {
		if s := k.register(api); s != nil {
			return 0, s
		}
	}
	if key.Name == "" {
		return 0, nil
	}
	return k.syncPod(api, key)
}
