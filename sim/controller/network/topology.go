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

// topology is the state of services that use topology-aware hints. Their endpoints are distributed among zones in proportion to
// the CPUs of the zones' nodes (package topologycache of k8s.io/endpointslice; KEP-2433):
//
//	CPUs of zones a and b are 3 : 1 ─▶ of four endpoints, three are for a ─▶ if b has two endpoints, their hints are a and b
type topology struct {
	Shares  map[string]map[string]map[string]int `json:",omitempty"` // number of hints by service, IP family and zone
	Enabled map[string]bool                      `json:",omitempty"` // the services that have hints
}

const (
	overload     = 0.2 // the fraction by which an endpoint's traffic may exceed its share
	zoneLabel    = "topology.kubernetes.io/zone"
	hintsEnabled = "TopologyAwareHintsEnabled"
	hintsGone    = "TopologyAwareHintsDisabled"
)

// byTopology reports whether the annotations of a service enable topology-aware hints.
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

// hint sets the hints of a service's endpoints in an IP family, either by topology or according to the service's spec. It returns
// the events to record.
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

// share distributes the endpoints of a service among zones. It returns the event to record. If the distribution is impossible,
// the reason is hintsGone (TopologyCache.AddHints).
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
			for zone, n := range of { // order does not matter: a sum per zone
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

// hintsIn returns the number of hints for each zone in an unchanged slice. It returns false if the hints are wrong
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
	for zone, n := range of { // order does not matter: all must be valid
		if n+hinted[zone] > shares[zone].most {
			return nil, false
		}
	}
	return of, true
}

// even moves endpoints from zones with more than their share to zones with less, and updates hinted
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

// transfers returns the number of endpoints that each zone should give or receive (topologycache.getGivingAndReceivingZones).
func transfers(shares map[string]share, hinted map[string]int) (giving, receiving map[string]int) {
	over, under := map[string]float64{}, map[string]float64{}
	for zone, x := range shares { // order does not matter: the results are maps
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

// largest returns the zone with the largest positive number. If several zones have it, largest returns the first by name.
func largest(of map[string]float64) (zone string, most float64) {
	for _, name := range object.SortedKeys(of) {
		if of[name] > most {
			zone, most = name, of[name]
		}
	}
	return zone, most
}

// share is the number of a service's endpoints that should serve a zone.
type share struct {
	least, most int
	wanted      float64
}

// sharesOf returns the share of each zone for a number of endpoints, or the reason why there is no valid distribution
// (TopologyCache.getAllocations).
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
	for zone, part := range zones { // order does not matter: a sum and a map
		wanted := part * float64(endpoints)
		least := leastOf(wanted)
		rest -= least
		shares[zone] = share{least: least, wanted: max(wanted, float64(least))}
	}
	if rest < 0 {
		return nil, "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold" + counts
	}
	for zone, x := range shares { // order does not matter: zones are independent
		x.most = x.least + rest
		shares[zone] = x
	}
	return shares, ""
}

// leastOf returns the minimum number of endpoints that can handle the traffic of the wanted number.
func leastOf(wanted float64) int { return int(math.Ceil(wanted * (1 / (1 + overload)))) }

// zonesOf returns each zone's fraction of the CPUs of ready nodes. It returns nil if there are fewer than two zones, or if the
// zone or the CPUs of a node are unknown (TopologyCache.SetNodes).
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
	for zone, cpu := range cpus { // order does not matter: zones are independent
		parts[zone] = float64(cpu) / float64(total)
	}
	return parts
}

// zoneFacts contains the fields of a node that the distribution depends on.
type zoneFacts struct {
	zone        string
	ready, left bool // left reports that the node runs the control plane and is ignored
	cpu         int64
}

func zoneFactsOf(node object.Object) zoneFacts {
	labels := node.Labels()
	_, plane := labels["node-role.kubernetes.io/control-plane"]
	_, master := labels["node-role.kubernetes.io/master"]
	return zoneFacts{labels[zoneLabel], node.Condition("Ready").String("status") == "True", plane || master,
		workload.AmountsOf(resource.AmountsAt(node, "status", "allocatable")).CPU}
}

// overloaded returns the keys of the services for which a zone has too few endpoints after a change of nodes
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

// tooFew reports whether any zone has fewer endpoints than it needs (topologycache.serviceOverloaded).
func tooFew(of map[string]int, zones map[string]float64) bool {
	total := 0.0
	for _, n := range of { // order does not matter: a sum
		total += float64(n)
	}
	if len(of) == 0 || len(zones) == 0 {
		return len(of) > 0
	}
	for zone, part := range zones { // order does not matter: any match suffices
		if n, ok := of[zone]; !ok || n < leastOf(total*part) {
			return true
		}
	}
	return false
}

// hint sets the hints of a service's endpoints according to its spec.trafficDistribution (endpointslice/trafficdist; KEP-4444,
// KEP-3015). If near is empty, hint removes all hints. It also updates otherwise unchanged slices with wrong hints.
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

// hints returns the hints of a ready endpoint: its zone and, for PreferSameNode, its node.
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
