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

// spreadConstraint is a topologySpreadConstraint. It limits how unevenly pods may be distributed over the domains of a
// topology.
type spreadConstraint struct {
	topology      string
	hard          bool
	skew          int64
	least         int // minDomains
	selector      selector.Labels
	counted       string // identifies the group of pods that it counts
	honorAffinity bool
	honorTaints   bool
}

// spreadConstraintOf reads a constraint of a pod that has the given namespace and labels.
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

// eligible reports whether node n counts when the domains of constraint s are determined for pod p.
func (s *spreadConstraint) eligible(p *pod, n *node) bool {
	return (!s.honorAffinity || p.affinity.Match(n.name, n.labels)) &&
		(!s.honorTaints || !workload.Untolerated(n.taints, p.tolerations, "NoSchedule", "NoExecute"))
}

// hasTopologies reports whether a node has the topology labels of all constraints.
func hasTopologies(n *node, all []spreadConstraint) bool {
	return !slices.ContainsFunc(all, func(s spreadConstraint) bool {
		_, ok := n.labels[s.topology]
		return !ok
	})
}

// poolKey returns the key of the nodes that count for constraint s of pod p and have the given topologies.
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

// topologiesOf returns the topologies of all constraints as one string, for poolKey.
func topologiesOf(all []spreadConstraint) (text string) {
	for _, s := range all {
		text += s.topology + ","
	}
	return text
}

// tally returns the distribution of the pods that a constraint of the pod to place counts. Only nodes that have the topologies
// of all required constraints are included.
func (c *cycle) tally(s *spreadConstraint, required []spreadConstraint) *tally {
	x := c.cluster.census
	key := s.poolKey(c.pod, topologiesOf(required))
	x.pool(key, func(n *node) bool { return hasTopologies(n, required) && s.eligible(c.pod, n) })
	return x.tally(x.group(s, c.pod.Namespace), s.topology, key)
}

// spreading holds the hard constraints of the pod to place and, for each, the number of the counted pods by domain.
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

// countSpread counts the existing pods for each hard constraint.
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

// add adds a pod on a node to the counts if times is 1, and removes it if times is -1.
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

// least returns the lowest number of pods in a domain of constraint i. If there are fewer domains than minDomains, it returns 0.
func (s spreading) least(i int) int {
	if t := s.tallies[i]; t.domains >= s.constraints[i].least {
		return t.least
	}
	return 0
}

// filterSpread rejects nodes on which the pod would exceed maxSkew.
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

// softConstraints returns the constraints that affect scores. own reports that they are the pod's own. A pod without constraints
// gets the default ones, which spread the pods of its Services and its controller over nodes and zones (podtopologyspread,
// systemDefaultConstraints).
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

// alike returns a selector for the pods of the pod's Services and controller (helper.DefaultSelector). It returns false if the pod
// has neither.
func (c *cycle) alike() (selector.Labels, bool) {
	var all []any // expressions of the LabelSelector
	c.api.Items("services", c.pod.Namespace, func(it *resource.Item) bool {
		if of := c.s.memory.selectors.of(it, true); of.parsed.Match(c.pod.label) {
			all = append(all, of.expressions...)
		}
		return true
	})
	all = append(all, c.ownerSelects(c.pod.owner.Value())...)
	if len(all) == 0 {
		return selector.Labels{}, false
	}
	s, err := selector.FromLabelSelector(map[string]any{"matchExpressions": all})
	return s, err == nil
}

// ownerSelects returns the selector of the pod's controller, as expressions of a LabelSelector.
func (c *cycle) ownerSelects(ref workload.ControllerRef) []any {
	of := map[string]string{"v1/ReplicationController": "replicationcontrollers", "apps/v1/ReplicaSet": "replicasets.apps",
		"apps/v1/StatefulSet": "statefulsets.apps"}[ref.APIVersion+"/"+ref.Kind]
	if of == "" {
		return nil
	}
	it := c.api.Item(of, c.pod.Namespace, ref.Name)
	if it == nil {
		return nil
	}
	return c.s.memory.selectors.of(it, of == "replicationcontrollers").expressions
}

// scoreSpread prefers domains with few pods (PodTopologySpread.PreScore, Score). ok is false if no constraint affects scores.
func scoreSpread(c *cycle, among []*node) (scores []int64, ok bool) {
	soft, own := c.softConstraints()
	if len(soft) == 0 {
		return nil, false
	}
	counts, scored := c.countSoft(soft, own, among)
	scores = c.room(len(among))
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

// softCount holds the number of pods in each domain of one constraint, and the weight of a pod.
type softCount struct {
	number int    // number of the topology
	group  *group // the counted pods if each node is a domain; otherwise nil
	pods   []int  // number of pods by domain if group is nil, or the constant unknown for a domain without a scored node
	weight float64
}

const unknown = -1

// on returns the number of pods in the domain of a node.
func (s *softCount) on(n *node, at location) int {
	if s.group != nil {
		return s.group.perNode[n]
	}
	return s.pods[at.domain]
}

// countSoft counts the pods in the domains of the nodes in among. scored marks the nodes that are scored: if the constraints are
// the pod's own, those with all topologies, and otherwise all.
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
		counts[j].weight = math.Round(math.Log(float64(size+2))*1e9) / 1e9 // rounded, so that it is the same on all machines
	}
	return counts, scored
}

// read copies the counts for the domains of the scored nodes from a tally. It returns the number of these domains.
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
