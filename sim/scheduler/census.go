package scheduler

import (
	"maps"

	"github.com/kubesim/kubesim/sim/selector"
)

// census counts, per node and domain, the pods that selectors select. It is updated with each pod, so that placing a pod does
// not require a scan of all nodes or all other pods.
//
//	web/app=shop      ─▶ the pods with the label           bearers
//	                  ─▶ web/app=shop,tier=db  a group     groups by a label that their pods have
//	                       node-1: 2, node-7: 1            how many pods of the group are on a node
//	                       zone-1: 3, zone-2: 0            tallies: how many are in a domain of a topology, among some nodes
//
// A group is created when a pod that needs it is placed, from the pods that have one of its labels. It is dropped when no pod
// has that label any more.
type census struct {
	cluster *cluster
	bearers map[pair]map[*pod]bool
	groups  map[string]*group // groups by their names
	byLabel map[pair][]*group // each group is in one list
	pools   map[poolKey]*pool // pools of the current nodes
	shape   int               // counts changes to the labels or taints of nodes
}

// pair is a label of pods in a namespace. A pair with an empty key stands for selectors that require no label.
type pair struct{ namespace, key, value string }

// group is the set of pods in a namespace that a selector selects.
type group struct {
	name        string
	namespace   string
	selector    selector.Labels
	terminating bool          // terminating pods count as well
	perNode     map[*node]int // number of the group's pods by node, without zeros
	tallies     map[tallyKey]*tally
}

type tallyKey struct {
	topology string
	pool     poolKey
}

// groupsMax limits the number of groups. When it is reached, all groups are dropped, including those of pods that no longer
// exist.
const groupsMax = 10_000

// poolsMax limits the number of pools, because each may contain all nodes.
const poolsMax = 256

func newCensus(c *cluster) *census {
	return &census{cluster: c, bearers: map[pair]map[*pod]bool{}, groups: map[string]*group{}, byLabel: map[pair][]*group{}}
}

// selects reports whether a pod belongs to the group. Terminating pods belong to it only if terminating is set.
func (g *group) selects(p *pod) bool {
	return (g.terminating || !p.deleting) && p.Namespace == g.namespace && g.selector.Match(p.label)
}

// group returns the group of pods that spread constraint s of a pod in the namespace counts. An empty selector selects no pods.
func (x *census) group(s *spreadConstraint, namespace string) *group {
	if g := x.groups[s.counted]; g != nil {
		return g
	}
	g := &group{name: s.counted, namespace: namespace, selector: s.selector}
	if s.selector.Empty() {
		g.selector = selector.Nothing()
	}
	return x.add(g)
}

// groupOf returns the group of pods that affinity term t selects in a namespace.
func (x *census) groupOf(t *podTerm, namespace string) *group {
	name := "term " + namespace + "/" + textOf(t.selector)
	if g := x.groups[name]; g != nil {
		return g
	}
	return x.add(&group{name: name, namespace: namespace, selector: t.selector, terminating: true})
}

// add adds a group, counts the scheduled pods that belong to it, and returns it.
func (x *census) add(g *group) *group {
	if len(x.groups) >= groupsMax {
		x.groups, x.byLabel = map[string]*group{}, map[pair][]*group{}
	}
	g.perNode, g.tallies = map[*node]int{}, map[tallyKey]*tally{}
	at := x.eachCandidate(g.namespace, g.selector, func(p *pod) {
		if g.selects(p) {
			g.perNode[x.cluster.nodes[p.node]]++
		}
	})
	x.groups[g.name] = g
	x.byLabel[at] = append(x.byLabel[at], g)
	return g
}

// eachCandidate calls f with every scheduled pod of a namespace that has the rarest of the labels that the selector requires, and
// returns that label. If the selector requires no label, it calls f with every scheduled pod, and returns a pair without a key.
func (x *census) eachCandidate(namespace string, s selector.Labels, f func(*pod)) pair {
	at, few := pair{namespace: namespace}, -1
	for key, value := range s.Required {
		if n := len(x.bearers[pair{namespace, key, value}]); few < 0 || n < few {
			at, few = pair{namespace, key, value}, n
		}
	}
	if few >= 0 {
		for p := range x.bearers[at] { // order does not matter: callers count
			f(p)
		}
		return at
	}
	for _, p := range x.cluster.pods { // order does not matter: callers count
		if p.Namespace == namespace {
			f(p)
		}
	}
	return at
}

// count adds a pod on a node to the counts if times is 1, and removes it if times is -1.
func (x *census) count(p *pod, n *node, times int) {
	x.countFor(pair{namespace: p.Namespace}, p, n, times)
	for key, value := range p.labels { // order does not matter: each label is counted separately
		at := pair{p.Namespace, key, value}
		if times > 0 {
			if x.bearers[at] == nil {
				x.bearers[at] = map[*pod]bool{}
			}
			x.bearers[at][p] = true
		}
		x.countFor(at, p, n, times)
		if times < 0 {
			x.unbear(at, p)
		}
	}
}

