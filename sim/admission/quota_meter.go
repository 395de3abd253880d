package admission

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

var one = quantity.New(1, quantity.DecimalSI)

func count(n int) quantity.Quantity { return quantity.New(int64(n), quantity.DecimalSI) }

// meter says what the objects of one resource use of quotas (pkg/quota/v1/evaluator).
type meter struct {
	each []string // limits of which every object uses one

	// limits reports whether another limit is about the objects, and uses says what one uses of these. nil: there are none.
	limits func(name string, a *Attributes) bool
	uses   func(obj object.Object, a *Attributes) amounts
	// demands returns what an object must state where the limits are set, "" if it does. nil: nothing.
	demands func(limits []string, obj object.Object) string
	// scopes are the scopes that quotas for these objects may have.
	scopes map[string]inScope
	// updates reports whether an update is charged. nil: creates alone are.
	updates func(a *Attributes) bool
}

const (
	services       = "services"
	requestsPrefix = "requests."
	limitsPrefix   = "limits."
)

// meters are those of the resources of which more than the number is limited.
var meters = map[string]*meter{
	pods:                     {limits: podLimit, uses: podUses, demands: podDemands, scopes: podScopes, updates: podUpdates},
	services:                 {each: []string{services}, limits: serviceLimit, uses: serviceUses, updates: wholeUpdates},
	claims:                   {each: []string{claims}, limits: claimLimit, uses: claimUses, scopes: claimScopes, updates: claimUpdates},
	"configmaps":             {each: []string{"configmaps"}},
	"secrets":                {each: []string{"secrets"}},
	"replicationcontrollers": {each: []string{"replicationcontrollers"}},
	resourceQuotas:           {each: []string{resourceQuotas}},
	resourceClaims:           {limits: deviceLimit, uses: deviceUses, updates: wholeUpdates},
}

// meterOf returns the meter of a resource, nil for those that never count. Each object is one of count/STORAGE.
func meterOf(d *resource.Definition) *meter {
	if !d.Namespaced || d.Hub.Strategy.Virtual || d.Resource == "events" || d.Resource == "bindings" {
		return nil
	}
	return meterOfStorage(d.Storage)
}

func meterOfStorage(storage string) *meter {
	var m meter
	if special := meters[storage]; special != nil {
		m = *special
	}
	m.each = append([]string{"count/" + storage}, m.each...)
	return &m
}

// charges reports whether a write can use more than before.
func (m *meter) charges(a *Attributes) bool {
	switch a.Operation {
	case Create:
		return a.Subresource == ""
	case Update:
		return m.updates != nil && m.updates(a)
	}
	return false
}

func wholeUpdates(a *Attributes) bool { return a.Subresource == "" }

// measures reports whether a limit is about the objects.
func (m *meter) measures(limit string, a *Attributes) bool {
	return slices.Contains(m.each, limit) || m.limits != nil && m.limits(limit, a)
}

// amounts returns what an object uses.
func (m *meter) amounts(obj object.Object, a *Attributes) amounts {
	sum := amounts{}
	if m.uses != nil {
		sum = m.uses(obj, a)
	}
	for _, name := range m.each {
		sum[name] = one
	}
	return sum
}

// inScope reports whether an object is in a scope of a quota. requirement is one of its scopeSelector.
type inScope func(obj, requirement object.Object) bool

// within reports whether a quota is about an object: it is in all of the quota's scopes.
func (m *meter) within(quota, obj object.Object) bool {
	requirements := quota.List("spec", "scopeSelector", "matchExpressions")
	for _, name := range object.Strings(quota.List("spec", "scopes")) {
		requirements = append(requirements, map[string]any{"scopeName": name, "operator": "Exists"})
	}
	return !slices.ContainsFunc(requirements, func(v any) bool {
		requirement := asObject(v)
		in := m.scopes[requirement.String("scopeName")]
		return in == nil || !in(obj, requirement)
	})
}

func asObject(v any) object.Object {
	m, _ := v.(map[string]any)
	return m
}

// classOf is the scope of the objects whose field has a value as the requirement says.
func classOf(path ...string) inScope {
	return func(obj, requirement object.Object) bool {
		labels := map[string]string{}
		if name := obj.String(path...); name != "" {
			labels["class"] = name
		}
		s, err := selector.FromLabelSelector(map[string]any{"matchExpressions": []any{map[string]any{
			"key": "class", "operator": requirement.String("operator"), "values": requirement.List("values")}}})
		return err == nil && s.Matches(labels)
	}
}

func serviceLimit(name string, _ *Attributes) bool {
	return name == "services.loadbalancers" || name == "services.nodeports"
}

func serviceUses(svc object.Object, _ *Attributes) amounts {
	balancers, nodePorts := 0, 0
	ports := svc.List("spec", "ports")
	kind := svc.String("spec", "type")
	if kind == "LoadBalancer" {
		balancers = 1
	}
	allocate, said := svc.Bool("spec", "allocateLoadBalancerNodePorts")
	for _, port := range ports {
		asked, _ := asObject(port).Int("nodePort")
		if kind == "NodePort" || kind == "LoadBalancer" && (!said || allocate || asked != 0) {
			nodePorts++
		}
	}
	return amounts{"services.loadbalancers": count(balancers), "services.nodeports": count(nodePorts)}
}

const (
	classSuffix     = ".storageclass.storage.k8s.io/" // between a storage class and what is limited of it
	requestsStorage = "requests.storage"
)

func claimLimit(name string, _ *Attributes) bool {
	_, of, classed := strings.Cut(name, classSuffix)
	return name == requestsStorage || classed && (of == claims || of == requestsStorage)
}

// claimUses counts a claim, and the storage that it asks for or has been given, of its class and of all.
func claimUses(claim object.Object, _ *Attributes) amounts {
	sum := amounts{}
	storage, asks := amountsAt(claim, "spec", "resources", "requests")["storage"]
	if asks {
		if given, ok := amountsAt(claim, "status", "allocatedResources")["storage"]; ok && given.Cmp(storage) > 0 {
			storage = given
		}
		storage = storage.RoundUp(0)
		sum[requestsStorage] = storage
	}
	class := claim.Annotations()["volume.beta.kubernetes.io/storage-class"]
	if class == "" {
		class = claim.String("spec", "storageClassName")
	}
	if class != "" {
		sum[class+classSuffix+claims] = one
		if asks {
			sum[class+classSuffix+requestsStorage] = storage
		}
	}
	return sum
}

// claimUpdates: what a claim has been given is said in its status.
func claimUpdates(a *Attributes) bool { return a.Subresource == "" || a.Subresource == "status" }

var claimScopes = map[string]inScope{"VolumeAttributesClass": classOf("spec", "volumeAttributesClassName")}
