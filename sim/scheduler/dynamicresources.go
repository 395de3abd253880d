//go:build !page

package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/devices"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
)

// deviceMemory is the scheduler's view of devices and of the claims that use them (dynamicresources.DefaultDRAManager). Assumed
// contains the claims that the scheduler has written and that its cache does not show yet.
type deviceMemory struct {
	Assumed map[string]object.Object `json:",omitempty"`

	claims    map[controller.Key]object.Object
	extended  map[string]string // the device class of each extended resource; nil until it is needed (classFor)
	allocator *devices.Allocator
}

// claimState has the claims of the pod that is being placed, for the plugin DynamicResources. It is empty if the pod has no claims.
type claimState struct{ *podClaims }

// podClaims holds the claims of a pod, in the order of its spec.
type podClaims struct {
	all         []object.Object
	unallocated []object.Object
	nodes       []workload.NodeTerms       // for each claim, the nodes on which its devices are available; nil means all
	allocations map[string][]object.Object // for each node that fits, the allocations of the unallocated claims
	unavailable map[int]bool               // indices of allocated claims that are not available on some node
	extended    extendedClaim
}

// deviceWatches returns the watches of plugin DynamicResources.
func (s *Scheduler) deviceWatches(watch watcher) []controller.Watch {
	catalog := func() *devices.Catalog { return s.memory.allocator.Catalog }
	return []controller.Watch{
		watch(devices.Slices, func(api *controller.Client, c *commit.Commit) {
			if c.Deleted() {
				catalog().Remove(c.Name)
				return
			}
			catalog().Put(c.Object())
			s.retryFor(api, &event{kind: devicesSeen})
		}),
		watch(devices.Rules, func(api *controller.Client, c *commit.Commit) {
			if !hasTaintRules(api) {
				return
			}
			if catalog().RemoveRule(c.Name); !c.Deleted() {
				catalog().PutRule(c.Object())
			}
			s.retryFor(api, &event{kind: devicesSeen})
		}),
		watch(devices.Classes, func(api *controller.Client, c *commit.Commit) {
			s.memory.extended = nil
			e := &event{kind: devicesClassed}
			if c.Deleted() {
				return
			}
			if e.new = c.Object(); !c.Created() {
				e.old = c.OldObject()
			}
			s.retryFor(api, e)
		}),
		watch(devices.Claims, s.deviceClaimSeen),
	}
}

// hasTaintRules reports whether the taints of DeviceTaintRules are in effect.
func hasTaintRules(api *controller.Client) bool {
	on, known := api.Profile().Gates["DRADeviceTaintRules"]
	return on || !known && api.Since(37)
}

// learnDevices reads the existing slices, rules and claims.
func (s *Scheduler) learnDevices(api *controller.Client) {
	m, profile := &s.memory, api.Profile()
	m.claims = map[controller.Key]object.Object{}
	m.allocator = &devices.Allocator{Minor: profile.Minor, Catalog: &devices.Catalog{}, Usage: &devices.Usage{}, Features: devices.Features{
		Partitions: profile.Gates["DRAPartitionableDevices"], Taints: profile.Gates["DRADeviceTaints"],
		Conditions: profile.Gates["DRADeviceBindingConditions"], Capacity: profile.Gates["DRAConsumableCapacity"]}}
	for _, slice := range api.All(devices.Slices, "") {
		m.allocator.Catalog.Put(slice)
	}
	if hasTaintRules(api) {
		for _, rule := range api.All(devices.Rules, "") {
			m.allocator.Catalog.PutRule(rule)
		}
	}
	for _, claim := range api.All(devices.Claims, "") {
		s.putClaim(claim)
	}
	for _, claim := range m.Assumed { // order does not matter: each has another key
		s.putClaim(claim)
	}
}

func (s *Scheduler) putClaim(claim object.Object) {
	s.memory.claims[controller.Key{Namespace: claim.Namespace(), Name: claim.Name()}] = claim
	s.memory.allocator.Usage.Put(claim)
}

// deviceClaimSeen applies a commit of a ResourceClaim.
func (s *Scheduler) deviceClaimSeen(api *controller.Client, c *commit.Commit) {
	m, key := &s.memory, controller.Key{Namespace: c.Namespace, Name: c.Name}
	before := m.claims[key]
	if c.Deleted() {
		delete(m.claims, key)
		delete(m.Assumed, key.String())
		m.allocator.Usage.Remove(key)
		s.retryFor(api, &event{kind: devicesClaimed, old: before})
		return
	}
	now := c.Object()
	if assumed := m.Assumed[key.String()]; assumed != nil {
		if revision(now) < revision(assumed) {
			return
		}
		delete(m.Assumed, key.String())
	}
	s.putClaim(now)
	s.retryFor(api, &event{kind: devicesClaimed, old: before, new: now})
}

