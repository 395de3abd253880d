package kubelet

import (
	"cmp"
	"time"

	"github.com/kubesim/kubesim/sim/kubelet/images"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

// metricsVersion is the API of resource usage (k8s.io/metrics, as metrics-server serves it).
const metricsVersion = "metrics.k8s.io/v1beta1"

// window is over which time usage is measured; it is measured as often.
const window = 15 * time.Second

// The usage of a container without an annotation, and of a node beside its containers.
const (
	containerCPU, containerMemory = "1m", "16Mi"
	nodeCPU, nodeMemory           = "100m", "512Mi"
)

// PodMetrics returns the usage of running containers: a PodMetrics for each pod of a namespace, or of all namespaces if it is "",
// in the order of their names.
func (n *Nodes) PodMetrics(namespace string) (all []object.Object) {
	if len(n.all) == 0 {
		return nil
	}
	n.all[0].client().LiveItems(pods, namespace, func(it *resource.Item) bool {
		if m, _, _ := n.measure(it); m != nil {
			all = append(all, m)
		}
		return true
	})
	return all
}

// measure returns the PodMetrics of a pod and their sums, or nil if none of its containers runs here.
func (n *Nodes) measure(it *resource.Item) (metrics object.Object, cpu, memory quantity.Quantity) {
	k := n.Of(it.Field("spec.nodeName"))
	if k == nil {
		return nil, cpu, memory
	}
	rec := k.memory.Pods[it.Namespace+"/"+it.Name]
	obj := it.Object()
	if rec == nil || rec.UID != obj.UID() {
		return nil, cpu, memory
	}
	var containers []any
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range obj.Objects("spec", list) {
			if r := rec.Containers[c.String("name")]; r == nil || r.State != running {
				continue
			}
			x, _ := images.Of(k.images, obj, c.String("name"), c.String("image")) // a container with invalid annotations has the default usage
			used := map[string]any{"cpu": cmp.Or(x.CPU, containerCPU), "memory": cmp.Or(x.Memory, containerMemory)}
			cpu, memory = cpu.Add(quantity.Of(used["cpu"])), memory.Add(quantity.Of(used["memory"]))
			containers = append(containers, map[string]any{"name": c.String("name"), "usage": used})
		}
	}
	if containers == nil {
		return nil, cpu, memory
	}
	metrics = n.measured("PodMetrics", obj)
	metrics["containers"] = containers
	metrics.Set(obj.Namespace(), "metadata", "namespace")
	return metrics, cpu, memory
}

// measured returns the common fields of an object's metrics.
func (n *Nodes) measured(kind string, of object.Object) object.Object {
	now := n.schedule.Now()
	meta := map[string]any{"name": of.Name(), "creationTimestamp": object.Time(now)}
	if labels := of.Map("metadata", "labels"); labels != nil {
		meta["labels"] = labels
	}
	return object.Object{"kind": kind, "apiVersion": metricsVersion, "metadata": meta, "timestamp": object.Time(now.Truncate(window)), "window": window.String()}
}

// NodeMetrics returns the usage of each node, in the order of their names.
func (n *Nodes) NodeMetrics() (all []object.Object) {
	if len(n.all) == 0 {
		return nil
	}
	cpu, memory := map[string]quantity.Quantity{}, map[string]quantity.Quantity{}
	client := n.all[0].client()
	client.LiveItems(pods, "", func(it *resource.Item) bool {
		if m, c, b := n.measure(it); m != nil {
			node := it.Field("spec.nodeName")
			cpu[node], memory[node] = cpu[node].Add(c), memory[node].Add(b)
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
