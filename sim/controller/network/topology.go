package network

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// topology is the state of services whose annotation asks for their endpoints to be shared out among zones, in proportion to the CPUs
// of their nodes (package topologycache of k8s.io/endpointslice; KEP-2433):
//
//	CPUs of zones a and b, 3 : 1 ─▶ of four endpoints, three are for a ─▶ hints of endpoints in b, if it has two: a, b
type topology struct {
	Shares  map[string]map[string]map[string]int `json:",omitempty"` // hints by service, family and zone
	Enabled map[string]bool                      `json:",omitempty"` // services that have hints
}

const (
	overload     = 0.2 // how much more traffic than its share an endpoint may get
	zoneLabel    = "topology.kubernetes.io/zone"
	hintsEnabled = "TopologyAwareHintsEnabled"
	hintsGone    = "TopologyAwareHintsDisabled"
)

// byTopology reports whether the annotations of a service want hints in proportion to zones.
func (s *service) byTopology() bool {
	annotations := s.Annotations()
	mode, ok := annotations["service.kubernetes.io/topology-aware-hints"]
	if !ok {
		mode = annotations["service.kubernetes.io/topology-mode"]
	}
	return mode == "Auto" || mode == "auto"
}

// hintEvent is an event about the hints of a Service.
type hintEvent struct{ kind, reason, message string }

// hint sets the hints of the endpoints of a service and a family: by zones, or, without the annotation, as its spec says. It returns
// the event to record.
func (t *topology) hint(api *controller.Client, s *service, family string, c *changes, have []*slice) (all []hintEvent) {
	key := s.Namespace() + "/" + s.Name()
	if s.byTopology() {
		kind, reason, message := t.share(key, family, c, have, zonesOf(api))
		if reason == hintsGone {
			t.remove(key, family)
			c.hint("", have)
		}
		if reason != "" {
			all = append(all, hintEvent{kind, reason, message + ", addressType: " + family})
		}
		return all
	}
	if t.Enabled[key] {
		all = append(all, hintEvent{"Warning", hintsGone, "Topology Aware Hints has been disabled, addressType: " + family})
	}
	t.remove(key, family)
	c.hint(s.String("spec", "trafficDistribution"), have)
	return all
}

func (t *topology) remove(key, family string) {
	delete(t.Shares[key], family)
	if len(t.Shares[key]) == 0 {
		delete(t.Shares, key)
	}
	delete(t.Enabled, key)
}

// share shares the endpoints of a service out among zones. It returns the event to record, with the reason hintsGone if that is not
// possible (TopologyCache.AddHints).
func (t *topology) share(key, family string, c *changes, have []*slice, zones map[string]float64) (kind, reason, message string) {
	ready := 0
	for _, x := range slices.Concat(c.create, c.update, c.untouched(have)) {
		for _, e := range x.endpoints {
			if e.True("conditions", "ready") {
				ready++
			}
		}
	}
	shares, why := sharesOf(zones, ready)
	if why != "" {
		return "Warning", hintsGone, why
	}
	hinted := map[string]int{}
	for _, x := range c.untouched(have) {
		if of, ok := hintsIn(x, hinted, shares); ok {
			for zone, n := range of { // order does not matter: sums
				hinted[zone] += n
			}
		} else {
			c.update = append(c.update, x)
		}
	}
	for _, x := range slices.Concat(c.create, c.update) {
		for i, e := range x.endpoints {
			zone := e.String("zone")
			switch {
			case !e.True("conditions", "ready"):
			case zone == "":
				return "Warning", hintsGone, "One or more endpoints do not have a zone specified"
			default:
				hinted[zone]++
				x.endpoints[i] = hintedFor(e, zone)
			}
		}
	}
	c.even(shares, hinted)
	if len(hinted) == 0 {
		return "Warning", hintsGone, "No hints allocated for zones"
	}
	if t.Shares == nil {
		t.Shares, t.Enabled = map[string]map[string]map[string]int{}, map[string]bool{}
	}
	if t.Shares[key] == nil {
		t.Shares[key] = map[string]map[string]int{}
	}
	before := t.Enabled[key]
	t.Shares[key][family], t.Enabled[key] = hinted, true
	if before {
		return "", "", ""
	}
	return "Normal", hintsEnabled, "Topology Aware Hints has been enabled"
}

