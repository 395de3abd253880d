package scheduler

import (
	"slices"

	"github.com/kubesim/kubesim/sim/controller"
)

// cycle is the attempt to find a node for one pod:
//
//	prepare ─▶ find: nodes that fit ─▶ best ─▶ …
//	                 none            ─▶ preempt: a node where pods can make room
type cycle struct {
	s       *Scheduler
	api     *controller.Client
	cluster *cluster
	pod     *pod

	// State that is prepared once and then read for each node.
	spread  spreading
	terms   termCounts
	volumes volumeState
	claims  claimState
	skipped [maxPlugins]bool // plugins that accept the pod on every node
}

// scratch is memory for lists of a cycle, one entry for each node that fits, which the next cycle uses again.
type scratch struct {
	fit, leading  []*node
	total, scores []int64
}

// zeros returns n zeros in the memory of list, and replaces list by them.
func zeros(list *[]int64, n int) []int64 {
	*list = slices.Grow((*list)[:0], n)[:n]
	clear(*list)
	return *list
}

// maxPlugins is an upper bound for the number of filter plugins.
const maxPlugins = 16

// prepare runs the PreFilter step of the plugins. If v rejects the pod, no node fits. If some is true, only the nodes named in only
// are candidates.
func (c *cycle) prepare() (v verdict, only []string, some bool) {
	if !c.pod.affinity.Any() {
		if only, some = c.pod.affinity.Names(); some && len(only) == 0 {
			v = final("pod affinity terms conflict")
			v.plugin = nodeAffinity
			return v, nil, false
		}
	}
	if len(c.pod.volumes) > 0 {
		if v = c.prepareVolumes(); !v.fits() {
			return v, nil, false
		}
	}
	if c.s.usesDevices(c.api, c.pod) {
		if v = c.prepareClaims(); !v.fits() {
			v.plugin = dynamicResources
			return v, nil, false
		}
	}
	c.countSpread()
	c.countTerms()
	for i, p := range plugins {
		c.skipped[i] = p.skips != nil && p.skips(c)
	}
	return v, only, some
}

// find returns the nodes that fit the pod, at most enoughNodes of them, and the reasons why the others do not. The nodes are valid until
// the next search of any cycle.
func (c *cycle) find() (fit []*node, d *diagnosis) {
	d = &diagnosis{nodes: c.cluster.tree.size(), each: map[*node]verdict{}}
	if d.nodes == 0 {
		return nil, d
	}
	v, only, some := c.prepare()
	if !v.fits() {
		d.all, d.before = v, true
		return nil, d
	}
	if n := c.cluster.nodes[c.pod.nominated]; n != nil && n.exists {
		if v := c.fits(n); v.fits() {
			return []*node{n}, d
		}
	}
	nodes := c.cluster.tree.all()
	if some {
		nodes = nil
		for _, name := range only {
			if n := c.cluster.nodes[name]; n != nil && n.exists {
				nodes = append(nodes, n)
			}
		}
		d.all = final("node(s) didn't satisfy plugin(s) [NodeAffinity]")
		d.all.plugin = nodeAffinity
	}
	first, enough := c.s.memory.Next%max(len(nodes), 1), enoughNodes(len(nodes))
	fit = slices.Grow(c.s.memory.scratch.fit[:0], min(enough, len(nodes)))
	for i := range nodes {
		n := nodes[(first+i)%len(nodes)]
		v := c.fits(n)
		if v.failed {
			d.all = v
			return nil, d
		}
		if !v.fits() {
			d.each[n] = v
			continue
		}
		if fit = append(fit, n); len(fit) == enough {
			break
		}
	}
	c.s.memory.Next = (c.s.memory.Next + len(fit) + len(d.each)) % d.nodes
	c.s.memory.scratch.fit = fit
	return fit, d
}

// enoughNodes returns the number of fitting nodes after which the search stops. In large clusters it is less than the number of
// nodes (Scheduler.numFeasibleNodesToFind).
func enoughNodes(nodes int) int {
	const atLeast = 100
	return max(nodes*max(50-nodes/125, 5)/100, atLeast)
}

// fits runs the filter plugins on a node. The pod must fit both with and without the pods of the same or a higher priority that
// are nominated to the node.
func (c *cycle) fits(n *node) verdict {
	if nominated := c.nominated(n); len(nominated) > 0 {
		fork, then := c.fork(), n.clone()
		for _, p := range nominated {
			fork.put(p, then, 1)
		}
		if v := fork.check(then); !v.fits() {
			return v
		}
	}
	return c.check(n)
}

// nominated returns the pods nominated to a node whose priority is at least that of this pod.
func (c *cycle) nominated(n *node) (all []*pod) {
	if len(c.s.memory.Queue.nominees) == 0 {
		return nil
	}
	for _, q := range c.s.memory.Queue.nominated(n.name) {
		if p := c.s.memory.pending[q.Key]; p != nil && p.priority >= c.pod.priority && p.uid != c.pod.uid {
			all = append(all, p)
		}
	}
	return all
}

// fork returns a copy of the cycle with independent counts, to which pods can be added or from which they can be removed.
func (c *cycle) fork() *cycle {
	f := *c
	f.skipped = [maxPlugins]bool{} // a pod added to a node may matter to any plugin
	f.spread, f.terms = c.spread.fork(), c.terms.fork()
	return &f
}

// put adds a pod to node n of a fork if times is 1, and removes it if times is -1.
func (c *cycle) put(p *pod, n *node, times int64) {
	if times > 0 {
		n.add(p)
	} else {
		n.remove(p)
	}
	c.spread.add(c, p, n, int(times))
	c.terms.add(c, p, n, times)
	for key := range p.claimNames() {
		if c.volumes.exclusive[key.Name] && key.Namespace == c.pod.Namespace {
			c.volumes.taken += int(times)
		}
	}
}

// best returns the node with the highest score. If several have it, best chooses one of them at random.
func (c *cycle) best(fit []*node) *node {
	if len(fit) == 1 {
		return fit[0]
	}
	best := c.leading(fit)
	if len(best) == 1 {
		return best[0]
	}
	return best[c.api.Random(len(best))]
}

// leading returns all nodes with the highest score. They are valid until the next call for any cycle.
func (c *cycle) leading(fit []*node) (best []*node) {
	scores := c.scores(fit)
	most, best := slices.Max(scores), c.s.memory.scratch.leading[:0]
	for i, n := range fit {
		if scores[i] == most {
			best = append(best, n)
		}
	}
	c.s.memory.scratch.leading = best
	return best
}
