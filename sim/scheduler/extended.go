//go:build !page

package scheduler

import (
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/devices"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
)

// extendedClaim is the claim for the extended resources of a pod that device classes provide (KEP-5004).
//
//	pod, containers request example.com/gpu ─ prepareClaims ─▶ a claim without requests, not stored
//	                                            │ for each node
//	                node has no example.com/gpu │             node has it
//	          requests of the class's devices ◀─┴──────────▶ no claim
//	                       │ allocated
//	                       ▼
//	          claim is created, allocated and reserved ─▶ status.extendedResourceClaimStatus of the pod ─▶ binding
type extendedClaim struct {
	index int           // in podClaims.all; -1 if the pod has none
	pod   object.Object // nil if the claim exists already
	nodes map[string]extendedUse
}

// extendedUse is an extendedClaim for one node.
type extendedUse struct {
	claim    object.Object
	mappings []any // status.extendedResourceClaimStatus.requestMappings
}

// classFor returns the name of the device class that provides an extended resource, or "".
func (s *Scheduler) classFor(api *controller.Client, name string) string {
	if !api.Profile().Gates["DRAExtendedResource"] {
		return ""
	}
	if s.memory.extended == nil {
		s.memory.extended = devices.ExtendedResources(api.All(devices.Classes, ""))
	}
	return s.memory.extended[name]
}

// isDelegated reports whether devices have to provide a resource on a node (noderesources.shouldDelegateResourceToDRA).
func (s *Scheduler) isDelegated(api *controller.Client, resource string, n *node) bool {
	return n.allocatable.Others[resource] == 0 && s.classFor(api, resource) != ""
}

// usesDevices reports whether a pod has resource claims, or requests an extended resource that a device class provides.
func (s *Scheduler) usesDevices(api *controller.Client, p *pod) bool {
	if len(p.claims) > 0 {
		return true
	}
	for name, n := range p.requests.Others { // order does not matter: any suffices
		if n > 0 && s.classFor(api, name) != "" {
			return true
		}
	}
	return false
}

// findExtended returns the claim that was created for the extended resources of a pod, or nil (findExtendedResourceClaim).
func (s *Scheduler) findExtended(p *pod) object.Object {
	for _, claim := range s.memory.claims { // order does not matter: a pod has one
		if claim.Namespace() == p.Namespace && claim.Annotations()[devices.ExtendedClaim] == "true" &&
			workload.ControllerOf(claim).String("uid") == p.uid {
			return claim
		}
	}
	return nil
}

// prepareExtended adds the claim for the pod's extended resources to its claims, if it needs one (preFilterExtendedResources).
func (c *cycle) prepareExtended(p *podClaims) {
	p.extended.index = -1
	if !slices.ContainsFunc(object.SortedKeys(c.pod.requests.Others), func(name string) bool {
		return c.pod.requests.Others[name] > 0 && c.s.classFor(c.api, name) != ""
	}) {
		return
	}
	p.extended.index = len(p.all)
	claim := c.s.findExtended(c.pod)
	if claim == nil {
		claim = devices.NewExtendedClaim(c.pod.Namespace, c.pod.Name, c.pod.uid)
		p.extended.pod, p.extended.nodes = c.api.GetShared(workload.Pods, c.pod.Namespace, c.pod.Name), map[string]extendedUse{}
	}
	p.all = append(p.all, claim)
}

// claimsFor returns the claims to allocate for use on a node. The claim for extended resources has the requests for this node there
// (filterExtendedResources). If the verdict rejects the node, a claim of an earlier attempt has to be deleted first.
func (c *cycle) claimsFor(n *node) (unallocated []object.Object, v verdict) {
	p := c.claims.podClaims
	x := &p.extended
	if x.index < 0 {
		return p.unallocated, verdict{}
	}
	if x.pod == nil {
		return nil, final("cannot schedule extended resource claim")
	}
	classes := map[string]string{}
	for name, amount := range c.pod.requests.Others { // order does not matter: the result is a map
		if amount > 0 && c.s.isDelegated(c.api, name, n) {
			classes[name] = c.s.classFor(c.api, name)
		}
	}
	if len(classes) == 0 && len(p.all) == 1 {
		return nil, verdict{}
	}
	claim := p.all[x.index].Copy()
	requests, mappings := devices.ExtendedRequests(x.pod, classes)
	claim.Set(requests, "spec", "devices", "requests")
	x.nodes[n.name] = extendedUse{claim, mappings}
	return append(slices.Clip(p.unallocated), claim), verdict{}
}

// bindExtended creates the claim for the extended resources of the pod, and binds it.
func (c *cycle) bindExtended(n *node, allocation object.Object) (why string) {
	x := &c.claims.extended
	use := x.nodes[n.name]
	it, failed := c.api.Create(devices.Claims, use.claim)
	if failed != nil {
		return fmt.Sprintf("create claim for extended resources %s/: %s", c.pod.Namespace, failed.Message)
	}
	created := it.Object()
	c.s.assumeNew(created)
	claim, why := c.bindClaim(created, allocation)
	c.claims.all[x.index] = claim
	if why != "" {
		return why
	}
	if len(use.mappings) == 0 {
		return fmt.Sprintf("nil or empty request mappings, no update of pod %s ExtendedResourceClaimStatus", c.pod.Key)
	}
	failed = c.api.Patch(workload.Pods, "status", c.pod.Key, func(live object.Object) {
		live.Set(map[string]any{"resourceClaimName": claim.Name(), "requestMappings": use.mappings}, "status", "extendedResourceClaimStatus")
	})
	if failed != nil {
		return fmt.Sprintf("update pod %s ExtendedResourceClaimStatus: %s", c.pod.Key, failed.Message)
	}
	return ""
}

// deleteExtended deletes the claim for the extended resources of a pod, if it exists (deleteClaim). failed is the error.
func (s *Scheduler) deleteExtended(api *controller.Client, p *pod) (deleted bool, failed string) {
	claim := s.findExtended(p)
	if claim == nil {
		return false, ""
	}
	key := controller.Key{Namespace: claim.Namespace(), Name: claim.Name()}
	if f := api.Patch(devices.Claims, "", key, func(live object.Object) {
		live.SetFinalizers(slices.DeleteFunc(live.Finalizers(), func(name string) bool { return name == devices.Finalizer }))
	}); f != nil {
		return false, fmt.Sprintf("update resourceclaim %s: %s", key, f.Message)
	}
	if f := workload.Found(api.Delete(devices.Claims, key, controller.Preconditions{})); f != nil {
		return false, f.Message
	}
	return true, ""
}

// extendedHint reports whether a device class that was created or changed may provide a resource that a pod requests
// (noderesources.isSchedulableAfterDeviceClassEvent).
func extendedHint(c *cycle, e *event) bool {
	before, now := e.old.String("spec", "extendedResourceName"), e.new.String("spec", "extendedResourceName")
	if e.old != nil && before == now {
		return false
	}
	return c.pod.requests.Others[now] > 0 || e.old == nil && c.pod.requests.Others[devices.ImplicitPrefix+e.new.Name()] > 0
}
