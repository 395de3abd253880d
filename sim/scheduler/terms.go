package scheduler

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
)

// hardAffinityWeight is the weight of a running pod's required affinity term when a pod that it selects is scored
// (InterPodAffinityArgs.hardPodAffinityWeight).
const hardAffinityWeight = 1

// podTerm is a term of a pod affinity or anti-affinity. It selects pods in the same domain of a topology.
type podTerm struct {
	topology   string // the label whose value names the domain
	selector   selector.Labels
	namespaces []string
	others     selector.Labels // selects further namespaces by their labels
	weight     int64
	text       string // identifies the fields above, without the weight
}

// podTermOf reads a PodAffinityTerm of a pod in a namespace. A term that does not specify namespaces applies to the pod's own.
func podTermOf(term object.Object, namespace string, weight int64) podTerm {
	t := podTerm{topology: term.String("topologyKey"), selector: selectorAt(term, "labelSelector"),
		namespaces: slices.Compact(slices.Sorted(slices.Values(term.Strings("namespaces")))), others: selectorAt(term, "namespaceSelector"), weight: weight}
	if len(t.namespaces) == 0 && !term.Has("namespaceSelector") {
		t.namespaces = []string{namespace}
	}
	t.text = strings.Join([]string{t.topology, textOf(t.selector), strings.Join(t.namespaces, ","), textOf(t.others)}, "\x00")
	return t
}

// textOf returns a selector as a string. The results for a selector of everything and for one of nothing differ.
func textOf(s selector.Labels) string {
	if s.Empty() {
		return "*"
	}
	return s.String()
}

// selectorAt reads a LabelSelector. If it is missing or invalid, it selects nothing.
func selectorAt(obj object.Object, field string) selector.Labels {
	s, err := selector.FromLabelSelector(obj.Map(field))
	if err != nil {
		return selector.Nothing()
	}
	return s
}

// selects reports whether the term selects pod p, in one of its namespaces.
func (t *podTerm) selects(c *cycle, p *pod) bool {
	return (slices.Contains(t.namespaces, p.Namespace) || t.others.Match(c.namespaceLabel(p.Namespace))) && t.selector.Match(p.label)
}

// namespaceLabel returns a function that looks up a label of a namespace, and reports whether the namespace exists and has it.
func (c *cycle) namespaceLabel(name string) func(string) (string, bool) {
	return func(label string) (string, bool) {
		if it := c.api.Item("namespaces", "", name); it != nil {
			return it.Label(label)
		}
		return "", false
	}
}

// domain is a value of a topology label.
type domain struct{ topology, value string }

// domains counts pods by domain. A count that becomes 0 is removed.
type domains map[domain]int64

func (d domains) add(n *node, topology string, times int64) {
	value, ok := n.labels[topology]
	if !ok {
		return
	}
	at := domain{topology, value}
	if d[at] += times; d[at] == 0 {
		delete(d, at)
	}
}

// termCounts counts the pods that affect the pod to place through pod affinity or anti-affinity (InterPodAffinity).
type termCounts struct {
	against []againstDomain // pods whose anti-affinity selects the pod to place, by topology
	more    domains         // the additions of a fork
	with    affinePods      // pods that its affinity selects
	apart   affinePods      // pods that its anti-affinity selects
}

// againstDomain counts pods by the domains of one topology. The counts are shared.
type againstDomain struct {
	topology string
	counts   []map[string]int64
}

// affinePods counts the pods that terms of the pod to place select. Most of them are in tallies of the census, which are
// shared.
type affinePods struct {
	tallies map[string][]*tally // tallies of the selected pods, by topology
	others  domains             // pods that are in no tally, and pods that a fork adds
}

func (a affinePods) fork() affinePods { return affinePods{a.tallies, maps.Clone(a.others)} }

// in returns the number of pods in a domain.
func (a affinePods) in(at domain) int64 {
	sum := a.others[at]
	for _, t := range a.tallies[at.topology] {
		sum += int64(t.in(at.value))
	}
	return sum
}