// countFor adds times to the counts of pod p on node n, in all groups that the index has for a label and that select the pod.
func (x *census) countFor(at pair, p *pod, n *node, times int) {
	for _, g := range x.byLabel[at] {
		if !g.selects(p) {
			continue
		}
		if g.perNode[n] += times; g.perNode[n] == 0 {
			delete(g.perNode, n)
		}
		for key, t := range g.tallies { // order does not matter: each tally is counted separately
			if t.shape == x.shape && x.pools[key.pool].has(n) {
				t.add(n.labels[key.topology], times)
			}
		}
	}
}

// unbear removes a pod from the index of label at. If no other pod has the label, it also drops the label's groups.
func (x *census) unbear(at pair, p *pod) {
	delete(x.bearers[at], p)
	if len(x.bearers[at]) > 0 {
		return
	}
	delete(x.bearers, at)
	for _, g := range x.byLabel[at] {
		delete(x.groups, g.name)
	}
	delete(x.byLabel, at)
}

// nodesChanged drops the pools and tallies, which depend on the labels and taints of nodes.
func (x *census) nodesChanged() {
	x.shape++
	x.pools = nil
}

// poolKey identifies the nodes that count for a constraint of a pod.
type poolKey struct {
	affinity    string // the pod's node affinity, if the constraint honors it
	tolerations string // the pod's tolerations, if the constraint honors taints
	topologies  string // labels that the nodes must have
}

// pool is the set of nodes that count for a constraint.
type pool struct {
	nodes   map[*node]bool
	domains map[string]map[string]bool // values of a topology label, by topology
}

func (p *pool) has(n *node) bool { return p.nodes[n] }

// pool returns the nodes for which counts returns true, from the cache if possible. key must identify counts.
func (x *census) pool(key poolKey, counts func(*node) bool) *pool {
	if p := x.pools[key]; p != nil {
		return p
	}
	p := &pool{map[*node]bool{}, map[string]map[string]bool{}}
	for _, n := range x.cluster.tree.nodes {
		if counts(n) {
			p.nodes[n] = true
		}
	}
	if len(x.pools) >= poolsMax {
		x.nodesChanged()
	}
	if x.pools == nil {
		x.pools = map[poolKey]*pool{}
	}
	x.pools[key] = p
	return p
}

// domainsOf returns the set of the values of a topology label on the pool's nodes.
func (p *pool) domainsOf(topology string) map[string]bool {
	all := p.domains[topology]
	if all == nil {
		all = map[string]bool{}
		for n := range p.nodes { // order does not matter: a set
			all[n.labels[topology]] = true
		}
		p.domains[topology] = all
	}
	return all
}

// tally returns the number of pods of group g in each domain of a topology. Only nodes of the pool with key of count; that pool
// must be cached.
func (x *census) tally(g *group, topology string, of poolKey) *tally {
	key := tallyKey{topology, of}
	if t := g.tallies[key]; t != nil && t.shape == x.shape {
		return t
	}
	p := x.pools[of]
	domains := len(p.domainsOf(topology))
	t := &tally{shape: x.shape, domains: domains, pods: map[string]int{}, levels: map[int]int{0: domains}}
	for n, pods := range g.perNode { // order does not matter: sums
		if p.has(n) {
			t.add(n.labels[topology], pods)
		}
	}
	g.tallies[key] = t
	return t
}

// tally holds the number of a group's pods in each domain of a topology.
type tally struct {
	shape   int
	domains int            // number of domains
	pods    map[string]int // number of pods by domain, without zeros; shared with forks
	more    map[string]int // additions of a fork to pods
	levels  map[int]int    // number of domains by number of pods
	least   int            // the lowest number of pods in a domain
}

// in returns the number of pods in a domain.
func (t *tally) in(value string) int { return t.pods[value] + t.more[value] }

// add adds pods to the domain value, or removes some if pods is negative.
func (t *tally) add(value string, pods int) {
	before, now := t.in(value), t.in(value)+pods
	switch {
	case t.more != nil:
		t.more[value] += pods
	case now == 0:
		delete(t.pods, value)
	default:
		t.pods[value] = now
	}
	if t.levels[before]--; t.levels[before] <= 0 {
		delete(t.levels, before)
	}
	t.levels[now]++
	if now < t.least {
		t.least = now
	}
	for len(t.levels) > 0 && t.levels[t.least] == 0 {
		t.least++
	}
}

// fork returns a copy of the tally that can be changed without changing the original.
func (t *tally) fork() *tally {
	f := &tally{domains: t.domains, pods: t.pods, more: maps.Clone(t.more), levels: maps.Clone(t.levels), least: t.least}
	if f.more == nil {
		f.more = map[string]int{}
	}
	return f
}
