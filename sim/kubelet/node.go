package kubelet

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	leaseNamespace = "kube-node-lease"
	renewEvery     = 10 * time.Second // a quarter of the lease's duration
	reportEvery    = 5 * time.Minute  // --node-status-report-frequency
	leaseDuration  = 40
	microTime      = "2006-01-02T15:04:05.000000Z07:00"
)

// nodeCapacity is the memory of a node.
const nodeCapacity = "32Gi"

// healthy lists the conditions of a node without resource pressure, in the order in which a kubelet sets them.
var healthy = []struct{ kind, value, reason, message, event string }{
	{"MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available", "NodeHasSufficientMemory"},
	{"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure", "NodeHasNoDiskPressure"},
	{"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available", "NodeHasSufficientPID"},
	{"Ready", "True", "KubeletReady", "kubelet is posting ready status", "NodeReady"},
}

// register creates the Node, or updates the status of an existing one, and renews the lease.
func (k *Kubelet) register(api *controller.Client) *status.Status {
	now := api.Now()
	if api.LiveShared(nodes, "", k.node) == nil {
		if _, s := api.Create(nodes, k.newNode(api, now)); s != nil && s.Reason != status.ReasonAlreadyExists {
			return s
		}
	} else if s := k.report(api, now); s != nil {
		return s
	}
	k.memory.Registered, k.memory.Reported = now, now
	about := object.Object{"kind": "Node", "metadata": map[string]any{"name": k.node, "uid": k.node}} // a kubelet's events have the node's name as the UID
	tell := func(reason, message string) {
		k.record(api, about, "", "Normal", reason, message, new(few[recordedEvent]))
	}
	tell("Starting", "Starting kubelet.")
	for _, c := range healthy {
		tell(c.event, fmt.Sprintf("Node %s status is now: %s", k.node, c.event))
	}
	tell("NodeAllocatableEnforced", "Updated Node Allocatable limit across pods")
	return k.renew(api, k.memory.Registered)
}

// newNode returns the Node that a kubelet registers.
func (k *Kubelet) newNode(api *controller.Client, now time.Time) object.Object {
	cidrs := k.podCIDRs()
	labels := map[string]any{"kubernetes.io/hostname": k.node, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
		"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64", "topology.kubernetes.io/region": "region-1",
		"topology.kubernetes.io/zone": fmt.Sprintf("zone-%d", k.index%3+1)}
	node := object.Object{"kind": "Node", "apiVersion": "v1", "metadata": map[string]any{"name": k.node, "labels": labels,
		"annotations": map[string]any{"volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
		"spec": map[string]any{"podCIDR": cidrs[0], "podCIDRs": object.FromStrings(cidrs), "providerID": "kubesim:///" + k.node}}
	k.setStatus(api, node, now)
	return node
}

// declaredFeatures lists the features that kubelets declare since 1.36 (KEP-5328).
var declaredFeatures = []string{"ExtendWebSocketsToKubelet", "InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers",
	"RestartAllContainersOnContainerExits"}

// setStatus sets the addresses, capacity and conditions that the kubelet reports in the Node's status.
func (k *Kubelet) setStatus(api *controller.Client, node object.Object, now time.Time) {
	if !k.imported {
		k.describe(api, node)
	}
	at := object.Time(now)
	for _, c := range healthy {
		controller.SetCondition(node, now, c.kind, c.value, c.reason, c.message)
		node.Condition(c.kind)["lastHeartbeatTime"] = at
	}
}

// describe sets the properties of the node in its status.
func (k *Kubelet) describe(api *controller.Client, node object.Object) {
	amounts := func() map[string]any {
		return map[string]any{"cpu": "8", "memory": nodeCapacity, "pods": "110", "ephemeral-storage": "100Gi", "hugepages-1Gi": "0", "hugepages-2Mi": "0"}
	}
	node.Set(amounts(), "status", "capacity")
	node.Set(amounts(), "status", "allocatable")
	var addresses []any
	for _, ip := range k.hostIPs() {
		addresses = append(addresses, map[string]any{"type": "InternalIP", "address": ip})
	}
	node.Set(append(addresses, map[string]any{"type": "Hostname", "address": k.node}), "status", "addresses")
	node.Set(map[string]any{"kubeletEndpoint": map[string]any{"Port": int64(10250)}}, "status", "daemonEndpoints")
	id := digest("machine", k.node)
	release, _ := schema.ReleaseOf(api.Minor())
	node.Set(map[string]any{"machineID": id[:32], "systemUUID": id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:32],
		"bootID": id[32:40] + "-" + id[40:44] + "-" + id[44:48] + "-" + id[48:52] + "-" + id[52:64], "kernelVersion": "6.12.0-kubesim",
		"osImage": "kubesim", "containerRuntimeVersion": "containerd://2.2.0", "kubeletVersion": release.Version, "kubeProxyVersion": "",
		"operatingSystem": "linux", "architecture": "amd64"}, "status", "nodeInfo")
	if api.Since(36) {
		node.Set(object.FromStrings(declaredFeatures), "status", "declaredFeatures")
	}
}

// Of implements controller.Heartbeat. It returns the kubelet's Node.
func (k *Kubelet) Of() controller.Ref {
	return controller.Ref{Resource: nodes, Key: controller.Key{Name: k.node}}
}

// Renew implements controller.Heartbeat. It renews the lease as of the last time when a renewal was due, and reports the status
// of the node if that is due. A deleted Node is registered again only when the kubelet restarts.
func (k *Kubelet) Renew(api *controller.Client) (next time.Time, failed *status.Status) {
	now := api.Now()
	if k.memory.Registered.IsZero() {
		return now.Add(renewEvery), nil
	}
	last := k.memory.Registered.Add(now.Sub(k.memory.Registered).Truncate(renewEvery))
	next = last.Add(renewEvery)
	if api.Item(nodes, "", k.node) == nil {
		return next, nil
	}
	if failed = k.renew(api, last); failed == nil && now.Sub(k.memory.Reported) >= reportEvery {
		if failed = k.report(api, last); failed == nil {
			k.memory.Reported = last
		}
	}
	return next, failed
}

// report writes the status of the node as of the given time.
func (k *Kubelet) report(api *controller.Client, at time.Time) *status.Status {
	s := api.Patch(nodes, "status", controller.Key{Name: k.node}, func(live object.Object) { k.setStatus(api, live, at) })
	return s
}

// renew updates the node's lease with the given renewal time. It creates the lease if it does not exist.
func (k *Kubelet) renew(api *controller.Client, at time.Time) *status.Status {
	renewed := at.UTC().Format(microTime)
	if lease := api.Item(leases, leaseNamespace, k.node); lease != nil {
		s := api.Patch(leases, "", controller.Key{Namespace: leaseNamespace, Name: k.node}, func(live object.Object) {
			live.Set(k.node, "spec", "holderIdentity")
			live.Set(renewed, "spec", "renewTime")
		})
		return s
	}
	node := api.LiveShared(nodes, "", k.node)
	_, s := api.Create(leases, object.Object{"kind": "Lease", "apiVersion": "coordination.k8s.io/v1",
		"metadata": map[string]any{"name": k.node, "namespace": leaseNamespace, "ownerReferences": []any{
			map[string]any{"apiVersion": "v1", "kind": "Node", "name": k.node, "uid": node.UID()}}},
		"spec": map[string]any{"holderIdentity": k.node, "leaseDurationSeconds": int64(leaseDuration), "renewTime": renewed}})
	return s
}
