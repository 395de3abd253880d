package admission

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// limitsOn returns the limits of quotas on what a container states of a resource, as requests or as limits: cpu is
// limited as cpu and as requests.cpu, extended resources as requests.example.com/gpu alone.
func limitsOn(side, resource string) []string {
	prefix := side + "."
	switch basic := resource == "cpu" || resource == "memory" || resource == "ephemeral-storage"; {
	case side == "limits" && basic:
		return []string{prefix + resource}
	case side == "limits":
		return nil
	case basic || strings.HasPrefix(resource, "hugepages-"):
		return []string{resource, prefix + resource}
	case extended(resource):
		return []string{prefix + resource}
	}
	return nil
}

// extended reports whether a resource is one that nodes have beside Kubernetes' own, or stands for a class of devices.
func extended(resource string) bool {
	return strings.Contains(resource, "/") && !strings.Contains(resource, "kubernetes.io/") || strings.HasPrefix(resource, implicitPrefix)
}

func podLimit(name string, _ *Attributes) bool {
	side, resource, ok := strings.Cut(name, ".")
	if !ok || side != "limits" && side != "requests" {
		side, resource = "requests", name
	}
	return name == "pods" || slices.Contains(limitsOn(side, resource), name)
}

// stated returns the limits on what is stated on the two sides, with how much is stated.
func stated(requests, limits amounts) amounts {
	sum := amounts{}
	for side, resources := range map[string]amounts{"requests": requests, "limits": limits} { // order does not matter
		for resource, q := range resources { // order does not matter: each limit is on one resource and side
			for _, limit := range limitsOn(side, resource) {
				sum[limit] = q
			}
		}
	}
	return sum
}

// podUses: pods that have ended, or should have been gone by now, use nothing.
func podUses(pod object.Object, a *Attributes) amounts {
	if phase := pod.String("status", "phase"); phase == "Failed" || phase == "Succeeded" || overdue(pod, a.Now) {
		return amounts{}
	}
	sum := stated(withOverhead(pod, podAmounts(pod, "requests"), "requests"), withOverhead(pod, podAmounts(pod, "limits"), "limits"))
	sum[pods] = one
	return sum
}

func overdue(pod object.Object, now time.Time) bool {
	grace, ok := pod.DeletionGracePeriodSeconds()
	end, err := time.Parse(time.RFC3339, pod.DeletionTimestamp())
	return ok && err == nil && now.After(end.Add(time.Duration(grace)*time.Second))
}

// podDemands: where cpu or memory is limited each container has to state it, or the pod as a whole.
func podDemands(limits []string, pod object.Object) string {
	if len(pod.Map("spec", "resources", "requests"))+len(pod.Map("spec", "resources", "limits")) > 0 {
		return ""
	}
	silent := map[string][]string{} // the containers that do not state it, by limit
	for _, c := range append(containersOf(pod, "containers"), containersOf(pod, "initContainers")...) {
		has := stated(amountsAt(c, "resources", "requests"), amountsAt(c, "resources", "limits"))
		for _, limit := range limits {
			if _, ok := has[limit]; !ok && (strings.HasSuffix(limit, "cpu") || strings.HasSuffix(limit, "memory")) {
				silent[limit] = append(silent[limit], c.String("name"))
			}
		}
	}
	if len(silent) == 0 {
		return ""
	}
	var parts []string
	for _, limit := range object.SortedKeys(silent) {
		slices.Sort(silent[limit])
		parts = append(parts, fmt.Sprintf("%s for: %s", limit, strings.Join(slices.Compact(silent[limit]), ",")))
	}
	return "must specify " + strings.Join(parts, "; ")
}

// podUpdates: an update is charged when it changes whether the pod ends by itself, and a resize is.
func podUpdates(a *Attributes) bool {
	return a.Subresource == "resize" || a.Subresource == "" && endsByItself(a.Object) != endsByItself(a.Old)
}

func endsByItself(pod object.Object) bool {
	n, ok := pod.Int("spec", "activeDeadlineSeconds")
	return ok && n >= 0
}

// bestEffort reports whether a pod has the lowest class of service. What its status says counts: a client may have sent
// another class than follows from the containers.
func bestEffort(pod object.Object) bool { return pod.String("status", "qosClass") == "BestEffort" }

var podScopes = map[string]inScope{
	"Terminating":               func(pod, _ object.Object) bool { return endsByItself(pod) },
	"NotTerminating":            func(pod, _ object.Object) bool { return !endsByItself(pod) },
	"BestEffort":                func(pod, _ object.Object) bool { return bestEffort(pod) },
	"NotBestEffort":             func(pod, _ object.Object) bool { return !bestEffort(pod) },
	"PriorityClass":             classOf("spec", "priorityClassName"),
	"CrossNamespacePodAffinity": func(pod, _ object.Object) bool { return acrossNamespaces(pod) },
}

// acrossNamespaces reports whether a pod's affinity is about pods of other namespaces.
func acrossNamespaces(pod object.Object) bool {
	across := func(v any) bool {
		_, selects := asObject(v)["namespaceSelector"]
		return selects || len(asObject(v).List("namespaces")) > 0
	}
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		affinity := object.Object(pod.Map("spec", "affinity", kind))
		if slices.ContainsFunc(affinity.List("requiredDuringSchedulingIgnoredDuringExecution"), across) ||
			slices.ContainsFunc(affinity.List("preferredDuringSchedulingIgnoredDuringExecution"), func(v any) bool {
				return across(asObject(v)["podAffinityTerm"])
			}) {
			return true
		}
	}
	return false
}