func revision(obj object.Object) uint64 {
	n, _ := strconv.ParseUint(obj.ResourceVersion(), 10, 64)
	return n
}

// assume makes a claim that the scheduler has written visible to it, even if its cache lags.
func (s *Scheduler) assume(claim object.Object) {
	key := controller.Key{Namespace: claim.Namespace(), Name: claim.Name()}
	if have := s.memory.claims[key]; have != nil && revision(have) < revision(claim) {
		s.assumeNew(claim)
	}
}

// assumeNew is like assume, but for a claim that the scheduler has created.
func (s *Scheduler) assumeNew(claim object.Object) {
	if s.memory.Assumed == nil {
		s.memory.Assumed = map[string]object.Object{}
	}
	s.memory.Assumed[controller.Key{Namespace: claim.Namespace(), Name: claim.Name()}.String()] = claim
	s.putClaim(claim)
}

// claimsOf returns the resource claims of a pod. If one of them cannot be used, why is the reason (foreachPodResourceClaim).
func (s *Scheduler) claimsOf(p *pod) (all []object.Object, why string) {
	for _, c := range p.claims {
		name, generated := c.String("resourceClaimName"), false
		if name == "" {
			if name, generated = p.generated[c.String("name")]; !generated {
				return nil, fmt.Sprintf("pod %q: ResourceClaim not created yet", p.Key)
			}
		}
		if name == "" {
			continue // the claim is not needed
		}
		claim := s.memory.claims[controller.Key{Namespace: p.Namespace, Name: name}]
		switch {
		case claim == nil:
			return nil, fmt.Sprintf("resourceclaim.resource.k8s.io %q not found", name)
		case claim.DeletionTimestamp() != "":
			return nil, fmt.Sprintf("resourceclaim %q is being deleted", name)
		case generated && workload.ControllerOf(claim).String("uid") != p.uid:
			return nil, fmt.Sprintf("ResourceClaim %s/%s was not created for Pod %s (Pod is not owner)", p.Namespace, name, p.Key)
		}
		all = append(all, claim)
	}
	return all, ""
}

// lacksClaims reports whether a pod cannot be tried because of a missing claim (PreEnqueue).
func (s *Scheduler) lacksClaims(p *pod) bool {
	_, why := s.claimsOf(p)
	return why != ""
}

// isReserved reports whether a claim is reserved for a pod.
func isReserved(claim object.Object, uid string) bool {
	return slices.ContainsFunc(claim.Objects("status", "reservedFor"), func(r object.Object) bool { return r.String("uid") == uid })
}

// prepareClaims reads the claims of the pod. If the verdict rejects the pod, no node fits (PreFilter).
func (c *cycle) prepareClaims() verdict {
	all, why := c.s.claimsOf(c.pod)
	if why != "" {
		return final(why)
	}
	p := &podClaims{all: all, allocations: map[string][]object.Object{}, unavailable: map[int]bool{}}
	if c.prepareExtended(p); len(p.all) == 0 {
		return verdict{}
	}
	c.claims.podClaims = p
	for i, claim := range p.all {
		if claim.Has("status", "allocation") {
			var nodes workload.NodeTerms
			if claim.Has("status", "allocation", "nodeSelector") {
				nodes = workload.NodeTermsOf(claim.Objects("status", "allocation", "nodeSelector", "nodeSelectorTerms"))
			}
			p.nodes = append(p.nodes, nodes)
			continue
		}
		p.nodes = append(p.nodes, nil)
		if i == p.extended.index {
			continue
		}
		p.unallocated = append(p.unallocated, claim)
		if why := c.lacksClass(claim); why != "" {
			return final(why)
		}
	}
	c.s.memory.allocator.Cluster = deviceCluster{c.api}
	return verdict{}
}

// lacksClass returns a message if a device class that a claim names does not exist, and otherwise "".
func (c *cycle) lacksClass(claim object.Object) (why string) {
	for _, r := range claim.Objects("spec", "devices", "requests") {
		requests, prefix := []object.Object{r.At("exactly")}, r.String("name")
		if r.Has("firstAvailable") {
			requests = r.Objects("firstAvailable")
		}
		for _, x := range requests {
			name := prefix
			if r.Has("firstAvailable") {
				name += "/" + x.String("name")
			}
			if class := x.String("deviceClassName"); c.api.Item(devices.Classes, "", class) == nil {
				return fmt.Sprintf("request %s: device class %s does not exist", name, class)
			}
		}
	}
	return ""
}

