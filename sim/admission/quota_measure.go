package admission

import (
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

var one = quantity.New(1, quantity.DecimalSI)

// measure says how objects of one resource use a quota.
type measure struct {
	storage string
	alias   string // the name under which objects were counted before count/… came, "" for none

	// more names further limits beside the count.
	more func(name string, a *Attributes) bool
	// usageOf adds what an object uses beside the count.
	usageOf func(obj object.Object, a *Attributes, sum amounts)
	// demand returns what an object must state for the limits, "" if it does.
	demand func(limits []string, obj object.Object) string
	// scoped reports whether an object is in a scope. nil: in none.
	scoped func(requirement, obj object.Object) bool
	// also reports whether a write that is no plain create counts.
	also func(a *Attributes) bool
}

const (
	services       = "services"
	classSuffix    = ".storageclass.storage.k8s.io/"
	requestsPrefix = "requests."
	hugePages      = "hugepages-"
)

// measures are the resources of which more than the number counts.
var measures = map[string]*measure{
	pods:                     {storage: pods, more: podLimit, usageOf: podUsage, demand: podDemand, scoped: podInScope, also: podAlso},
	services:                 {storage: services, more: serviceLimit, usageOf: serviceUsage, also: anyUpdate},
	claims:                   {storage: claims, more: claimLimit, usageOf: claimUsage, also: anyUpdate, scoped: claimInScope},
	"configmaps":             {storage: "configmaps", alias: "configmaps"},
	"secrets":                {storage: "secrets", alias: "secrets"},
	"replicationcontrollers": {storage: "replicationcontrollers", alias: "replicationcontrollers"},
	resourceQuotas:           {storage: resourceQuotas, alias: resourceQuotas},
	resourceClaims:           {storage: resourceClaims, more: deviceLimit, usageOf: deviceUsage, also: anyUpdate},
}

// measureOf returns how a resource is counted, nil for those that never are.
func measureOf(d *resource.Definition) *measure {
	if !d.Namespaced || d.Hub.Strategy.Virtual || d.Resource == "events" || d.Resource == "bindings" {
		return nil
	}
	return measureOfStorage(d.Storage)
}

func measureOfStorage(storage string) *measure {
	if m := measures[storage]; m != nil {
		return m
	}
	return &measure{storage: storage}
}

func (m *measure) handles(a *Attributes) bool {
	return a.Subresource == "" && a.Operation == Create || m.also != nil && m.also(a)
}

// interesting returns the limits that objects of the resource use.
func (m *measure) interesting(limits []string, a *Attributes) []string {
	return slices.DeleteFunc(slices.Clone(limits), func(name string) bool {
		return name != countKey(m.storage) && (m.alias == "" || name != m.alias) && (m.more == nil || !m.more(name, a))
	})
}

func (m *measure) usage(obj object.Object, a *Attributes) amounts {
	sum := amounts{countKey(m.storage): one}
	if m.alias != "" {
		sum[m.alias] = one
	}
	if m.usageOf != nil {
		m.usageOf(obj, a, sum)
	}
	return sum
}

func (m *measure) demands(limits []string, obj object.Object) string {
	if m.demand == nil {
		return ""
	}
	return m.demand(limits, obj)
}

func (m *measure) inScope(requirement, obj object.Object) bool {
	return m.scoped != nil && m.scoped(requirement, obj)
}

func anyUpdate(a *Attributes) bool { return a.Subresource == "" && a.Operation == Update }

// podCompute are the limits of pods that are not named by a prefix.
var podCompute = []string{"pods", "cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory",
	"requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage"}

func podLimit(name string, _ *Attributes) bool {
	bare, request := strings.CutPrefix(name, requestsPrefix)
	return slices.Contains(podCompute, name) || strings.HasPrefix(bare, hugePages) || request && strings.Contains(bare, "/") && !strings.Contains(bare, "storageclass")
}

// podAlso: an update counts when it changes whether the pod ends by itself, and a resize does.
func podAlso(a *Attributes) bool {
	if a.Operation != Update {
		return false
	}
	return a.Subresource == "resize" || a.Subresource == "" && endsByItself(a.Object) != endsByItself(a.Old)
}

func endsByItself(pod object.Object) bool {
	n, ok := pod.Int("spec", "activeDeadlineSeconds")
	return ok && n >= 0
}

// podUsage: pods that have ended, or should have been gone by now, use nothing but the count.
func podUsage(pod object.Object, a *Attributes, sum amounts) {
	if phase := pod.String("status", "phase"); phase == "Failed" || phase == "Succeeded" || overdue(pod, a.Now) {
		return
	}
	sum["pods"] = one
	sum.add(computeUsage(withOverhead(pod, podAmounts(pod, "requests"), "requests"), withOverhead(pod, podAmounts(pod, "limits"), "limits")))
}

func overdue(pod object.Object, now time.Time) bool {
	grace, ok := pod.DeletionGracePeriodSeconds()
	end, err := time.Parse(time.RFC3339, pod.DeletionTimestamp())
	return ok && err == nil && now.After(end.Add(time.Duration(grace)*time.Second))
}

func computeUsage(requests, limits amounts) amounts {
	sum := amounts{}
	for _, name := range []string{"cpu", "memory", "ephemeral-storage"} {
		if q, ok := requests[name]; ok {
			sum[name], sum[requestsPrefix+name] = q, q
		}
		if q, ok := limits[name]; ok {
			sum["limits."+name] = q
		}
	}
	for name, q := range requests { // order does not matter: each name has a sum of its own
		switch {
		case strings.HasPrefix(name, hugePages):
			sum[name], sum[requestsPrefix+name] = q, q
		case strings.Contains(name, "/"):
			sum[requestsPrefix+name] = q
		}
	}
	return sum
}

// podDemand: where cpu or memory is limited each container has to state it, or the pod as a whole.
func podDemand(limits []string, pod object.Object) string {
	for _, side := range []string{"requests", "limits"} {
		if len(pod.Map("spec", "resources", side)) > 0 {
			return ""
		}
	}
	missing := map[string][]string{}
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range containersOf(pod, list) {
			has := computeUsage(amountsAt(c, "resources", "requests"), amountsAt(c, "resources", "limits"))
			for _, name := range limits {
				if _, ok := has[name]; !ok && (strings.HasSuffix(name, "cpu") || strings.HasSuffix(name, "memory")) {
					missing[name] = append(missing[name], c.String("name"))
				}
			}
		}
	}
	return must(missing)
}

