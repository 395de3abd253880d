package kubelet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// refusal is the reason why a kubelet rejects a pod or a resize.
type refusal struct {
	Reason, Message string
	At              time.Time `json:",omitzero"` // when the kubelet reports the refusal
}

// refusing is the time that a kubelet takes to reject a pod. A controller that replaces rejected pods immediately, such as the
// StatefulSet controller, thus does so at most once per second.
const refusing = time.Second

// admit decides whether the node accepts a new pod, and returns true if it does. It then records the pod's allocated resources
// (allocation.Manager.AddPod). A rejected pod fails (Kubelet.rejectPod).
func (w *worker) admit() bool {
	if w.rec.Refused == nil {
		if w.rec.Refused = w.refuses(); w.rec.Refused != nil {
			w.event(nil, "Warning", w.rec.Refused.Reason, w.rec.Refused.Message)
			w.rec.Refused.At = w.now.Add(refusing)
		}
	}
	if w.rec.Refused != nil {
		if w.now.Before(w.rec.Refused.At) {
			w.at(w.rec.Refused.At)
		}
		return false
	}
	w.rec.Admitted = true
	w.rec.Needs, w.rec.Ports = w.requested(), workload.HostPortsOf(w.pod.At("spec"))
	w.allocate()
	w.rec.Level = w.rec.Allocated.get("")
	if all := w.k.memory.occupied; all != nil {
		all.add(w.rec)
	}
	return true
}

// refuses returns the first reason why the node rejects the pod, or nil if it accepts it (lifecycle.PodAdmitHandler).
func (w *worker) refuses() *refusal {
	if why := w.sysctls(); why != nil {
		return why
	}
	node := w.node()
	if os := w.pod.Labels()[osLabel]; os != "" && os != "linux" {
		return refused("PodOSSelectorNodeLabelDoesNotMatch", "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label")
	}
	if os := w.pod.String("spec", "os", "name"); os != "" && os != "linux" {
		return refused("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS")
	}
	if why := w.insufficientResources(node); why != nil {
		return why
	}
	return w.nodeMismatch(node)
}

const osLabel = "kubernetes.io/os"

// nodeFacts holds the labels, taints and allocatable resources of a node.
type nodeFacts struct {
	labels    map[string]string
	taints    []workload.Taint
	amounts   workload.Amounts
	room      int64           // number of pods that fit on the node
	resources map[string]bool // names of the allocatable resources
}

func nodeFactsOf(node object.Object) *nodeFacts {
	list := resource.AmountsAt(node, "status", "allocatable")
	o := &nodeFacts{object.KeptStrings(node.Labels()), workload.TaintsOf(node), workload.AmountsOf(list), list["pods"].Value(), map[string]bool{}}
	for name := range list { // order does not matter: a set
		o.resources[object.Keep(name)] = true
	}
	return o
}

// node returns the facts about the worker's Node. If the object has been deleted, it returns those of the Node that the kubelet
// would register (Kubelet.getNodeAnyWay).
func (w *worker) node() *nodeFacts {
	if it := w.api.Item(nodes, "", w.k.node); it != nil {
		return resource.Derived(it, nodeFactsOf)
	}
	return nodeFactsOf(w.k.newNode(w.api, w.now))
}

// insufficientResources returns a refusal if the node lacks resources for the pod, or nil (noderesources.Fits). The kubelet ignores
// extended resources that the node does not have at all, and those of devices (removeMissingExtendedResources).
func (w *worker) insufficientResources(node *nodeFacts) *refusal {
	others := w.k.occupiedExcept(w.rec)
	if others.pods+1 > node.room {
		return outOfResource(workload.InsufficientResource{Resource: "pods", Requested: 1, Used: others.pods, Capacity: node.room})
	}
	for _, lack := range w.requested().Lacks(node.amounts, others.amounts) {
		if !w.hasDevicesFor(lack.Resource) && (node.resources[lack.Resource] || !strings.Contains(lack.Resource, "/")) {
			return outOfResource(lack)
		}
	}
	return nil
}

// hasDevicesFor reports whether devices provide an extended resource to the pod.
func (w *worker) hasDevicesFor(resource string) bool {
	return slices.ContainsFunc(w.pod.Objects("status", "extendedResourceClaimStatus", "requestMappings"), func(m object.Object) bool {
		return m.String("resourceName") == resource
	})
}