// deviceCluster implements devices.Cluster.
type deviceCluster struct{ api *controller.Client }

// Class implements devices.Cluster.
func (c deviceCluster) Class(name string) object.Object { return c.api.Get(devices.Classes, "", name) }

// NewShareID implements devices.Cluster. It returns a version 4 UUID.
func (c deviceCluster) NewShareID() string {
	var digits strings.Builder
	for range 8 {
		fmt.Fprintf(&digits, "%04x", c.api.Random(1<<16))
	}
	d := digits.String()
	return d[:8] + "-" + d[8:12] + "-4" + d[13:16] + "-" + string("89ab"[c.api.Random(4)]) + d[17:20] + "-" + d[20:]
}

// filterClaims accepts nodes on which the allocated claims are available and devices can be allocated for the others.
func filterClaims(c *cycle, n *node) verdict {
	p := c.claims.podClaims
	if p == nil {
		return verdict{}
	}
	unallocated, v := c.claimsFor(n)
	if !v.fits() {
		return v
	}
	unavailable := false
	for i, claim := range p.all {
		if p.nodes[i] != nil && !p.nodes[i].Match(n.name, n.labels) || c.s.isStuck(c.api, claim) {
			p.unavailable[i], unavailable = true, true
		}
	}
	if len(unallocated) > 0 {
		allocations, ok, err := c.s.memory.allocator.Allocate(devices.Node{Name: n.name, Labels: n.labels}, unallocated)
		var here *devices.NodeError
		switch {
		case errors.As(err, &here):
			return final(here.Error())
		case err != nil:
			return verdict{plugin: dynamicResources, reasons: []string{err.Error()}, final: true, failed: true}
		case !ok:
			return final("cannot allocate all claims")
		}
		p.allocations[n.name] = allocations
	}
	if unavailable {
		return final("resourceclaim not available on the node")
	}
	return verdict{}
}

// listMax is the maximum number of alternatives in a prioritised list (FirstAvailableDeviceRequestMaxSize).
const listMax = 8

// scoreClaims prefers nodes on which the first choices of prioritised lists are available (computeScore).
func scoreClaims(c *cycle, among []*node) ([]int64, bool) {
	p := c.claims.podClaims
	if p == nil {
		return nil, false
	}
	scores := c.each(among, func(n *node) (sum int64) {
		next := 0
		for _, claim := range p.all {
			allocation := claim.At("status", "allocation")
			if allocation == nil {
				if next == len(p.allocations[n.name]) {
					break // the node has the extended resources
				}
				allocation = p.allocations[n.name][next]
				next++
			}
			sum += preference(claim, allocation)
		}
		return sum
	})
	most := slices.Max(scores)
	for i, s := range scores {
		if most > 0 {
			scores[i] = maxScore * s / most
		}
	}
	return scores, most > 0
}

// preference returns the score of an allocation: for each prioritised list, the more the earlier its allocated entry.
func preference(claim, allocation object.Object) (sum int64) {
	chosen := map[string]bool{}
	for _, r := range allocation.Objects("devices", "results") {
		chosen[r.String("request")] = true
	}
	for _, r := range claim.Objects("spec", "devices", "requests") {
		for i, x := range r.Objects("firstAvailable") {
			if chosen[r.String("name")+"/"+x.String("name")] {
				sum += int64(listMax - i)
			}
		}
	}
	return sum
}

// claimsHint reports whether an event may allow a pod to get its devices (DynamicResources.EventsToRegister).
func claimsHint(c *cycle, e *event) bool {
	switch e.kind {
	case nodeCame, devicesSeen, devicesClassed:
		return true
	case nodeChanged:
		return !sameNode(e.before, e.now)
	case ownClaims:
		return !c.s.lacksClaims(c.pod)
	case devicesClaimed:
	default:
		return false
	}
	all, why := c.s.claimsOf(c.pod)
	if why != "" {
		return false
	}
	if e.old.Has("status", "allocation") && !e.new.Has("status", "allocation") {
		return true
	}
	return slices.ContainsFunc(all, func(claim object.Object) bool { return claim.UID() == e.new.UID() }) &&
		(e.old == nil || !object.Equal(e.old.Map("status"), e.new.Map("status")))
}
