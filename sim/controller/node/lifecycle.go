// Package node contains the controllers of nodes, and of the pods that deleted nodes leave behind.
package node

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// The storage names of nodes and their leases.
const (
	nodeObjects = "nodes"
	leases      = "leases.coordination.k8s.io"
	leasesIn    = "kube-node-lease"
)

// The maximum time without a heartbeat: --node-monitor-grace-period, and --node-startup-grace-period for a node that has never
// reported its status.
const (
	grace        = 50 * time.Second
	startupGrace = time.Minute
)

// monitorPeriod is the interval at which a node is checked if the controller's cache does not show its lease
// (--node-monitor-period).
const monitorPeriod = 5 * time.Second

// lifecycle implements node-lifecycle-controller.
type lifecycle struct{ memory lifecycleMemory }

// lifecycleMemory holds the recorded health of nodes and zones.
type lifecycleMemory struct {
	Nodes map[string]*health `json:",omitempty"`
	Zones map[string]*zone   `json:",omitempty"`
	Lost  bool               `json:",omitempty"` // no node is ready in any zone
}

// health is the recorded health of one node.
type health struct {
	UID       string
	Zone      string
	Registers bool      `json:",omitempty"` // the node has reported its status
	Heartbeat string    `json:",omitempty"` // lastHeartbeatTime of its condition Ready
	Renewed   string    `json:",omitempty"` // renewTime of its lease
	Probe     time.Time // time of its last heartbeat
	Ready     string    `json:",omitempty"` // status of its condition Ready
	Waits     time.Time `json:",omitzero"`  // time since which it waits for its taint, or zero
	Excluded  bool      `json:",omitempty"` // it does not count for the state of its zone

	counted *int // counter of its zone that includes the node, or nil
}

// Lifecycle sets the conditions of nodes without heartbeats to Unknown, taints nodes according to their conditions, and marks
// pods on nodes that are not ready as not ready (pkg/controller/nodelifecycle):
//
//	lease renewed, status written ─▶ heard of │ 50 s of silence ─▶ Ready Unknown ─▶ taint NoSchedule, pods not ready
//	                                                                 └─▶ taint NoExecute, one node of a zone in ten seconds
//
// If no node of any zone is ready, it adds no NoExecute taints, because the control plane itself may be cut off. The real
// controller checks all nodes every five seconds. This one checks a node when the node is written and when its grace period
// ends.
func Lifecycle() controller.Controller {
	l := &lifecycle{}
	c := controller.Account("node-lifecycle-controller", "node-controller", l, controller.Watch{Resource: nodeObjects},
		controller.Watch{Resource: leases, Keys: l.renewed}, controller.Watch{Resource: workload.Pods, Keys: l.podBound})
	c.Component = "node-controller"
	return c
}

// Memory implements controller.Rememberer.
func (l *lifecycle) Memory() any { return &l.memory }

// renewed records a heartbeat when a node's lease is renewed. It returns no keys, because the renewal of a lease never makes a
// check due: a node without heartbeats is checked again when its status is written, and all others when their grace period ends.
func (l *lifecycle) renewed(api *controller.Client, c *commit.Commit) []controller.Key {
	h := l.memory.Nodes[c.Name]
	if c.Namespace != leasesIn || c.Deleted() || h == nil {
		return nil
	}
	h.renew(c.Item().Shared(), api.Now())
	return nil
}

// renew records a heartbeat if the lease has been renewed since the last call.
func (h *health) renew(lease object.Object, now time.Time) {
	if text := lease.String("spec", "renewTime"); text != h.Renewed {
		h.Renewed, h.Probe = object.Keep(text), now
	}
}

// podKey returns the key of a pod.
func podKey(namespace, name string) controller.Key {
	return controller.Key{Namespace: namespace, Name: name}
}

// podBound returns the key of a pod that was bound to a node that is not ready.
func (l *lifecycle) podBound(_ *controller.Client, c *commit.Commit) []controller.Key {
	if c.Deleted() || c.Item() == nil {
		return nil
	}
	name := c.Item().Field("spec.nodeName")
	h := l.memory.Nodes[name]
	if h == nil || h.Ready == "" || h.Ready == "True" || c.Before() != nil && c.Before().Field("spec.nodeName") == name {
		return nil
	}
	return []controller.Key{podKey(c.Namespace, c.Name)}
}

