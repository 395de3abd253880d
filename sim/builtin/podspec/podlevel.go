package podspec

import (
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

// podResources checks the pod-level resources (KEP-2837).
func (r *Rules) podResources() {
	at := r.at.Child("resources")
	if !at.Has() {
		return
	}
	if r.Spec.String("os", "name") == "windows" {
		at.Forbidden("may not be set for a windows pod")
		return
	}
	at.ForbidAny("claims may not be set for Resources at pod-level", "claims")
	r.Resources(at, podResourceName)
	r.containersFit(at, "requests")
	r.containersFit(at, "limits")
	limits := resource.AmountsAt(at.Object(), "limits")
	for i, c := range r.Spec.Objects("containers") {
		own := resource.AmountsAt(c, "resources", "limits")
		for _, name := range object.SortedKeys(own) {
			if have, ok := limits[name]; ok && own[name].Cmp(have) > 0 {
				at.Child("containers").Index(i).Key(name).Child("limits").Invalid(own[name].String(), "must be less than or equal to pod limits of "+have.String())
			}
		}
	}
}

// containersFit checks that the containers' requests, or their limits of huge pages, do not exceed those of the pod.
func (r *Rules) containersFit(at field.Cursor, list string) {
	sum := containerAmounts(r.Spec, list)
	for name, amount := range at.EachKey(list) {
		need, ok := sum[name]
		have := quantity.Of(amount.Value())
		if ok && need.Cmp(have) > 0 && (list == "requests" || strings.HasPrefix(name, HugePagesPrefix)) {
			amount.Invalid(have.String(), "must be greater than or equal to aggregate container "+list+" of "+need.String())
		}
	}
}

// DefaultResources sets missing pod-level resources of a pod that has some. First, limits of huge pages default to the sum of
// the containers' limits. If the pod then has limits, requests default to the sum of the containers' requests, or else to the
// limits.
func DefaultResources(spec object.Object) {
	if resources := spec.At("resources"); limitHugePages(spec, resources) && len(resources.Map("limits")) > 0 {
		requestForPod(spec, resources)
	}
}

// CompleteResources replaces DefaultResources if the gate PodLevelResourcesFixDefaulting is enabled. It runs after
// admission. Requests are set even without limits. If all containers limit a resource, the pod's limit defaults to the
// sum of their limits, or to the pod's request if that is greater.
func CompleteResources(spec object.Object) {
	resources := spec.At("resources")
	if !limitHugePages(spec, resources) {
		return
	}
	requestForPod(spec, resources)
	sum := containerAmounts(spec, "limits")
	for name, request := range resources.Map("requests") { // order does not matter
		if !isPodResource(name) || !limitedByAll(spec, name) {
			continue
		}
		limit := sum[name]
		if q := quantity.Of(request); q.Cmp(limit) > 0 {
			limit = q
		}
		resources.SetDefault(limit.String(), "limits", name)
	}
}

// limitHugePages sets the pod's limits of huge pages to the sum of its containers' limits, unless the pod requests them.
// It returns false if there are no pod-level resources.
func limitHugePages(spec, resources object.Object) bool {
	requests := resources.Map("requests")
	if len(resources.Map("limits"))+len(requests) == 0 {
		return false
	}
	for name, q := range containerAmounts(spec, "limits") { // order does not matter
		if strings.HasPrefix(name, HugePagesPrefix) && requests[name] == nil {
			resources.SetDefault(q.String(), "limits", name)
		}
	}
	return true
}

// requestForPod sets missing requests of a pod to the sum of its containers' requests, or else to the pod's limits.
func requestForPod(spec, resources object.Object) {
	for name, q := range containerAmounts(spec, "requests") { // order does not matter
		if name == "cpu" || name == "memory" {
			resources.SetDefault(q.String(), "requests", name)
		}
	}
	for name, q := range resources.Map("limits") { // order does not matter
		if isPodResource(name) {
			resources.SetDefault(q, "requests", name)
		}
	}
}

// limitedByAll reports whether every container limits a resource.
func limitedByAll(spec object.Object, name string) bool {
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range spec.Objects(list) {
			if !c.Has("resources", "limits", name) {
				return false
			}
		}
	}
	return true
}

// QosClass returns the QoS class of a pod (Kubernetes documentation, "Pod Quality of Service Classes").
func QosClass(ctx *resource.Context, spec object.Object) string {
	var requests, limits computeSum
	guaranteed := true
	count := func(resources object.Object) {
		requests.add(resources.Map("requests"))
		guaranteed = limits.add(resources.Map("limits")) && guaranteed
	}
	if resources := spec.At("resources"); resources != nil && (saysAmounts(resources) || !ctx.Enabled("PodLevelResourcesFixKubeletQOSClass")) {
		count(resources)
	} else {
		for _, list := range []string{"containers", "initContainers"} {
			object.EachObject(spec.List(list), func(_ int, c object.Object) { count(c.At("resources")) })
		}
	}
	switch {
	case requests == computeSum{} && limits == computeSum{}:
		return "BestEffort"
	case guaranteed && requests.cpu.Cmp(limits.cpu) == 0 && requests.memory.Cmp(limits.memory) == 0:
		return "Guaranteed"
	}
	return "Burstable"
}

// QosClass returns the QoS class of a pod on the server of the rules.
func (r *Rules) QosClass(spec object.Object) string { return QosClass(r.ctx, spec) }

// saysAmounts reports whether pod-level resources contain an amount that affects the QoS class.
func saysAmounts(resources object.Object) bool {
	for _, list := range []string{"requests", "limits"} {
		for name := range resources.Map(list) { // order does not matter
			if isPodResource(name) {
				return true
			}
		}
	}
	return false
}

// computeSum contains an amount of cpu and an amount of memory.
type computeSum struct{ cpu, memory quantity.Quantity }

// add adds the positive amounts of cpu and memory in a list. It reports whether the list has positive amounts of both.
func (s *computeSum) add(list map[string]any) (both bool) {
	cpu, memory := quantity.Of(list["cpu"]), quantity.Of(list["memory"])
	if cpu.Sign() > 0 {
		s.cpu = s.cpu.Add(cpu)
	}
	if memory.Sign() > 0 {
		s.memory = s.memory.Add(memory)
	}
	return cpu.Sign() > 0 && memory.Sign() > 0
}
