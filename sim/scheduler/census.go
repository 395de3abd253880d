package scheduler

import (
	"maps"

	"github.com/kubesim/kubesim/sim/selector"
)

// census counts the pods on nodes that selectors select, and is kept up to date with each pod: no pod that is placed has to look at
// all nodes or at all other pods.
//
//	web/app=shop      ─▶ the pods with the label           bearers
//	                  ─▶ web/app=shop,tier=db  a group     groups by a label that their pods have
//	                       node-1: 2, node-7: 1            how many pods of the group are on a node
//	                       zone-1: 3, zone-2: 0            tallies: how many are in a domain of a topology, among some nodes
//
// A group is made when a pod is placed that asks for it, from the pods with one of its labels. It is dropped when no pod has that
// label any more.
type census struct {
	cluster *cluster
	bearers map[pair]map[*pod]bool
	groups  map[string]*group // by spreadConstraint.counted
	byLabel map[pair][]*group // each is in one list
	pools   map[poolKey]*pool // of the nodes as they are now
	shape   int               // how often labels or taints of nodes have changed
}

// pair is a label of the pods of a namespace. A pair without a key is in the place of a label for selectors that require none.
type pair struct{ namespace, key, value string }

// group is the pods of a namespace that a selector selects.
type group struct {
	name        string
	namespace   string
	selector    selector.Labels
	terminating bool          // terminating pods count, too
	on          map[*node]int // those with a pod of the group
	tallies     map[tallyKey]*tally
}

type tallyKey struct {
	topology string
	pool     poolKey
}

// groupsMax bounds the groups: those of pods that never came are forgotten when there are too many.
const groupsMax = 10_000

// poolsMax bounds the pools, each of which may have all nodes.
const poolsMax = 256

func newCensus(c *cluster) *census {
	return &census{cluster: c, bearers: map[pair]map[*pod]bool{}, groups: map[string]*group{}, byLabel: map[pair][]*group{}}
}

// selects reports whether a pod belongs to the group.
func (g *group) selects(p *pod) bool {
	return (g.terminating || !p.deleting) && p.Namespace == g.namespace && g.selector.Match(p.label)
}

// group returns the pods that a constraint of a pod in a namespace counts. An empty selector selects none.
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

// groupOf returns the pods of a namespace that an affinity term selects.
func (x *census) groupOf(t *podTerm, namespace string) *group {
	name := "term " + namespace + "/" + textOf(t.selector)
	if g := x.groups[name]; g != nil {
		return g
	}
	return x.add(&group{name: name, namespace: namespace, selector: t.selector, terminating: true})
}

// add adds a group, and counts its pods.
func (x *census) add(g *group) *group {
	if len(x.groups) >= groupsMax {
		x.groups, x.byLabel = map[string]*group{}, map[pair][]*group{}
	}
	g.on, g.tallies = map[*node]int{}, map[tallyKey]*tally{}
	at := x.eachCandidate(g.namespace, g.selector, func(p *pod) {
		if g.selects(p) {
			g.on[x.cluster.nodes[p.node]]++
		}
	})
	x.groups[g.name] = g
	x.byLabel[at] = append(x.byLabel[at], g)
	return g
}

// eachCandidate calls f with all pods of a namespace, on nodes, that a selector may select: those with the rarest label that it
// requires. It returns this label.
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

// count counts a pod on a node, times times.
func (x *census) count(p *pod, n *node, times int) {
	x.countFor(pair{namespace: p.Namespace}, p, n, times)
	for key, value := range p.labels { // order does not matter: each is counted by itself
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

// countFor counts a pod for the groups of one of its labels.
func (x *census) countFor(at pair, p *pod, n *node, times int) {
	for _, g := range x.byLabel[at] {
		if !g.selects(p) {
			continue
		}
		if g.on[n] += times; g.on[n] == 0 {
			delete(g.on, n)
		}
		for key, t := range g.tallies { // order does not matter: each is counted by itself
			if t.shape == x.shape && x.pools[key.pool].has(n) {
				t.add(n.labels[key.topology], times)
			}
		}
	}
}

// unbear forgets that a pod has a label, and the groups of a label that no pod has.
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

// poolKey names the nodes that count for a constraint of a pod.
type poolKey struct {
	affinity    string // the pod's, if the constraint honors it
	tolerations string // the pod's, if the constraint honors taints
	topologies  string // labels that the nodes have to have
}

// pool is the nodes that count for a constraint.
type pool struct {
	nodes   map[*node]bool
	domains map[string]map[string]bool // by topology
}

func (p *pool) has(n *node) bool { return p.nodes[n] }

// pool returns the nodes for which counts is true. The key stands for counts.
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

// domainsOf returns the values that the nodes have for a topology.
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

// tally returns how many pods of a group are in each domain of a topology, among the nodes of a pool that was asked for before.
func (x *census) tally(g *group, topology string, of poolKey) *tally {
	key := tallyKey{topology, of}
	if t := g.tallies[key]; t != nil && t.shape == x.shape {
		return t
	}
	p := x.pools[of]
	domains := len(p.domainsOf(topology))
	t := &tally{shape: x.shape, domains: domains, pods: map[string]int{}, levels: map[int]int{0: domains}}
	for n, pods := range g.on { // order does not matter: sums
		if p.has(n) {
			t.add(n.labels[topology], pods)
		}
	}
	g.tallies[key] = t
	return t
}

// tally is how many pods are in each domain.
type tally struct {
	shape   int
	domains int            // how many there are
	pods    map[string]int // shared with forks; not those of domains without pods
	more    map[string]int // of a fork: what it adds
	levels  map[int]int    // how many domains have so many pods
	least   int            // of a domain
}

// in returns the number of pods in a domain.
func (t *tally) in(value string) int { return t.pods[value] + t.more[value] }

// add adds pods to a domain, or takes some away.
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

// fork returns a tally of its own with the same pods.
func (t *tally) fork() *tally {
	f := &tally{domains: t.domains, pods: t.pods, more: maps.Clone(t.more), levels: maps.Clone(t.levels), least: t.least}
	if f.more == nil {
		f.more = map[string]int{}
	}
	return f
}