// isEmpty reports whether the terms select no pods.
func (a affinePods) isEmpty() bool {
	for topology, tallies := range a.tallies { // order does not matter: one pod is enough
		for _, t := range tallies {
			for value := range t.pods {
				if a.in(domain{topology, value}) > 0 {
					return false
				}
			}
		}
	}
	for at := range a.others { // order does not matter: one pod is enough
		if a.in(at) > 0 {
			return false
		}
	}
	return true
}

func (t termCounts) fork() termCounts {
	return termCounts{slices.Clone(t.against), maps.Clone(t.more), t.with.fork(), t.apart.fork()}
}

// isAgainst reports whether pods in the domain of a node have an anti-affinity to the pod to place.
func (t termCounts) isAgainst(n *node) bool {
	return slices.ContainsFunc(t.against, func(a againstDomain) bool {
		value, ok := n.labels[a.topology]
		if !ok {
			return false
		}
		sum := t.more[domain{a.topology, value}]
		for _, counts := range a.counts {
			sum += counts[value]
		}
		return sum > 0
	})
}

// addAgainst adds counts of pods that have an anti-affinity to the pod to place.
func (t *termCounts) addAgainst(topology string, counts ...map[string]int64) {
	i := slices.IndexFunc(t.against, func(a againstDomain) bool { return a.topology == topology })
	if i < 0 {
		i = len(t.against)
		t.against = append(t.against, againstDomain{topology: topology})
	}
	t.against[i].counts = slices.Concat(t.against[i].counts, counts)
}

// countTerms counts the existing pods for the pod affinities of the pod to place.
func (c *cycle) countTerms() {
	c.terms = termCounts{more: domains{}}
	c.cluster.terms.each(c, func(t *termUse) {
		if len(t.apart) > 0 {
			c.terms.addAgainst(t.topology, t.apart)
		}
	})
	c.terms.with.others, c.terms.apart.others = domains{}, domains{}
	switch with := c.pod.with; {
	case len(with) == 1:
		c.countTerm(&c.terms.with, &with[0])
	case len(with) > 1:
		c.eachSelected(&with[0], func(p *pod, n *node) { c.terms.addWith(c, p, n, 1) })
	}
	for i := range c.pod.apart {
		c.countTerm(&c.terms.apart, &c.pod.apart[i])
	}
}

// countTerm adds to pods the pods that term t selects.
func (c *cycle) countTerm(pods *affinePods, t *podTerm) {
	tallies, ok := c.talliesOf(t)
	if !ok {
		c.eachSelected(t, func(_ *pod, n *node) { pods.others.add(n, t.topology, 1) })
		return
	}
	if pods.tallies == nil {
		pods.tallies = map[string][]*tally{}
	}
	pods.tallies[t.topology] = append(pods.tallies[t.topology], tallies...)
}

// talliesOf returns the tallies of the pods that a term selects, one for each namespace. It returns false if the term has a
// namespace selector.
func (c *cycle) talliesOf(t *podTerm) (all []*tally, ok bool) {
	if !t.others.IsNothing() {
		return nil, false
	}
	x, key := c.cluster.census, poolKey{topologies: t.topology + ","}
	for _, namespace := range t.namespaces {
		x.pool(key, func(n *node) bool { _, has := n.labels[t.topology]; return has })
		all = append(all, x.tally(x.groupOf(t, namespace), t.topology, key))
	}
	return all, true
}

// eachSelected calls f with each pod on an existing node that a term selects.
func (c *cycle) eachSelected(t *podTerm, f func(p *pod, n *node)) {
	each := func(p *pod) {
		if n := c.cluster.nodes[p.node]; n.exists && t.selects(c, p) {
			f(p, n)
		}
	}
	if t.others.IsNothing() {
		for _, namespace := range t.namespaces {
			c.cluster.census.eachCandidate(namespace, t.selector, each)
		}
		return
	}
	for _, p := range c.cluster.pods { // order does not matter: counts
		each(p)
	}
}

