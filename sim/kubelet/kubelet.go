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
	"strings"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/kubelet/images"
	"github.com/kubesim/kubesim/sim/object"
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
type Nodes struct {
	all      []*Kubelet // the first one stores the contents of persistent volumes
	clients  Clients
	schedule *clock.Schedule
}

// Clients finds the clients of controllers.
type Clients interface {
	// Client returns the client of the controller with a name.
	Client(name string) *controller.Client
}

// New returns the kubelets of a cluster. They use their clients outside of a reconcile, and the clock for their sessions.
func New(o *config.Cluster, clients Clients, schedule *clock.Schedule) *Nodes {
	n := &Nodes{clients: clients, schedule: schedule}
	for i := range o.Nodes {
		n.all = append(n.all, &Kubelet{nodes: n, node: fmt.Sprintf("node-%d", i+1), index: i, images: o.Images})
	}
	return n
}

// Controllers returns them for a controller.Manager: kubelet-node-1 is that of node-1.
func (n *Nodes) Controllers() (all []controller.Controller) {
	for _, k := range n.all {
		all = append(all, controller.Controller{Name: prefix + k.node, FieldManager: "kubelet", Component: "kubelet", Reconciler: k,
			User: resource.User{Name: "system:node:" + k.node, Groups: []string{"system:nodes", "system:authenticated"}},
			Watches: []controller.Watch{{Resource: pods, Others: true, Keys: k.assigned}, {Resource: nodes, Others: true, Keys: k.itself},
				{Resource: configMaps, Keys: k.awaited}, {Resource: secrets, Keys: k.awaited}, {Resource: claims, Keys: k.awaited}}})
	}
	return all
}

// Of returns the kubelet of a node, or nil if there is none.
func (n *Nodes) Of(node string) *Kubelet {
	if n != nil {
		for _, k := range n.all {
			if k.node == node {
				return k
			}
		}
	}
	return nil
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
}

// Memory implements controller.Rememberer.
func (k *Kubelet) Memory() any { return &k.memory }

// assigned returns the key of a pod that is or was bound to the node.
func (k *Kubelet) assigned(_ *controller.Client, c *commit.Commit) []controller.Key {
	if it := c.Item(); it == nil || it.Field("spec.nodeName") != k.node {
		return nil
	}
	return []controller.Key{{Namespace: c.Namespace, Name: c.Name}}
}

// itself returns the key of the node.
func (k *Kubelet) itself(_ *controller.Client, c *commit.Commit) []controller.Key {
	if c.Name != k.node {
		return nil
	}
	return []controller.Key{{}}
}

// awaited returns the keys of the pods that wait for something of the namespace of an object.
func (k *Kubelet) awaited(_ *controller.Client, c *commit.Commit) (keys []controller.Key) {
	for _, name := range object.SortedKeys(k.memory.Pods) {
		if p := k.memory.Pods[name]; p.waits() && strings.HasPrefix(name, c.Namespace+"/") {
			keys = append(keys, controller.Key{Namespace: c.Namespace, Name: name[len(c.Namespace)+1:]})
		}
	}
	return keys
}

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
