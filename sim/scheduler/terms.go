package scheduler

import (
	"maps"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
)

// hardAffinityWeight is the weight of a running pod's required affinity term for the pods that it selects
// (InterPodAffinityArgs.hardPodAffinityWeight).
const hardAffinityWeight = 1

// podTerm is a term of an affinity or anti-affinity to pods: it selects pods in the same domain of a topology.
type podTerm struct {
	topology   string // the label whose value names the domain
	selector   selector.Labels
	namespaces []string
	others     selector.Labels // selects further namespaces
	weight     int64
}

// podTermOf reads a PodAffinityTerm of a pod in a namespace, which is the term's own unless it names some.
func podTermOf(term object.Object, namespace string, weight int64) podTerm {
	t := podTerm{topology: term.String("topologyKey"), selector: selectorAt(term, "labelSelector"),
		namespaces: term.Strings("namespaces"), others: selectorAt(term, "namespaceSelector"), weight: weight}
	if len(t.namespaces) == 0 && !term.Has("namespaceSelector") {
		t.namespaces = []string{namespace}
	}
	return t
}

// selectorAt reads a LabelSelector; none, or one that is not valid, selects nothing.
func selectorAt(obj object.Object, field string) selector.Labels {
	s, err := selector.FromLabelSelector(obj.Map(field))
	if err != nil {
		return selector.Nothing()
	}
	return s
}

// selects reports whether the term is about a pod.
func (t *podTerm) selects(c *cycle, p *pod) bool {
	return (slices.Contains(t.namespaces, p.Namespace) || t.others.Match(c.namespaceLabel(p.Namespace))) && t.selector.Match(p.label)
}

// namespaceLabel returns the value of a namespace's label for a selector.
func (c *cycle) namespaceLabel(name string) func(string) (string, bool) {
	return func(label string) (string, bool) {
		if it := c.api.Item("namespaces", "", name); it != nil {
			return it.Label(label)
		}
		return "", false
	}
}

// domain is one value of a topology.
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

// termCounts are the pods that matter for the affinities of the pod to place (InterPodAffinity):
type termCounts struct {
	against domains // pods that require to be apart from it
	with    domains // pods that it requires to be with
	apart   domains // pods that it requires to be apart from
}

func (t termCounts) clone() termCounts {
	return termCounts{maps.Clone(t.against), maps.Clone(t.with), maps.Clone(t.apart)}
}

// countTerms counts the existing pods.
func (c *cycle) countTerms() {
	c.terms = termCounts{domains{}, domains{}, domains{}}
	own := len(c.pod.with)+len(c.pod.apart) > 0
	if !own && c.cluster.apart == 0 {
		return
	}
	for _, n := range c.cluster.order {
		of := n.apart
		if own {
			of = n.pods
		}
		for _, p := range of {
			c.terms.add(c, p, n, 1)
		}
	}
}

// add counts a pod on a node, times times.
func (t termCounts) add(c *cycle, p *pod, n *node, times int64) {
	for i := range p.apart {
		if term := &p.apart[i]; term.selects(c, c.pod) {
			t.against.add(n, term.topology, times)
		}
	}
	if c.selectedByAll(c.pod.with, p) {
		for _, term := range c.pod.with {
			t.with.add(n, term.topology, times)
		}
	}
	for i := range c.pod.apart {
		if term := &c.pod.apart[i]; term.selects(c, p) {
			t.apart.add(n, term.topology, times)
		}
	}
}

// selectedByAll reports whether a pod meets all terms, of which there have to be some.
func (c *cycle) selectedByAll(terms []podTerm, p *pod) bool {
	for i := range terms {
		if !terms[i].selects(c, p) {
			return false
		}
	}
	return len(terms) > 0
}

// filterTerms lets pass where the affinities of all pods are met.
func filterTerms(c *cycle, n *node) verdict {
	if !c.withOthers(n) {
		return final("node(s) didn't match pod affinity rules")
	}
	for _, t := range c.pod.apart {
		if value, ok := n.labels[t.topology]; ok && c.terms.apart[domain{t.topology, value}] > 0 {
			return rejected("node(s) didn't match pod anti-affinity rules")
		}
	}
	for at := range c.terms.against { // order does not matter
		if value, ok := n.labels[at.topology]; ok && value == at.value {
			return rejected("node(s) didn't satisfy existing pods anti-affinity rules")
		}
	}
	return verdict{}
}

// withOthers reports whether the pods that the pod requires to be with are there; the first of some that want to be
// together needs none.
func (c *cycle) withOthers(n *node) bool {
	all := true
	for _, t := range c.pod.with {
		value, ok := n.labels[t.topology]
		if !ok {
			return false
		}
		all = all && c.terms.with[domain{t.topology, value}] > 0
	}
	return all || len(c.terms.with) == 0 && c.selectedByAll(c.pod.with, c.pod)
}

// scoreTerms adds up the weights of the terms that speak for a domain, or against it (InterPodAffinity.PreScore, Score).
func scoreTerms(c *cycle, among []*node) (scores []int64, ok bool) {
	own := len(c.pod.rather)+len(c.pod.ratherNo) > 0
	sums := domains{}
	for _, n := range c.cluster.order {
		of := n.affine
		if own {
			of = n.pods
		}
		for _, p := range of {
			c.weigh(sums, n, c.pod.rather, p, 1)
			c.weigh(sums, n, c.pod.ratherNo, p, -1)
			c.weigh(sums, n, p.with, c.pod, 1)
			c.weigh(sums, n, p.rather, c.pod, 1)
			c.weigh(sums, n, p.ratherNo, c.pod, -1)
		}
	}
	if len(sums) == 0 {
		return nil, false
	}
	scores = make([]int64, len(among))
	for i, n := range among {
		for at, sum := range sums { // order does not matter
			if value, ok := n.labels[at.topology]; ok && value == at.value {
				scores[i] += sum
			}
		}
	}
	least, most := slices.Min(scores), slices.Max(scores)
	for i, s := range scores {
		if scores[i] = 0; most > least {
			scores[i] = int64(maxScore * (float64(s-least) / float64(most-least)))
		}
	}
	return scores, true
}

// weigh counts the terms that a pod meets for the domain of a node.
func (c *cycle) weigh(sums domains, n *node, terms []podTerm, p *pod, sign int64) {
	for i := range terms {
		if t := &terms[i]; t.selects(c, p) {
			sums.add(n, t.topology, sign*t.weight)
		}
	}
}
