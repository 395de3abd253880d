package core

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// podQuota is what pods use of quotas.
var podQuota = resource.Quota{Limits: podLimit, Uses: PodUses, Demands: podDemands, Scopes: podScopes, Updates: podUpdates}

// ImplicitPrefix is in front of a class of devices that is asked for as an extended resource (KEP-5004).
const ImplicitPrefix = "deviceclass.resource.kubernetes.io/"

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
	case NodesExtended(resource):
		return []string{prefix + resource}
	}
	return nil
}

// NodesExtended reports whether a resource is one that nodes have beside Kubernetes' own, or stands for a class of devices.
func NodesExtended(resource string) bool {
	return strings.Contains(resource, "/") && !strings.Contains(resource, "kubernetes.io/") || strings.HasPrefix(resource, ImplicitPrefix)
}

func podLimit(_ *resource.Context, name string) bool {
	side, resource, ok := strings.Cut(name, ".")
	if !ok || side != "limits" && side != "requests" {
		side, resource = "requests", name
	}
	return name == "pods" || slices.Contains(limitsOn(side, resource), name)
}

// stated returns the limits on resources that both sides state, with the stated amounts.
func stated(requests, limits resource.Amounts) resource.Amounts {
	sum := resource.Amounts{}
	for side, resources := range map[string]resource.Amounts{"requests": requests, "limits": limits} { // order does not matter
		for resource, q := range resources { // order does not matter: each limit is on one resource and side
			for _, limit := range limitsOn(side, resource) {
				sum[limit] = q
			}
		}
	}
	return sum
}

// PodUses returns what a pod uses of quotas: pods that have ended, or should have been gone by now, use nothing.
func PodUses(ctx *resource.Context, pod object.Object) resource.Amounts {
	if phase := pod.String("status", "phase"); phase == "Failed" || phase == "Succeeded" || overdue(pod, ctx.Now) {
		return resource.Amounts{}
	}
	sum := stated(podspec.WithOverhead(pod, podspec.Amounts(pod, "requests"), "requests"), podspec.WithOverhead(pod, podspec.Amounts(pod, "limits"), "limits"))
	sum["pods"] = resource.Count(1)
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
	for _, c := range append(pod.Objects("spec", "containers"), pod.Objects("spec", "initContainers")...) {
		has := stated(resource.AmountsAt(c, "resources", "requests"), resource.AmountsAt(c, "resources", "limits"))
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
func podUpdates(ctx *resource.Context, obj, old object.Object) bool {
	return ctx.Subresource == "resize" || ctx.Subresource == "" && endsByItself(obj) != endsByItself(old)
}

func endsByItself(pod object.Object) bool {
	n, ok := pod.Int("spec", "activeDeadlineSeconds")
	return ok && n >= 0
}

// bestEffort reports whether a pod has the lowest QoS class. The class in its status counts: a client may have sent another class than
// the containers imply.
func bestEffort(pod object.Object) bool { return pod.String("status", "qosClass") == "BestEffort" }

var podScopes = map[string]resource.QuotaScope{
	"Terminating":               func(pod, _ object.Object) bool { return endsByItself(pod) },
	"NotTerminating":            func(pod, _ object.Object) bool { return !endsByItself(pod) },
	"BestEffort":                func(pod, _ object.Object) bool { return bestEffort(pod) },
	"NotBestEffort":             func(pod, _ object.Object) bool { return !bestEffort(pod) },
	"PriorityClass":             classOf([]string{"spec", "priorityClassName"}),
	"CrossNamespacePodAffinity": func(pod, _ object.Object) bool { return acrossNamespaces(pod) },
}

// acrossNamespaces reports whether a pod's affinity is about pods of other namespaces.
func acrossNamespaces(pod object.Object) bool {
	across := func(v any) bool {
		_, selects := object.As(v)["namespaceSelector"]
		return selects || len(object.As(v).List("namespaces")) > 0
	}
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		affinity := object.Object(pod.Map("spec", "affinity", kind))
		if slices.ContainsFunc(affinity.List("requiredDuringSchedulingIgnoredDuringExecution"), across) ||
			slices.ContainsFunc(affinity.List("preferredDuringSchedulingIgnoredDuringExecution"), func(v any) bool {
				return across(object.As(v)["podAffinityTerm"])
			}) {
			return true
		}
	}
	return false
}

// classOf is the scope of the objects that name a class as the requirement says, in one of some fields.
func classOf(fields ...[]string) resource.QuotaScope {
	return func(obj, requirement object.Object) bool {
		s, err := selector.FromLabelSelector(map[string]any{"matchExpressions": []any{map[string]any{
			"key": "class", "operator": requirement.String("operator"), "values": requirement.List("values")}}})
		if err != nil {
			return false
		}
		none := true
		for _, path := range fields {
			if name := obj.String(path...); name != "" {
				if none = false; s.Matches(map[string]string{"class": name}) {
					return true
				}
			}
		}
		return none && s.Matches(map[string]string{})
	}
}
