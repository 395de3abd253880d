// Package devices allocates devices to resource claims (dynamic resource allocation, KEP-4381).
//
//	ResourceSlices ─▶ Catalog: slices by node ─┐
//	allocated claims ─▶ Usage: devices in use ─┤
//	                                           ▼
//	claims, a node ─▶ Allocator.Allocate ─▶ pools of the node ─▶ candidates: devices in order of pool, slice, position
//	                    │                                          │
//	                    │   claim 0  request 0   device 0 ─▶ first candidate that is free, selected and allowed
//	                    │                        device 1 ─▶ a later candidate              │ none: back to the
//	                    │            request 1   alternatives in order, the first that works ◀┘ device before
//	                    ▼
//	                  an allocation for each claim, for its status
//
// The search is exhaustive and takes the first solution, so the order of candidates decides which devices are allocated. It
// follows the allocator that kube-scheduler uses if only beta features are enabled (dynamic-resource-allocation/structured,
// package incubating). Not supported are alpha features: attributes with lists of values, and derived attributes.
package devices

import (
	"cmp"
	"slices"

	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// These are the storage names of the resources of resource.k8s.io.
const (
	Claims    = "resourceclaims.resource.k8s.io"
	Templates = "resourceclaimtemplates.resource.k8s.io"
	Classes   = "deviceclasses.resource.k8s.io"
	Slices    = "resourceslices.resource.k8s.io"
	Rules     = "devicetaintrules.resource.k8s.io"
)

// Finalizer prevents the deletion of an allocated claim.
const Finalizer = "resource.kubernetes.io/delete-protection"

// ID identifies a device.
type ID struct{ Driver, Pool, Device string }

// String returns the ID as it appears in messages.
func (id ID) String() string { return id.Driver + "/" + id.Pool + "/" + id.Device }

// IDOf returns the ID of the device in a result of an allocation.
func IDOf(result object.Object) ID {
	return ID{object.Keep(result.String("driver")), object.Keep(result.String("pool")), object.Keep(result.String("device"))}
}

// Results returns the devices that are allocated to a claim.
func Results(claim object.Object) []object.Object {
	return claim.Objects("status", "allocation", "devices", "results")
}

// Node is a node for which devices are allocated.
type Node struct {
	Name   string
	Labels map[string]string
}

// place restricts a slice or a device to nodes.
type place struct {
	node     string
	all      bool
	selected bool
	terms    []object.Object // nodeSelectorTerms, if selected
}

func placeOf(obj object.Object) place {
	return place{obj.String("nodeName"), obj.True("allNodes"), obj.Has("nodeSelector"), obj.Objects("nodeSelector", "nodeSelectorTerms")}
}

// matches reports whether the place includes a node (structured.NodeMatches).
func (p place) matches(n Node) bool {
	switch {
	case p.node != "":
		return p.node == n.Name
	case p.all:
		return true
	}
	return p.selected && workload.NodeTermsOf(p.terms).Match(n.Name, n.Labels)
}

// device is a device of a slice.
type device struct {
	ID
	obj      object.Object
	slice    *slice
	place    place // if the slice has perDeviceNodeSelection
	taints   []object.Object
	capacity map[string]capacity
	counters []consumption
	multiple bool // several claims can share its capacity
}

// consumption is the amount that a device uses of each counter in a counter set of its pool.
type consumption struct {
	set      string
	counters map[string]quantity.Quantity
}

// slice is a parsed ResourceSlice.
type slice struct {
	name, driver, pool string
	generation, count  int64
	place              place
	perDevice          bool
	devices            []*device
	shared             []consumption // the counter sets that it defines
}

func parseSlice(obj object.Object) *slice {
	spec := obj.At("spec").Kept()
	s := &slice{name: obj.Name(), driver: spec.String("driver"), pool: spec.String("pool", "name"), generation: spec.Int64("pool", "generation"),
		count: spec.Int64("pool", "resourceSliceCount"), place: placeOf(spec), perDevice: spec.True("perDeviceNodeSelection")}
	for _, set := range spec.Objects("sharedCounters") {
		s.shared = append(s.shared, consumption{set.String("name"), countersOf(set)})
	}
	for _, d := range spec.Objects("devices") {
		x := &device{ID: ID{s.driver, s.pool, d.String("name")}, obj: d, slice: s, place: placeOf(d), taints: d.Objects("taints"),
			capacity: capacitiesOf(d), multiple: d.True("allowMultipleAllocations")}
		for _, c := range d.Objects("consumesCounters") {
			x.counters = append(x.counters, consumption{c.String("counterSet"), countersOf(c)})
		}
		s.devices = append(s.devices, x)
	}
	return s
}

func countersOf(set object.Object) map[string]quantity.Quantity {
	counters := map[string]quantity.Quantity{}
	for name, c := range set.Map("counters") { // order does not matter: the result is a map
		counters[name] = quantity.Of(object.As(c)["value"])
	}
	return counters
}

// Catalog holds the devices that drivers have published. The zero value is empty.
type Catalog struct {
	slices map[string]*slice
	byNode map[string][]*slice // sorted by name; the key "" has the slices without a node
	sorted []*slice
	newest map[ID]*device           // the devices in the newest generation of their pool
	rules  map[string]object.Object // taint rules by name
}

// Put adds or replaces a ResourceSlice.
func (c *Catalog) Put(obj object.Object) {
	if c.slices == nil {
		c.slices = map[string]*slice{}
	}
	c.slices[obj.Name()] = parseSlice(obj)
	c.sorted, c.byNode, c.newest = nil, nil, nil
}

// Remove removes a ResourceSlice.
func (c *Catalog) Remove(name string) {
	delete(c.slices, name)
	c.sorted, c.byNode, c.newest = nil, nil, nil
}

// PutRule adds or replaces a DeviceTaintRule.
func (c *Catalog) PutRule(obj object.Object) {
	if c.rules == nil {
		c.rules = map[string]object.Object{}
	}
	c.rules[obj.Name()] = obj
}

// RemoveRule removes a DeviceTaintRule.
func (c *Catalog) RemoveRule(name string) { delete(c.rules, name) }

// Selects reports whether the selector of a DeviceTaintRule matches a device. Empty fields match any value.
func Selects(selector object.Object, id ID) bool {
	for field, value := range map[string]string{"driver": id.Driver, "pool": id.Pool, "device": id.Device} { // order does not matter
		if selector.Has(field) && selector.String(field) != value {
			return false
		}
	}
	return true
}

// taintsOf returns the taints of a device: its own, and those of rules (resourceslice/tracker).
func (c *Catalog) taintsOf(d *device) []object.Object {
	taints := d.taints
	for _, name := range object.SortedKeys(c.rules) {
		if spec := c.rules[name].At("spec"); Selects(spec.At("deviceSelector"), d.ID) {
			taints = append(slices.Clip(taints), spec.At("taint"))
		}
	}
	return taints
}

// on returns the slices that may have devices for a node, sorted by name.
func (c *Catalog) on(node string) []*slice {
	if c.byNode == nil {
		c.byNode = map[string][]*slice{}
		for _, name := range object.SortedKeys(c.slices) {
			s := c.slices[name]
			key := s.place.node
			if len(s.shared) > 0 {
				key = ""
			}
			c.sorted, c.byNode[key] = append(c.sorted, s), append(c.byNode[key], s)
		}
	}
	all := slices.Concat(c.byNode[node], c.byNode[""])
	slices.SortFunc(all, func(a, b *slice) int { return cmp.Compare(a.name, b.name) })
	return all
}

// Taint is a taint of a device. If it comes from a DeviceTaintRule, Rule is the UID of the rule.
type Taint struct {
	object.Object
	Rule, RuleName string
}

// Evicting returns the taints with effect NoExecute of an allocated device. If byRules is set, they include those of rules, which
// apply even if the device is not published any more (allEvictingDeviceTaints).
func (c *Catalog) Evicting(id ID, byRules bool) (taints []Taint) {
	if d := c.published()[id]; d != nil {
		for _, t := range d.taints {
			taints = append(taints, Taint{Object: t})
		}
	}
	if byRules {
		for _, name := range object.SortedKeys(c.rules) {
			rule := c.rules[name]
			if spec := rule.At("spec"); spec.Has("deviceSelector") && Selects(spec.At("deviceSelector"), id) {
				taints = append(taints, Taint{spec.At("taint"), rule.UID(), name})
			}
		}
	}
	return slices.DeleteFunc(taints, func(t Taint) bool { return t.String("effect") != "NoExecute" })
}

// Count returns the number of published devices that the selector of a DeviceTaintRule matches.
func (c *Catalog) Count(selector object.Object) (n int) {
	for id := range c.published() { // order does not matter
		if Selects(selector, id) {
			n++
		}
	}
	return n
}

// published returns the devices in the newest generation of their pool.
func (c *Catalog) published() map[ID]*device {
	if c.newest == nil {
		c.newest = map[ID]*device{}
		for _, name := range object.SortedKeys(c.slices) {
			if s := c.slices[name]; !c.isObsolete(s) {
				for _, d := range s.devices {
					c.newest[d.ID] = d
				}
			}
		}
	}
	return c.newest
}

// isObsolete reports whether the pool of a slice has a newer generation.
func (c *Catalog) isObsolete(s *slice) bool {
	for _, other := range c.slices { // order does not matter
		if other.driver == s.driver && other.pool == s.pool && other.generation > s.generation {
			return true
		}
	}
	return false
}

// Tolerates reports whether a toleration of a request matches a taint (resourceclaim.ToleratesTaint).
func Tolerates(toleration, taint object.Object) bool {
	for _, field := range []string{"effect", "key"} {
		if v := toleration.String(field); v != "" && v != taint.String(field) {
			return false
		}
	}
	switch toleration.String("operator") {
	case "", "Equal":
		return toleration.String("value") == taint.String("value")
	}
	return toleration.String("operator") == "Exists"
}