// Reconcile checks a node, or a pod that was bound to a node that is not ready.
func (l *lifecycle) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	if key.Namespace != "" {
		if it := api.Item(workload.Pods, key.Namespace, key.Name); it != nil {
			return 0, notReady(api, it)
		}
		return 0, nil
	}
	node := api.GetShared(nodeObjects, "", key.Name)
	if l.memory.Nodes == nil {
		l.memory = lifecycleMemory{Nodes: map[string]*health{}, Zones: map[string]*zone{}}
	}
	known := l.memory.Nodes[key.Name]
	if known != nil && (node == nil || node.UID() != known.UID) {
		recordNodeEvent(api, key.Name, known.UID, "RemovingNode", fmt.Sprintf("Node %s event: Removing Node %s from Controller", key.Name, key.Name))
		l.discount(known)
		delete(l.memory.Nodes, key.Name)
	}
	if node == nil {
		return 0, l.judge(api)
	}
	if failed := l.mend(api, node); failed != nil {
		return 0, failed
	}
	h := l.memory.Nodes[key.Name]
	if h == nil {
		h = &health{UID: strings.Clone(node.UID())}
		h.renew(api.GetShared(leases, leasesIn, key.Name), api.Now()) // later renewals are commits; see renewed
		l.memory.Nodes[key.Name] = h
		recordNodeEvent(api, key.Name, h.UID, "RegisteredNode", fmt.Sprintf("Node %s event: Registered Node %s in Controller", key.Name, key.Name))
		if failed := retaint(api, key.Name, nil, execute); failed != nil {
			return 0, failed
		}
	}
	h.Zone, h.Excluded = zoneOf(node), node.String("metadata", "labels", "node.kubernetes.io/exclude-disruption") != ""
	l.count(h)
	return l.updateHealth(api, node, h)
}

// recordNodeEvent records an event about a node.
func recordNodeEvent(api *controller.Client, name, uid, reason, message string) {
	about := object.Object{"kind": "Node", "apiVersion": "v1", "metadata": map[string]any{"name": name, "uid": uid}}
	_ = api.Event(about, "Normal", reason, message)
}

// updateHealth checks the health of a node and updates its conditions, taints and pods (tryUpdateNodeHealth). It returns the delay
// after which the node must be checked again, or 0 if no such check is needed.
func (l *lifecycle) updateHealth(api *controller.Client, node object.Object, h *health) (again time.Duration, failed *status.Status) {
	now := api.Now()
	ready := node.Condition("Ready")
	observed, patience := ready.String("status"), grace
	switch beat := ready.String("lastHeartbeatTime"); {
	case ready == nil:
		patience, observed = startupGrace, "Unknown"
		if h.Probe.IsZero() || h.Registers {
			h.Probe = workload.TimeOf(node.String("metadata", "creationTimestamp"))
		}
		h.Registers = false
	case !h.Registers || beat != h.Heartbeat:
		h.Registers, h.Heartbeat, h.Probe = true, object.Keep(beat), now
	}
	silent := now.After(h.Probe.Add(patience))
	if silent && api.Since(37) && isRenewed(api, node.Name(), h.Renewed) {
		return monitorPeriod, nil
	}
	if silent {
		if node, failed = l.giveUp(api, node); failed == nil {
			failed = l.mend(api, node) // NoSchedule taints precede NoExecute taints
		}
		if failed != nil {
			return 0, failed
		}
		ready = node.Condition("Ready")
	}
	h.Ready = object.Keep(ready.String("status"))
	l.count(h)
	if failed = l.judge(api); failed == nil && ready != nil {
		failed = l.taint(api, node, h)
	}
	if failed == nil && h.Ready != "True" && observed == "True" {
		recordNodeEvent(api, node.Name(), h.UID, "NodeNotReady", fmt.Sprintf("Node %s status is now: NodeNotReady", node.Name()))
		failed = l.podsNotReady(api, node.Name())
	}
	if !silent && !(h.Ready == "True" && api.HasHeartbeat(nodeObjects, "", node.Name())) { // a node with a running Heartbeat need not be checked: the controller is notified when it stops
		again = h.Probe.Add(patience).Sub(now) + 1
	}
	return soonest(again, l.turn(api, h)), failed
}

