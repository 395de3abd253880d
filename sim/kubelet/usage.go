package kubelet

import (
	"cmp"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubelet/images"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

// metricsVersion is the API version of resource usage (k8s.io/metrics), which metrics-server serves.
const metricsVersion = "metrics.k8s.io/v1beta1"

// window is the period over which usage is measured, and the interval between measurements.
const window = 15 * time.Second

// These are the default usage of a container, and the usage of a node apart from its containers.
const (
	containerCPU, containerMemory = "1m", "16Mi"
	nodeCPU, nodeMemory           = "100m", "512Mi"
)

// PodMetrics returns the usage of running containers: a PodMetrics for each pod in a namespace, or in all namespaces if namespace
// is "". They are sorted by namespace and name.
func (n *Nodes) PodMetrics(namespace string) (all []object.Object) {
	if len(n.all) == 0 {
		return nil
	}
	n.all[0].client().LiveItems(pods, namespace, func(it *resource.Item) bool {
		if m := n.measure(it); m != nil {
			all = append(all, m)
		}
		return true
	})
	return all
}

// podUsage is the usage of a pod's containers while they are running. It is kept with the pod (resource.Derived), because an
// autoscaler measures all pods of its namespace four times a minute.
type podUsage struct {
	uid        string
	containers []containerUsage
}

type containerUsage struct{ name, cpu, memory string }

// usageOf returns the usage of a pod's containers.
func (k *Kubelet) usageOf(pod object.Object) *podUsage {
	u := &podUsage{uid: strings.Clone(pod.UID())}
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range pod.Objects("spec", list) {
			x, _ := images.Of(k.images, pod, c.String("name"), c.String("image")) // a container with invalid annotations has the default usage
			u.containers = append(u.containers, containerUsage{object.Keep(c.String("name")),
				object.Keep(cmp.Or(x.CPU, containerCPU)), object.Keep(cmp.Or(x.Memory, containerMemory))})
		}
	}
	return u
}

// used returns the usage of the containers of a pod that are running here.
func (n *Nodes) used(it *resource.Item) (now []containerUsage) {
	k := n.Of(it.Field("spec.nodeName"))
	if k == nil {
		return nil
	}
	rec, u := k.memory.Pods[it.Namespace+"/"+it.Name], resource.Derived(it, k.usageOf)
	if rec == nil || rec.UID != u.uid {
		return nil
	}
	for _, c := range u.containers {
		if r := rec.Containers.get(c.name); r != nil && r.State == running {
			now = append(now, c)
		}
	}
	return now
}

// measure returns the PodMetrics of a pod, or nil if none of the pod's containers is running here.
func (n *Nodes) measure(it *resource.Item) object.Object {
	var containers []any
	for _, c := range n.used(it) {
		containers = append(containers, map[string]any{"name": c.name, "usage": map[string]any{"cpu": c.cpu, "memory": c.memory}})
	}
	if containers == nil {
		return nil
	}
	metrics := n.measured("PodMetrics", it.Object())
	metrics["containers"] = containers
	metrics.Set(it.Namespace, "metadata", "namespace")
	return metrics
}

// measured returns a metrics object of the given kind for a node or a pod, with the fields that both kinds of metrics share.
func (n *Nodes) measured(kind string, of object.Object) object.Object {
	now := n.schedule.Now()
	meta := map[string]any{"name": of.Name(), "creationTimestamp": object.Time(now)}
	if labels := of.Map("metadata", "labels"); labels != nil {
		meta["labels"] = labels
	}
	return object.Object{"kind": kind, "apiVersion": metricsVersion, "metadata": meta, "timestamp": object.Time(now.Truncate(window)), "window": window.String()}
}

// NodeMetrics returns the usage of each node, sorted by name.
func (n *Nodes) NodeMetrics() (all []object.Object) {
	if len(n.all) == 0 {
		return nil
	}
	cpu, memory := map[string]quantity.Quantity{}, map[string]quantity.Quantity{}
	client := n.all[0].client()
	client.LiveItems(pods, "", func(it *resource.Item) bool {
		node := it.Field("spec.nodeName")
		for _, c := range n.used(it) {
			cpu[node], memory[node] = cpu[node].Add(quantity.Of(c.cpu)), memory[node].Add(quantity.Of(c.memory))
		}
		return true
	})
	client.LiveItems(nodes, "", func(it *resource.Item) bool {
		if n.Of(it.Name) != nil {
			m := n.measured("NodeMetrics", it.Object())
			m["usage"] = map[string]any{"cpu": quantity.MustParse(nodeCPU).Add(cpu[it.Name]).String(),
				"memory": quantity.MustParse(nodeMemory).Add(memory[it.Name]).String()}
			all = append(all, m)
		}
		return true
	})
	return all
}