func hintedFor(e object.Object, zone string) object.Object {
	e = e.Copy()
	e["hints"] = map[string]any{"forZones": []any{map[string]any{"name": zone}}}
	return e
}

// hintsIn counts the hints of a slice that nothing is done to. It is false if they are not as they should be
// (topologycache.getHintsByZone).
func hintsIn(x *slice, hinted map[string]int, shares map[string]share) (of map[string]int, ok bool) {
	of = map[string]int{}
	for _, e := range x.endpoints {
		if !e.True("conditions", "ready") {
			continue
		}
		zones := e.Objects("hints", "forZones")
		if len(zones) == 0 {
			return nil, false
		}
		for _, z := range zones {
			if _, known := shares[z.String("name")]; !known {
				return nil, false
			}
			of[z.String("name")]++
		}
	}
	for zone, n := range of { // order does not matter: all have to be right
		if n+hinted[zone] > shares[zone].most {
			return nil, false
		}
	}
	return of, true
}

// even gives endpoints of zones that have more than their share to zones that have less, and counts them there
// (topologycache.redistributeHints).
func (c *changes) even(shares map[string]share, hinted map[string]int) {
	giving, receiving := transfers(shares, hinted)
	for _, x := range slices.Concat(c.create, c.update) {
		for i, e := range x.endpoints {
			from := e.String("zone")
			if len(receiving) == 0 {
				return
			}
			if !e.True("conditions", "ready") || giving[from] == 0 {
				continue
			}
			to := object.SortedKeys(receiving)[0]
			x.endpoints[i] = hintedFor(e, to)
			giving[from]--
			if receiving[to]--; receiving[to] == 0 {
				delete(receiving, to)
			}
			hinted[to]++
			hinted[from]--
		}
	}
}

// transfers returns how many endpoints zones are to give and to receive (topologycache.getGivingAndReceivingZones).
func transfers(shares map[string]share, hinted map[string]int) (giving, receiving map[string]int) {
	over, under := map[string]float64{}, map[string]float64{}
	for zone, x := range shares { // order does not matter: maps again
		if more := float64(hinted[zone]) - x.wanted; more > 0 {
			over[zone] = more
		} else if more < 0 {
			under[zone] = -more
		}
	}
	giving, receiving = map[string]int{}, map[string]int{}
	for {
		from, give := largest(over)
		to, take := largest(under)
		if from == "" || to == "" || give < 1 && take < 1 || give < 0.5 || take < 0.5 {
			return giving, receiving
		}
		giving[from]++
		over[from]--
		receiving[to]++
		under[to]--
	}
}

// largest returns the zone with the largest number above 0, the first of those by name.
func largest(of map[string]float64) (zone string, most float64) {
	for _, name := range object.SortedKeys(of) {
		if of[name] > most {
			zone, most = name, of[name]
		}
	}
	return zone, most
}

// share is how many of the endpoints of a service are for a zone.
type share struct {
	least, most int
	wanted      float64
}

// sharesOf returns what each zone should have of a number of endpoints, or why that cannot be (TopologyCache.getAllocations).
func sharesOf(zones map[string]float64, endpoints int) (shares map[string]share, why string) {
	counts := fmt.Sprintf(" (%d endpoints, %d zones)", endpoints, len(zones))
	switch {
	case zones == nil:
		return nil, "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes"
	case len(zones) > endpoints:
		return nil, "Insufficient number of endpoints" + counts
	}
	shares = map[string]share{}
	rest := endpoints
	for zone, part := range zones { // order does not matter: a sum, and a map again
		wanted := part * float64(endpoints)
		least := leastOf(wanted)
		rest -= least
		shares[zone] = share{least: least, wanted: max(wanted, float64(least))}
	}
	if rest < 0 {
		return nil, "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold" + counts
	}
	for zone, x := range shares { // order does not matter: each for itself
		x.most = x.least + rest
		shares[zone] = x
	}
	return shares, ""
}

// leastOf is how many endpoints bear the traffic of so many.
func leastOf(wanted float64) int { return int(math.Ceil(wanted * (1 / (1 + overload)))) }