// isRenewed reports whether the API server has a newer lease of a node than the controller has observed. A controller with an outdated
// cache then does not mark the node (feature gate NodeControllerLeaseCircuitBreaker, since 1.37).
func isRenewed(api *controller.Client, node, renewed string) bool {
	lease := api.LiveShared(leases, leasesIn, node)
	return lease != nil && lease.String("spec", "renewTime") != renewed
}

// soonest returns the shorter of two delays. Zero means that there is none.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// giveUp sets the conditions of a node without heartbeats to Unknown.
func (l *lifecycle) giveUp(api *controller.Client, node object.Object) (object.Object, *status.Status) {
	before, node := node, node.Copy()
	for _, kind := range []string{"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"} {
		c := node.Condition(kind)
		switch {
		case c == nil:
			controller.SetCondition(node, api.Now(), kind, "Unknown", "NodeStatusNeverUpdated", "Kubelet never posted node status.")
			node.Condition(kind)["lastHeartbeatTime"] = node.String("metadata", "creationTimestamp")
		case c.String("status") != "Unknown":
			controller.SetCondition(node, api.Now(), kind, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")
		}
	}
	if object.Equal(map[string]any(before.Condition("Ready")), map[string]any(node.Condition("Ready"))) {
		return before, nil
	}
	return api.Update(nodeObjects, "status", node)
}

// podsNotReady marks all pods on a node as not ready.
func (l *lifecycle) podsNotReady(api *controller.Client, node string) (failed *status.Status) {
	for _, it := range api.Indexed(workload.Pods, node) {
		if s := notReady(api, it); s != nil {
			failed = s
		}
	}
	return failed
}

// notReady marks a pod as not ready (util/node.MarkPodsNotReady). It does nothing if the pod already is not ready.
func notReady(api *controller.Client, it *resource.Item) *status.Status {
	pod := it.Object()
	c := pod.Condition("Ready")
	if c == nil || c.String("status") == "False" {
		return nil
	}
	c["status"], c["lastTransitionTime"] = "False", object.Time(api.Now())
	if _, s := api.Update(workload.Pods, "status", pod); s != nil {
		return workload.Found(s)
	}
	_ = api.Event(pod, "Warning", "NodeNotReady", "Node is not ready")
	return nil
}

// mend updates the NoSchedule taints of a node according to its conditions, and completes its labels (doNoScheduleTaintingPass,
// reconcileNodeLabels).
func (l *lifecycle) mend(api *controller.Client, node object.Object) *status.Status {
	var want []string
	for _, c := range node.Objects("status", "conditions") {
		if key := taintOf[c.String("type")+" "+c.String("status")]; key != "" {
			want = append(want, key)
		}
	}
	if node.True("spec", "unschedulable") {
		want = append(want, unschedulable)
	}
	have := workload.TaintsOf(node)
	missing := slices.ContainsFunc(want, func(key string) bool {
		return !slices.ContainsFunc(have, func(t workload.Taint) bool { return t.Key == key && t.Effect == "NoSchedule" })
	})
	stale := slices.ContainsFunc(have, func(t workload.Taint) bool {
		return t.Effect == "NoSchedule" && conditional[t.Key] && !slices.Contains(want, t.Key)
	})
	if missing || stale {
		if failed := retaint(api, node.Name(), want, "NoSchedule"); failed != nil {
			return failed
		}
	}
	return l.label(api, node)
}

// label sets the deprecated labels for the operating system and architecture of a node.
func (l *lifecycle) label(api *controller.Client, node object.Object) *status.Status {
	labels, add := object.Object(node.Map("metadata", "labels")), map[string]string{}
	for _, name := range []string{"os", "arch"} {
		if value := labels.String("kubernetes.io/" + name); labels.Has("kubernetes.io/"+name) && labels.String("beta.kubernetes.io/"+name) != value {
			add["beta.kubernetes.io/"+name] = value
		}
	}
	if len(add) == 0 {
		return nil
	}
	s := api.Patch(nodeObjects, "", controller.Key{Name: node.Name()}, func(live object.Object) {
		for name, value := range add { // order does not matter
			live.Set(value, "metadata", "labels", name)
		}
	})
	return workload.Found(s)
}
