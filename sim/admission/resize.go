package admission

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/status"
)

// podResizeValidator refuses to resize a pod beyond what its node has, or on a node that cannot do it (KEP-1287).
func podResizeValidator() Plugin {
	return Plugin{Name: "PodResizeValidator", Validate: checkResize}
}

func checkResize(a *Attributes) *status.Status {
	if a.Definition.Storage != pods || a.Subresource != "resize" || a.Operation != Update {
		return nil
	}
	name := a.Object.String("spec", "nodeName")
	if name == "" || a.Object.Generation() == a.Old.Generation() {
		return nil
	}
	node := a.Objects.Get(nodes, "", name)
	if node == nil {
		return a.refuse("node %q not found", name)
	}
	if os, ok := node.Labels()["kubernetes.io/os"]; ok && os != "linux" {
		s := a.refuse("pod resize is only supported on linux nodes, node %q is %q", name, os)
		s.Details.Causes = []status.Cause{{Reason: "UnsupportedPlatform"}}
		return s
	}
	if short := shortages(a.Object, node); len(short) > 0 {
		s := a.refuse("node didn't have enough allocatable resources: %s", strings.Join(short, "; "))
		s.Details.Causes = []status.Cause{{Reason: "NodeCapacity"}}
		return s
	}
	return nil
}

// shortages says of which resources a pod wants more than its node has.
func shortages(pod, node object.Object) []string {
	var out []string
	for _, r := range []struct {
		name  string
		value func(quantity.Quantity) int64
	}{{"cpu", quantity.Quantity.MilliValue}, {"memory", quantity.Quantity.Value}} {
		wants := podRequest(pod, r.name)
		has := asQuantity(node.Map("status", "allocatable")[r.name])
		if wants.Cmp(has) > 0 {
			out = append(out, fmt.Sprintf("%s, requested: %d, allocatable: %d", r.name, r.value(wants), r.value(has)))
		}
	}
	return out
}

// podRequest returns how much of a resource a pod wants at once: its containers together with the init containers that
// keep running, or the largest of the others with those that started before it, and the overhead (KEP-753).
func podRequest(pod object.Object, name string) quantity.Quantity {
	var running, sidecars, starting quantity.Quantity
	for _, v := range pod.List("spec", "containers") {
		running = running.Add(containerRequest(v, name))
	}
	for _, v := range pod.List("spec", "initContainers") {
		wants := containerRequest(v, name)
		if object.As(v).String("restartPolicy") == "Always" {
			running, sidecars = running.Add(wants), sidecars.Add(wants)
			wants = sidecars
		} else {
			wants = wants.Add(sidecars)
		}
		if wants.Cmp(starting) > 0 {
			starting = wants
		}
	}
	total := running
	if starting.Cmp(total) > 0 {
		total = starting
	}
	if own, ok := pod.Map("spec", "resources", "requests")[name]; ok {
		total = asQuantity(own)
	}
	if overhead, ok := pod.Map("spec", "overhead")[name]; ok {
		total = total.Add(asQuantity(overhead))
	}
	return total
}

func containerRequest(container any, name string) quantity.Quantity {
	if v, ok := object.As(container).Map("resources", "requests")[name]; ok {
		return asQuantity(v)
	}
	return quantity.Quantity{}
}
