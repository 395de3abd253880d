package admission

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// checkResize rejects a resize that exceeds the capacity of the pod's node, or that the node does not support (KEP-1287).
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

// shortages returns the resources for which the pod's requests exceed the allocatable amount of its node.
func shortages(pod, node object.Object) []string {
	var out []string
	requests, allocatable := requestsOf(pod), resource.AmountsAt(node, "status", "allocatable")
	for _, r := range []struct {
		name  string
		value func(quantity.Quantity) int64
	}{{"cpu", quantity.Quantity.MilliValue}, {"memory", quantity.Quantity.Value}} {
		if wants, has := requests[r.name], allocatable[r.name]; wants.Cmp(has) > 0 {
			out = append(out, fmt.Sprintf("%s, requested: %d, allocatable: %d", r.name, r.value(wants), r.value(has)))
		}
	}
	return out
}

// requestsOf returns the total requests of a pod.
func requestsOf(pod object.Object) resource.Amounts {
	return podspec.WithOverhead(pod, podspec.Amounts(pod, "requests"), "requests")
}