func refused(reason, format string, args ...any) *refusal {
	return &refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func outOfResource(lack workload.InsufficientResource) *refusal {
	return refused("OutOf"+lack.Resource, "Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d",
		lack.Resource, lack.Requested, lack.Used, lack.Capacity)
}

// nodeMismatch returns a refusal if the pod must not run on the node, or nil (scheduler.AdmissionCheck, lifecycle.generalFilter).
func (w *worker) nodeMismatch(node *nodeFacts) *refusal {
	spec := w.pod.At("spec")
	fails := func(plugin, why string) *refusal { return refused(plugin, "Predicate %s failed: %s", plugin, why) }
	if !workload.NodeAffinityOf(spec).Match(w.k.node, node.labels) {
		return fails("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
	}
	if ports := workload.HostPortsOf(spec); len(ports) > 0 {
		for _, other := range w.k.memory.Pods { // order does not matter: any conflict suffices
			if other != w.rec && other.runs() && workload.Conflict(ports, other.Ports) {
				return fails("NodePorts", "node(s) didn't have free ports for the requested pod ports")
			}
		}
	}
	if workload.Untolerated(node.taints, workload.TolerationsOf(spec), "NoExecute") {
		return fails("TaintToleration", "node(s) had taints that the pod didn't tolerate")
	}
	return nil
}

// requested returns the resources that the pod currently requests, which may differ from the allocated ones.
func (w *worker) requested() workload.Amounts {
	return workload.AmountsOf(podspec.WithOverhead(w.pod, podspec.Amounts(w.pod, "requests"), "requests"))
}

// runs reports whether the node has admitted a pod and the pod has not ended.
func (p *pod) runs() bool { return p.Admitted && !p.Over }

// occupied contains the allocated resources of all running pods on a node, and their number.
type occupied struct {
	amounts workload.Amounts
	pods    int64
}

func (o *occupied) add(p *pod) {
	o.amounts.Add(p.Needs, 1)
	o.pods++
}

// occupiedExcept returns the resources that all running pods on the node except but occupy. The sum of all is kept, so that a pod is
// admitted at the same cost on a node with many pods.
func (k *Kubelet) occupiedExcept(but *pod) *occupied {
	if but.runs() {
		return k.sum(but)
	}
	if k.memory.occupied == nil {
		k.memory.occupied = k.sum(nil)
	}
	return k.memory.occupied
}

func (k *Kubelet) sum(but *pod) *occupied {
	all := &occupied{}
	for _, p := range k.memory.Pods { // order does not matter: a sum
		if p != but && p.runs() {
			all.add(p)
		}
	}
	return all
}

// forget discards the facts that are derived from the records of all pods, their resources and addresses. It must be called when
// these change, except when a pod is admitted or gets an address.
func (k *Kubelet) forget() { k.memory.occupied, k.memory.addresses = nil, nil }

// release frees the resources of a pod that has ended, and then retries pending resizes.
func (w *worker) release(phase string) {
	if w.rec.Over || phase != "Failed" && phase != "Succeeded" || w.active() {
		return
	}
	w.rec.Over, w.rec.Resizing = true, false
	w.k.forget()
	w.k.retryResizes(w.api, nil)
}

// safeSysctls lists the sysctls that any pod may set, because they belong to the pod's own namespaces (sysctl.SafeSysctlAllowlist).
var safeSysctls = []string{"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range",
	"net.ipv4.ip_unprivileged_port_start", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}

// sysctls returns a refusal if the pod sets an unsafe sysctl, or a sysctl of a namespace that it shares with its node, and nil
// otherwise.
func (w *worker) sysctls() *refusal {
	for _, s := range w.pod.Objects("spec", "securityContext", "sysctls") {
		name, why := s.String("name"), ""
		if i := strings.IndexAny(name, "./"); i >= 0 && name[i] == '/' { // the separator is a slash, so a dot is part of a name (sysctl.NormalizeName)
			name = strings.NewReplacer("/", ".", ".", "/").Replace(name)
		}
		switch {
		case !slices.Contains(safeSysctls, name):
			why = "allowlisted"
		case strings.HasPrefix(name, "net.") && w.pod.True("spec", "hostNetwork"):
			why = "allowed with host Net enabled"
		case !strings.HasPrefix(name, "net.") && w.pod.True("spec", "hostIPC"):
			why = "allowed with host IPC enabled"
		default:
			continue
		}
		return refused("SysctlForbidden", "forbidden sysctl: %q not %s", name, why)
	}
	return nil
}

// refusedStatus returns the status of a rejected pod. It replaces any earlier status that the kubelet wrote.
func (w *worker) refusedStatus(before object.Object) object.Object {
	now := object.Object{"phase": "Failed", "reason": w.rec.Refused.Reason, "message": "Pod was rejected: " + w.rec.Refused.Message,
		"observedGeneration": w.pod.Generation(), "startTime": object.Time(w.now)}
	for _, name := range []string{"qosClass", "startTime", "resourceClaimStatuses", "extendedResourceClaimStatus"} {
		if v, ok := before.Get(name); ok {
			now[name] = v
		}
	}
	if others := notOurs(before); others != nil {
		now["conditions"] = others
	}
	return now
}