func podInScope(requirement, pod object.Object) bool {
	switch requirement.String("scopeName") {
	case "Terminating":
		return endsByItself(pod)
	case "NotTerminating":
		return !endsByItself(pod)
	case "BestEffort":
		return bestEffort(pod)
	case "NotBestEffort":
		return !bestEffort(pod)
	case "PriorityClass":
		return scopeMatches(requirement, pod.String("spec", "priorityClassName"))
	case "CrossNamespacePodAffinity":
		return acrossNamespaces(pod)
	}
	return false
}

// scopeMatches compares the value that a scope is about, "" for none.
func scopeMatches(requirement object.Object, value string) bool {
	if requirement.String("operator") == "Exists" {
		return value != ""
	}
	labels := map[string]string{}
	if value != "" {
		labels["scope"] = value
	}
	s, err := selector.FromLabelSelector(map[string]any{"matchExpressions": []any{map[string]any{
		"key": "scope", "operator": requirement.String("operator"), "values": requirement.List("values")}}})
	return err == nil && s.Matches(labels)
}

// bestEffort reports whether a pod has the lowest class of service. What its status says counts: a client may have sent
// another class than follows from the containers.
func bestEffort(pod object.Object) bool {
	return pod.String("status", "qosClass") == "BestEffort"
}

// acrossNamespaces reports whether a pod's affinity is about pods of other namespaces.
func acrossNamespaces(pod object.Object) bool {
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		terms := pod.List("spec", "affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution")
		for _, v := range pod.List("spec", "affinity", kind, "preferredDuringSchedulingIgnoredDuringExecution") {
			m, _ := v.(map[string]any)
			terms = append(terms, m["podAffinityTerm"])
		}
		for _, v := range terms {
			term, _ := v.(map[string]any)
			if _, ok := term["namespaceSelector"]; ok || len(object.Object(term).List("namespaces")) > 0 {
				return true
			}
		}
	}
	return false
}

func serviceLimit(name string, _ *Attributes) bool {
	return name == services || name == "services.loadbalancers" || name == "services.nodeports"
}

func serviceUsage(svc object.Object, _ *Attributes, sum amounts) {
	ports := svc.List("spec", "ports")
	nodePorts, balancers := 0, int64(0)
	switch svc.String("spec", "type") {
	case "NodePort":
		nodePorts = len(ports)
	case "LoadBalancer":
		balancers, nodePorts = 1, len(ports)
		if allocate, ok := svc.Bool("spec", "allocateLoadBalancerNodePorts"); ok && !allocate {
			nodePorts = 0
			for _, v := range ports {
				port, _ := v.(map[string]any)
				if n, ok := object.Object(port).Int("nodePort"); ok && n != 0 {
					nodePorts++
				}
			}
		}
	}
	sum[services] = one
	sum["services.loadbalancers"] = quantity.New(balancers, quantity.DecimalSI)
	sum["services.nodeports"] = quantity.New(int64(nodePorts), quantity.DecimalSI)
}

func claimLimit(name string, _ *Attributes) bool {
	_, of, classed := strings.Cut(name, classSuffix)
	if !classed {
		of = name
	}
	return of == claims || of == "requests.storage"
}

func claimUsage(claim object.Object, _ *Attributes, sum amounts) {
	class := claim.String("spec", "storageClassName")
	if old := claim.Annotations()["volume.beta.kubernetes.io/storage-class"]; old != "" {
		class = old
	}
	sum[claims] = one
	storage, ok := amountsAt(claim, "spec", "resources", "requests")["storage"]
	if ok {
		storage = storage.RoundUp(0)
		sum["requests.storage"] = storage
	}
	if class != "" {
		sum[class+classSuffix+claims] = one
		if ok {
			sum[class+classSuffix+"requests.storage"] = storage
		}
	}
}

func claimInScope(requirement, claim object.Object) bool {
	return requirement.String("scopeName") == "VolumeAttributesClass" &&
		scopeMatches(requirement, claim.String("spec", "volumeAttributesClassName"))
}