// add adds a pod on a node of a fork to the counts if times is 1, and removes it if times is -1.
func (t *termCounts) add(c *cycle, p *pod, n *node, times int64) {
	for i := range p.apart {
		if term := &p.apart[i]; term.selects(c, c.pod) {
			t.addAgainst(term.topology)
			t.more.add(n, term.topology, times)
		}
	}
	t.addWith(c, p, n, times)
	for i := range c.pod.apart {
		if term := &c.pod.apart[i]; term.selects(c, p) {
			t.apart.others.add(n, term.topology, times)
		}
	}
}

// addWith counts a pod on a node, as add does, if the required affinity of the pod to place selects it.
func (t *termCounts) addWith(c *cycle, p *pod, n *node, times int64) {
	if c.selectedByAll(c.pod.with, p) {
		for _, term := range c.pod.with {
			t.with.others.add(n, term.topology, times)
		}
	}
}

// selectedByAll reports whether all terms select a pod. It is false if there are no terms.
func (c *cycle) selectedByAll(terms []podTerm, p *pod) bool {
	for i := range terms {
		if !terms[i].selects(c, p) {
			return false
		}
	}
	return len(terms) > 0
}

// filterTerms rejects nodes on which the pod affinity of the new pod or the anti-affinity of any pod would be violated.
func filterTerms(c *cycle, n *node) verdict {
	if !c.withOthers(n) {
		return final("node(s) didn't match pod affinity rules")
	}
	for _, t := range c.pod.apart {
		if value, ok := n.labels[t.topology]; ok && c.terms.apart.in(domain{t.topology, value}) > 0 {
			return rejected("node(s) didn't match pod anti-affinity rules")
		}
	}
	if c.terms.isAgainst(n) {
		return rejected("node(s) didn't satisfy existing pods anti-affinity rules")
	}
	return verdict{}
}

// withOthers reports whether the node's domains contain the pods that the pod's affinity requires. If no pod matches yet, it
// suffices that the pod matches its own affinity, so that the first pod of a group can be placed.
func (c *cycle) withOthers(n *node) bool {
	all := true
	for _, t := range c.pod.with {
		value, ok := n.labels[t.topology]
		if !ok {
			return false
		}
		all = all && c.terms.with.in(domain{t.topology, value}) > 0
	}
	return all || c.terms.with.isEmpty() && c.selectedByAll(c.pod.with, c.pod)
}

// scoreTerms adds up the weights of the terms that prefer or avoid the domains of each node (InterPodAffinity.PreScore, Score).
func scoreTerms(c *cycle, among []*node) (scores []int64, ok bool) {
	scores = c.room(len(among))
	c.cluster.terms.each(c, func(t *termUse) {
		if len(t.scores) > 0 {
			ok = true
			addScores(scores, among, t.topology, func(value string) int64 { return t.scores[value] })
		}
	})
	for i := range c.pod.rather {
		c.scoreOwn(scores, among, &c.pod.rather[i], 1)
	}
	for i := range c.pod.ratherNo {
		c.scoreOwn(scores, among, &c.pod.ratherNo[i], -1)
	}
	if !ok && len(c.pod.rather)+len(c.pod.ratherNo) == 0 {
		return nil, false
	}
	least, most := slices.Min(scores), slices.Max(scores)
	for i, s := range scores {
		if scores[i] = 0; most > least {
			scores[i] = int64(maxScore * (float64(s-least) / float64(most-least)))
		}
	}
	return scores, true
}

// scoreOwn adds the scores of a term of the pod to place: its weight for each pod that it selects.
func (c *cycle) scoreOwn(scores []int64, among []*node, t *podTerm, sign int64) {
	pods := affinePods{others: domains{}}
	c.countTerm(&pods, t)
	addScores(scores, among, t.topology, func(value string) int64 { return sign * t.weight * pods.in(domain{t.topology, value}) })
}

// addScores calls of with the topology domain of each node, and adds the result to the node's score. It skips nodes without the
// topology label.
func addScores(scores []int64, among []*node, topology string, of func(value string) int64) {
	for i, n := range among {
		if value, ok := n.labels[topology]; ok {
			scores[i] += of(value)
		}
	}
}
