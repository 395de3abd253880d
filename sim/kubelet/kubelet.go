// Package kubelet simulates nodes that run pods. Each node is a controller on the Cluster's single queue. It is deterministic,
// uses the Cluster's clock, and is included in forks and archives. It can be stopped, crashed, delayed or made to lag like any
// other controller.
//
//	Node registers, as node-1                                 node.go
//	  │ pod with spec.nodeName node-1
//	  ▼
//	does the node accept it? ─ no ─▶ it fails                     admit.go
//	  ▼ yes; its resources can change later                       resize.go
//	do its volumes exist, are its devices prepared? ─▶ sandbox, IP ─▶ init containers, sidecars ─▶ containers     pod.go, volumes.go
//	                                         each: creating ─▶ running ─▶ exited ─▶ backoff ─▶ creating   container.go
//	                                                            │ probes                       probe.go
//	  ▼ after each change
//	status of the pod, events                                 status.go, events.go
//
// No process runs in a container. A container's Image, the annotations of its pod, and its command, if package shell can
// interpret it, determine when it starts, is ready and ends, its output, and its resource usage. Logs, exec, attach and
// port-forward are served from that, as a Session (session.go).
//
// A kubelet renews its lease every ten seconds and writes its node's status every five minutes, but only a client that reads
// these objects can observe that. Therefore overdue renewals are made up for when something happens in the cluster or a request
// arrives, and only the last one is written (controller.Heartbeat). An idle cluster has no timer for them.
package kubelet

import (
	"fmt"
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

// prefix precedes the name of the node in the name of a kubelet's controller.
const prefix = "kubelet-"

// Nodes holds the kubelets of a cluster. Indexes route changes to them:
//
//	pod with spec.nodeName node-7 ─▶ byNodeOfPod ─▶ kubelet-node-7
//	node-7                        ─▶ byName      ─▶ kubelet-node-7
//	Secret web/key                ─▶ byNeed      ─▶ the kubelets with pods of web that wait for an object
type Nodes struct {
	families []string            // the IP families of the cluster
	all      []*Kubelet          // the first kubelet stores the contents of persistent volumes
	named    map[string]*Kubelet // kubelets by node name
	clients  Clients
	schedule *clock.Schedule
	waiting  map[string]map[*Kubelet]bool // by namespace: the kubelets with a pod that waits for an object, and possibly some that had one
	attached bool                         // a controller attaches the volumes of nodes

	resources object.Object // those of the last container that was allocated some: see kept
}

// Clients provides the clients of controllers.
type Clients interface {
	// Client returns the client of the named controller.
	Client(name string) *controller.Client
}

// New returns the kubelets of a cluster. Because they use their clients outside of reconciles, too, they get them from clients. schedule
// runs the timers of exec and log sessions.
func New(o *config.Cluster, clients Clients, schedule *clock.Schedule) *Nodes {
	n := &Nodes{families: o.Families(), named: map[string]*Kubelet{}, clients: clients, schedule: schedule, waiting: map[string]map[*Kubelet]bool{},
		attached: attaches(o.Controllers)}
	for i := range o.Nodes {
		k := &Kubelet{nodes: n, node: fmt.Sprintf("node-%d", i+1), index: i, images: o.Images}
		n.all = append(n.all, k)
		n.named[k.node] = k
	}
	for i, name := range o.NodeNames {
		k := &Kubelet{nodes: n, node: name, index: importedIndex + i, images: o.Images, imported: true}
		n.all = append(n.all, k)
		n.named[name] = k
	}
	return n
}

// byNodeOfPod is a controller.Index of pods by node.
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

// byName is a controller.Index of objects by their own name.
type byName struct{}

// Values implements controller.Index.
func (byName) Values(c *commit.Commit) []string { return []string{c.Name} }

// Controllers returns the kubelets' controllers for a controller.Manager. The controller of node-1 is kubelet-node-1.
func (n *Nodes) Controllers() (all []controller.Controller) {
	for _, k := range n.all {
		all = append(all, controller.Controller{Name: prefix + k.node, FieldManager: "kubelet", Component: "kubelet", Reconciler: k,
			User: resource.User{Name: "system:node:" + k.node, Groups: []string{"system:nodes", "system:authenticated"}},
			Watches: append([]controller.Watch{{Resource: pods, Others: true, Index: byNodeOfPod{}, Value: k.node},
				{Resource: nodes, Others: true, Index: byName{}, Value: k.node, Keys: itself},
				{Resource: configMaps, Index: byNeed{n}, Value: k.node, Keys: k.awaited}, {Resource: secrets, Index: byNeed{n}, Value: k.node, Keys: k.awaited},
				{Resource: claims, Index: byNeed{n}, Value: k.node, Keys: k.awaited}}, append(k.deviceWatches(), k.attachWatches()...)...)})
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

// Kubelet is the kubelet of one node. It implements controller.Reconciler. The key without a name represents the node itself.
type Kubelet struct {
	nodes  *Nodes
	node   string
	index  int
	images map[string]Image

	imported bool // the node is in config.Cluster.NodeNames

	memory memory

	sessions map[string][]*Session // sessions of streams by the key of their pod
}

// client returns the kubelet's client for calls outside of a reconcile.
func (k *Kubelet) client() *controller.Client { return k.nodes.clients.Client(prefix + k.node) }

// memory is the state that a kubelet keeps between reconciles.
type memory struct {
	Registered time.Time       `json:",omitzero"`
	Reported   time.Time       `json:",omitzero"`  // time at which it last wrote the status of its node
	Pods       map[string]*pod `json:",omitempty"` // records of pods by NAMESPACE/NAME
	Images     map[string]bool `json:",omitempty"` // the images that are on the node
	Address    int             `json:",omitempty"` // number of the most recently allocated pod address
	Host       string          `json:",omitempty"` // the address of an imported node
	Range      string          `json:",omitempty"` // the prefix of the addresses of its pods

	Files map[string]string `json:",omitempty"` // contents by path: files on the node and, on the first node, in persistent volumes

	// These are derived from Pods.
	waiting   map[string]map[string]bool // pods that wait for an object, by namespace and name
	occupied  *occupied                  // the resources that they occupy, or nil if they have to be added up
	addresses *[addressMax + 1]bool      // which addresses they have, or nil if these have to be collected
}

// Memory implements controller.Rememberer.
func (k *Kubelet) Memory() any { return &k.memory }

// itself returns the key without a name, which represents the node.
func itself(*controller.Client, *commit.Commit) []controller.Key { return []controller.Key{{}} }

// Reconcile implements controller.Reconciler.
func (k *Kubelet) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	if k.memory.Registered.IsZero() {
		if k.imported && !k.takeOver(api) {
			return 0, nil
		}
		if s := k.register(api); s != nil {
			return 0, s
		}
	}
	if key.Name == "" {
		return 0, nil
	}
	return k.syncPod(api, key)
}
