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

// podQuota describes how pods count against a ResourceQuota.
var podQuota = resource.Quota{Limits: podLimit, Uses: PodUses, Demands: podDemands, Scopes: podScopes, Updates: podUpdates}

// ImplicitPrefix is the prefix of extended resources that represent a device class (KEP-5004).
const ImplicitPrefix = "deviceclass.resource.kubernetes.io/"

// limitsOn returns the names in a quota that limit a container resource. side is "requests" or "limits". For example, cpu and
// requests.cpu limit the cpu requests, but only requests.example.com/gpu limits the requests of an extended resource.
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

// NodesExtended reports whether a resource is an extended resource of nodes or represents a device class.
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

// limitedAmounts returns amounts of requests and limits, keyed by the names in a quota that limit them.
func limitedAmounts(requests, limits resource.Amounts) resource.Amounts {
	sum := resource.Amounts{}
	for side, resources := range map[string]resource.Amounts{"requests": requests, "limits": limits} { // order does not matter: the result is a map
		for resource, q := range resources { // order does not matter: each name limits one resource on one side
			for _, limit := range limitsOn(side, resource) {
				sum[limit] = q
			}
		}
	}
	return sum
}

// PodUses returns the amounts that a pod uses. A pod uses nothing after it has ended or its grace period has expired.
func PodUses(ctx *resource.Context, pod object.Object) resource.Amounts {
	if phase := pod.String("status", "phase"); phase == "Failed" || phase == "Succeeded" || overdue(pod, ctx.Now) {
		return resource.Amounts{}
	}
	sum := limitedAmounts(podspec.WithOverhead(pod, podspec.Amounts(pod, "requests"), "requests"), podspec.WithOverhead(pod, podspec.Amounts(pod, "limits"), "limits"))
	sum["pods"] = resource.Count(1)
	return sum
}

func overdue(pod object.Object, now time.Time) bool {
	grace, ok := pod.DeletionGracePeriodSeconds()
	end, err := time.Parse(time.RFC3339, pod.DeletionTimestamp())
	return ok && err == nil && now.After(end.Add(time.Duration(grace)*time.Second))
}

// podDemands checks that each container, or the pod as a whole, states the amounts of cpu and memory that a quota limits. It
// returns an error message if an amount is missing, and "" otherwise.
func podDemands(limits []string, pod object.Object) string {
	if len(pod.Map("spec", "resources", "requests"))+len(pod.Map("spec", "resources", "limits")) > 0 {
		return ""
	}
	silent := map[string][]string{} // the containers that do not state the amount, by limit
	for _, c := range append(pod.Objects("spec", "containers"), pod.Objects("spec", "initContainers")...) {
		has := limitedAmounts(resource.AmountsAt(c, "resources", "requests"), resource.AmountsAt(c, "resources", "limits"))
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

// podUpdates reports whether an update is checked against quotas: a resize, or an update that changes whether the pod has
// an active deadline.
func podUpdates(ctx *resource.Context, obj, old object.Object) bool {
	return ctx.Subresource == "resize" || ctx.Subresource == "" && endsByItself(obj) != endsByItself(old)
}

func endsByItself(pod object.Object) bool {
	n, ok := pod.Int("spec", "activeDeadlineSeconds")
	return ok && n >= 0
}

// bestEffort reports whether a pod has the lowest QoS class. It uses the class in the status. A client may have set it to a
// class other than the one that the containers imply.
func bestEffort(pod object.Object) bool { return pod.String("status", "qosClass") == "BestEffort" }

var podScopes = map[string]resource.QuotaScope{
	"Terminating":               func(pod, _ object.Object) bool { return endsByItself(pod) },
	"NotTerminating":            func(pod, _ object.Object) bool { return !endsByItself(pod) },
	"BestEffort":                func(pod, _ object.Object) bool { return bestEffort(pod) },
	"NotBestEffort":             func(pod, _ object.Object) bool { return !bestEffort(pod) },
	"PriorityClass":             classOf([]string{"spec", "priorityClassName"}),
	"CrossNamespacePodAffinity": func(pod, _ object.Object) bool { return acrossNamespaces(pod) },
}

// acrossNamespaces reports whether a pod has an affinity term that applies to pods in other namespaces.
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

// classOf returns a quota scope for the classes in the given fields. An object is in the scope if one of its classes matches the
// requirement.
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
