package scheduler

import (
	"math"
	"slices"

	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

const (
	hostname = "kubernetes.io/hostname"
	zone     = "topology.kubernetes.io/zone"
)

// spreadConstraint is a topologySpreadConstraint: how evenly pods are to be spread over the domains of a topology.
type spreadConstraint struct {
	topology      string
	hard          bool
	skew          int64
	least         int // minDomains
	selector      selector.Labels
	counted       string // names the pods that it selects
	honorAffinity bool
	honorTaints   bool
}

// spreadConstraintOf reads a constraint of a pod in a namespace, with labels.
func spreadConstraintOf(c object.Object, namespace string, labels map[string]string) spreadConstraint {
	s := spreadConstraint{topology: c.String("topologyKey"), hard: c.String("whenUnsatisfiable") == "DoNotSchedule", skew: c.Int64("maxSkew"),
		least: 1, honorAffinity: c.String("nodeAffinityPolicy") != "Ignore", honorTaints: c.String("nodeTaintsPolicy") == "Honor"}
	if n, ok := c.Int("minDomains"); ok {
		s.least = int(n)
	}
	of := c
	for _, key := range c.Strings("matchLabelKeys") {
		if value, ok := labels[key]; ok && c.Has("labelSelector") {
			of = of.Copy()
			of.Set(append(of.List("labelSelector", "matchExpressions"), map[string]any{"key": key, "operator": "In", "values": []any{value}}),
				"labelSelector", "matchExpressions")
		}
	}
	s.selector = selectorAt(of, "labelSelector")
	s.counted = namespace + "/" + s.selector.String()
	return s
}

// eligible reports whether a node counts as part of its domain.
func (s *spreadConstraint) eligible(p *pod, n *node) bool {
	return (!s.honorAffinity || p.affinity.Match(n.name, n.labels)) &&
		(!s.honorTaints || !workload.Untolerated(n.taints, p.tolerations, "NoSchedule", "NoExecute"))
}

// hasTopologies reports whether a node has all labels that the constraints are about.
func hasTopologies(n *node, all []spreadConstraint) bool {
	return !slices.ContainsFunc(all, func(s spreadConstraint) bool {
		_, ok := n.labels[s.topology]
		return !ok
	})
}

// poolKey names the nodes that count for a constraint of a pod, which have to have some topologies.
func (s *spreadConstraint) poolKey(p *pod, topologies string) (key poolKey) {
	key.topologies = topologies
	if s.honorAffinity {
		key.affinity = p.affinityText
	}
	if s.honorTaints {
		key.tolerations = p.tolerationsText
	}
	return key
}

// topologiesOf returns the topologies of constraints as a text.
func topologiesOf(all []spreadConstraint) (text string) {
	for _, s := range all {
		text += s.topology + ","
	}
	return text
}

// tally returns how the pods that a constraint of the pod to place counts are spread over the nodes that have the topologies of some
// constraints.
func (c *cycle) tally(s *spreadConstraint, required []spreadConstraint) *tally {
	x := c.cluster.census
	key := s.poolKey(c.pod, topologiesOf(required))
	x.pool(key, func(n *node) bool { return hasTopologies(n, required) && s.eligible(c.pod, n) })
	return x.tally(x.group(s, c.pod.Namespace), s.topology, key)
}

// spreading is how the pods that the hard constraints of the pod to place are about are spread: by constraint.
type spreading struct {
	constraints []spreadConstraint
	tallies     []*tally
}

func (s spreading) fork() spreading {
	tallies := make([]*tally, len(s.tallies))
	for i, t := range s.tallies {
		tallies[i] = t.fork()
	}
	return spreading{s.constraints, tallies}
}

// countSpread counts the existing pods.
func (c *cycle) countSpread() {
	c.spread = spreading{}
	for _, s := range c.pod.spread {
		if s.hard {
			c.spread.constraints = append(c.spread.constraints, s)
		}
	}
	for i := range c.spread.constraints {
		c.spread.tallies = append(c.spread.tallies, c.tally(&c.spread.constraints[i], c.spread.constraints))
	}
}

// add counts a pod on a node, times times.
func (s spreading) add(c *cycle, p *pod, n *node, times int) {
	if !hasTopologies(n, s.constraints) {
		return
	}
	for i := range s.constraints {
		x := &s.constraints[i]
		if p.Namespace == c.pod.Namespace && x.selector.Match(p.label) && x.eligible(c.pod, n) {
			s.tallies[i].add(n.labels[x.topology], times)
		}
	}
}

// least returns how many pods the emptiest domain has; too few domains count as if there were an empty one.
func (s spreading) least(i int) int {
	if t := s.tallies[i]; t.domains >= s.constraints[i].least {
		return t.least
	}
	return 0
}

// filterSpread lets pass where the pod does not make the domains too uneven.
func filterSpread(c *cycle, n *node) verdict {
	for i := range c.spread.constraints {
		s := &c.spread.constraints[i]
		value, ok := n.labels[s.topology]
		if !ok {
			return final("node(s) didn't match pod topology spread constraints (missing required label)")
		}
		own := 0
		if s.selector.Match(c.pod.label) {
			own = 1
		}
		if c.spread.tallies[i].in(value)+own-c.spread.least(i) > int(s.skew) {
			return rejected("node(s) didn't match pod topology spread constraints")
		}
	}
	return verdict{}
}

// softConstraints returns the constraints that score nodes. A pod without any is spread like the pods of its services and its
// controller, over nodes and then zones (podtopologyspread, systemDefaultConstraints).
func (c *cycle) softConstraints() (soft []spreadConstraint, own bool) {
	for _, s := range c.pod.spread {
		if !s.hard {
			soft = append(soft, s)
		}
	}
	if len(c.pod.spread) > 0 {
		return soft, true
	}
	alike, ok := c.alike()
	if !ok {
		return nil, false
	}
	for _, d := range []spreadConstraint{{topology: hostname, skew: 3}, {topology: zone, skew: 5}} {
		d.selector, d.counted, d.honorAffinity = alike, c.pod.Namespace+"/"+alike.String(), true
		soft = append(soft, d)
	}
	return soft, false
}

// alike selects the pods of the services and of the controller of the pod (helper.DefaultSelector).
func (c *cycle) alike() (selector.Labels, bool) {
	var all []any // expressions
	c.api.Items("services", c.pod.Namespace, func(it *resource.Item) bool {
		if of := c.s.memory.selectors.of(it, true); of.parsed.Match(c.pod.label) {
			all = append(all, of.expressions...)
		}
		return true
	})
	if ref := c.pod.owner; ref != nil {
		all = append(all, c.ownerSelects(ref)...)
	}
	if len(all) == 0 {
		return selector.Labels{}, false
	}
	s, err := selector.FromLabelSelector(map[string]any{"matchExpressions": all})
	return s, err == nil
}

// ownerSelects returns the selector of the pod's controller, as expressions of a LabelSelector.
func (c *cycle) ownerSelects(ref object.Object) []any {
	of := map[string]string{"v1/ReplicationController": "replicationcontrollers", "apps/v1/ReplicaSet": "replicasets.apps",
		"apps/v1/StatefulSet": "statefulsets.apps"}[ref.String("apiVersion")+"/"+ref.String("kind")]
	if of == "" {
		return nil
	}
	it := c.api.Item(of, c.pod.Namespace, ref.String("name"))
	if it == nil {
		return nil
	}
	return c.s.memory.selectors.of(it, of == "replicationcontrollers").expressions
}

// scoreSpread prefers domains with few pods (PodTopologySpread.PreScore, Score).
func scoreSpread(c *cycle, among []*node) (scores []int64, ok bool) {
	soft, own := c.softConstraints()
	if len(soft) == 0 {
		return nil, false
	}
	counts, scored := c.countSoft(soft, own, among)
	scores = make([]int64, len(among))
	least, most := int64(math.MaxInt64), int64(0)
	for i, n := range among {
		if !scored[i] {
			continue
		}
		sum := 0.0
		for j := range soft {
			at := c.cluster.topologies.locate(n, counts[j].number, soft[j].topology)
			if !at.has {
				continue
			}
			sum += float64(float64(counts[j].on(n, at))*counts[j].weight) + float64(soft[j].skew-1)
		}
		scores[i] = int64(math.Round(sum))
		least, most = min(least, scores[i]), max(most, scores[i])
	}
	for i := range scores {
		switch {
		case !scored[i]:
			scores[i] = 0
		case most == 0:
			scores[i] = maxScore
		default:
			scores[i] = maxScore * (most + least - scores[i]) / most
		}
	}
	return scores, true
}

// softCount is how many pods are in the domains of one constraint, and how much one of them counts.
type softCount struct {
	number int    // of the topology
	group  *group // if each node is a domain
	pods   []int  // otherwise, by domain; unknown for a domain without a node that is scored
	weight float64
}

const unknown = -1

// on returns the number of pods in the domain of a node.
func (s *softCount) on(n *node, at location) int {
	if s.group != nil {
		return s.group.on[n]
	}
	return s.pods[at.domain]
}

// countSoft counts the pods in the domains of the nodes that are left. scored marks the nodes that have all topologies; if the
// constraints are not the pod's own it does not matter.
func (c *cycle) countSoft(soft []spreadConstraint, own bool, among []*node) (counts []softCount, scored []bool) {
	counts, scored = make([]softCount, len(soft)), make([]bool, len(among))
	var required []spreadConstraint
	if own {
		required = soft
	}
	left := 0
	for i, n := range among {
		if scored[i] = hasTopologies(n, required); scored[i] {
			left++
		}
	}
	for j := range soft {
		s, size := &soft[j], left
		counts[j].number = c.cluster.topologies.number(s.topology)
		if s.topology == hostname {
			counts[j].group = c.cluster.census.group(s, c.pod.Namespace)
		} else {
			size = counts[j].read(c, s.topology, c.tally(s, required), among, scored)
		}
		counts[j].weight = math.Round(math.Log(float64(size+2))*1e9) / 1e9 // the same on all machines
	}
	return counts, scored
}

// read takes the number of pods in the domains of the nodes that are scored from a tally. It returns how many domains these are.
func (s *softCount) read(c *cycle, topology string, t *tally, among []*node, scored []bool) (domains int) {
	for i, n := range among {
		if !scored[i] {
			continue
		}
		at := c.cluster.topologies.locate(n, s.number, topology).domain
		for at >= len(s.pods) {
			s.pods = append(s.pods, unknown)
		}
		if s.pods[at] == unknown {
			s.pods[at] = t.in(n.labels[topology])
			domains++
		}
	}
	return domains
}