// zonesOf returns the share of each zone in the CPUs of ready nodes, or nil if there are fewer than two zones or it is not known
// of a node (TopologyCache.SetNodes).
func zonesOf(api *controller.Client) map[string]float64 {
	cpus, total := map[string]int64{}, int64(0)
	known := true
	api.Items(nodes, "", func(it *resource.Item) bool {
		n := resource.Derived(it, zoneFactsOf)
		if n.left || !n.ready {
			return true
		}
		cpus[n.zone] += n.cpu
		total += n.cpu
		known = n.zone != "" && n.cpu != 0
		return known
	})
	if !known || total == 0 || len(cpus) < 2 {
		return nil
	}
	parts := map[string]float64{}
	for zone, cpu := range cpus { // order does not matter: each for itself
		parts[zone] = float64(cpu) / float64(total)
	}
	return parts
}

// zoneFacts are what counts of a node when endpoints are shared out.
type zoneFacts struct {
	zone        string
	ready, left bool // left out: it runs the control plane
	cpu         int64
}

func zoneFactsOf(node object.Object) zoneFacts {
	labels := node.Labels()
	_, plane := labels["node-role.kubernetes.io/control-plane"]
	_, master := labels["node-role.kubernetes.io/master"]
	return zoneFacts{labels[zoneLabel], node.Condition("Ready").String("status") == "True", plane || master,
		workload.AmountsOf(resource.AmountsAt(node, "status", "allocatable")).CPU}
}

// overloaded returns the keys of the services of which a zone has too few endpoints after a change of nodes
// (TopologyCache.GetOverloadedServices).
func (t *topology) overloaded(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
	if len(t.Shares) == 0 {
		return nil
	}
	if !c.Created() && !c.Deleted() {
		now, before := resource.Derived(c.Item(), zoneFactsOf), resource.Derived(c.Before(), zoneFactsOf)
		if now.zone == before.zone && now.ready == before.ready {
			return nil
		}
	}
	zones := zonesOf(api)
	for _, key := range object.SortedKeys(t.Shares) {
		if slices.ContainsFunc(slices.Collect(maps.Values(t.Shares[key])), func(of map[string]int) bool { return tooFew(of, zones) }) {
			namespace, name, _ := strings.Cut(key, "/")
			keys = append(keys, controller.Key{Namespace: namespace, Name: name})
		}
	}
	return keys
}

// tooFew reports whether a zone has fewer endpoints than it needs (topologycache.serviceOverloaded).
func tooFew(of map[string]int, zones map[string]float64) bool {
	total := 0.0
	for _, n := range of { // order does not matter: a sum
		total += float64(n)
	}
	if len(of) == 0 || len(zones) == 0 {
		return len(of) > 0
	}
	for zone, part := range zones { // order does not matter: any
		if n, ok := of[zone]; !ok || n < leastOf(total*part) {
			return true
		}
	}
	return false
}

// hint sets the hints of a service's endpoints, as its spec.trafficDistribution says (endpointslice/trafficdist; KEP-4444, KEP-3015).
// If it is empty, there are no hints. Otherwise unchanged slices are changed if their hints are wrong.
func (c *changes) hint(near string, have []*slice) {
	wrong := func(e object.Object) bool {
		if near == "" {
			return e.Has("hints")
		}
		return e.True("conditions", "ready") && !object.SemanticEqual(e.Map("hints"), hints(e, near))
	}
	for _, x := range c.untouched(have) {
		if slices.ContainsFunc(x.endpoints, wrong) {
			c.update = append(c.update, x)
		}
	}
	for _, x := range slices.Concat(c.create, c.update) {
		for i, e := range x.endpoints {
			if near != "" && !e.True("conditions", "ready") {
				continue
			}
			e = e.Copy()
			if delete(e, "hints"); near != "" {
				if h := hints(e, near); h != nil {
					e["hints"] = h
				}
			}
			x.endpoints[i] = e
		}
	}
}

// hints are those of an endpoint that is ready: its zone and, if the service prefers one node, its node.
func hints(e object.Object, near string) map[string]any {
	h := map[string]any{}
	if zone := e.String("zone"); zone != "" {
		h["forZones"] = []any{map[string]any{"name": zone}}
	}
	if node := e.String("nodeName"); node != "" && near == "PreferSameNode" {
		h["forNodes"] = []any{map[string]any{"name": node}}
	}
	if len(h) == 0 {
		return nil
	}
	return h
}
