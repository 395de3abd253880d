package scheduler

import (
	"maps"
	"slices"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// cluster is the scheduler's cache of the nodes and their pods. Each commit updates one pod or node in it, so that sums are not
// recomputed (backend/cache).
type cluster struct {
	block []node // memory for further nodes, so that nodes of one search lie beside each other

	nodes map[string]*node
	tree  tree // of existing nodes
	pods  map[controller.Key]*pod

	topologies numberedTopologies

	census *census
	terms  *terms                 // affinities of the pods on existing nodes
	using  map[controller.Key]int // pods that use a claim
	images map[string]*image      // that nodes have
}

// node is one node, or the pods of one that is not known.
type node struct {
	// Fields that are read when a pod is placed come first, so that they share cache lines.
	exists        bool
	unschedulable bool
	room          int64 // for pods
	pods          []*pod
	allocatable   workload.Amounts
	used, weight  workload.Amounts
	taints        []workload.Taint

	name    string
	created uint64 // the revision that created it
	labels  map[string]string
	images  map[string]int64 // sizes in bytes

	affine    []*pod     // those with any affinity to pods
	locations []location // by number of the topology
}

// readNode reads a Node object.
func (n *node) readNode(obj object.Object) {
	n.exists, n.labels, n.taints = true, obj.Labels(), workload.TaintsOf(obj)
	n.unschedulable = obj.True("spec", "unschedulable")
	list := resource.AmountsAt(obj, "status", "allocatable")
	n.allocatable, n.room = workload.AmountsOf(list), list["pods"].Value()
	n.images = map[string]int64{}
	for _, image := range obj.Objects("status", "images") {
		for _, name := range image.Strings("names") {
			n.images[name] = image.Int64("sizeBytes")
		}
	}
}

// empty is the node without its pods.
func (n *node) empty() *node {
	return &node{name: n.name, exists: n.exists, created: n.created, labels: n.labels, taints: n.taints, unschedulable: n.unschedulable,
		allocatable: n.allocatable, room: n.room, images: n.images}
}

// clone is a node of its own with the same pods.
func (n *node) clone() *node {
	c := n.empty()
	c.pods, c.affine = slices.Clone(n.pods), slices.Clone(n.affine)
	c.used, c.weight = n.used.Clone(), n.weight
	return c
}

// add puts a pod on the node.
func (n *node) add(p *pod) {
	n.pods = append(n.pods, p)
	n.count(p, 1)
	if p.hasAffinity() {
		n.affine = append(n.affine, p)
	}
}

// remove takes a pod from the node.
func (n *node) remove(p *pod) {
	without := func(list []*pod) []*pod {
		if i := slices.Index(list, p); i >= 0 {
			return slices.Delete(list, i, i+1)
		}
		return list
	}
	n.pods, n.affine = without(n.pods), without(n.affine)
	n.count(p, -1)
}

func (n *node) count(p *pod, times int64) {
	n.used.Add(p.requests, times)
	n.weight.Add(p.weight, times)
}

// hasAffinity reports whether the pod has pod affinity or anti-affinity.
func (p *pod) hasAffinity() bool { return len(p.with)+len(p.apart)+len(p.rather)+len(p.ratherNo) > 0 }

func newCluster() *cluster {
	c := &cluster{nodes: map[string]*node{}, pods: map[controller.Key]*pod{}, terms: newTerms(), using: map[controller.Key]int{}, images: map[string]*image{}}
	c.census = newCensus(c)
	return c
}

// nodesInBlock is how many nodes are allocated at once.
const nodesInBlock = 32

// node returns a node, which it makes.
func (c *cluster) node(name string) *node {
	n := c.nodes[name]
	if n == nil {
		if len(c.block) == 0 {
			c.block = make([]node, nodesInBlock)
		}
		n, c.block = &c.block[0], c.block[1:]
		n.name = name
		c.nodes[name] = n
	}
	return n
}

// setNode applies a write of a node, which a revision created. It returns the node as it was, without its pods, or nil if it is new.
func (c *cluster) setNode(obj object.Object, created uint64) (before *node) {
	n := c.node(obj.Name())
	if n.exists {
		before = n.empty()
	}
	c.countImages(n, -1)
	c.terms.countNode(n, -1)
	n.readNode(obj)
	n.created = created
	c.terms.countNode(n, 1)
	c.countImages(n, 1)
	if before == nil {
		c.tree.add(n)
	}
	if before == nil || !maps.Equal(before.labels, n.labels) || !slices.Equal(before.taints, n.taints) {
		n.locations = nil
		c.tree.stale = true
		c.census.nodesChanged()
	}
	return before
}

// removeNode takes in that a node is gone.
func (c *cluster) removeNode(name string) {
	n := c.node(name)
	c.terms.countNode(n, -1)
	n.exists = false
	c.countImages(n, -1)
	n.images = nil
	c.tree.remove(n)
	c.census.nodesChanged()
	c.removeIfUnused(n)
}

// image is one that nodes have. It has the size that the first of them reported.
type image struct {
	size  int64 // in bytes
	nodes int
}

func (c *cluster) countImages(n *node, times int) {
	for name, size := range n.images { // order does not matter
		x := c.images[name]
		if x == nil {
			x = &image{size: size}
			c.images[name] = x
		}
		if x.nodes += times; x.nodes == 0 {
			delete(c.images, name)
		}
	}
}

// removeIfUnused removes a node that does not exist and has no pods.
func (c *cluster) removeIfUnused(n *node) {
	if !n.exists && len(n.pods) == 0 {
		delete(c.nodes, n.name)
	}
}

// setPod applies a write of a pod that runs on a node, or is about to. It returns the pod as it was, or nil if it is new.
func (c *cluster) setPod(p *pod) (before *pod) {
	before = c.removePod(p.Key)
	c.pods[p.Key] = p
	n := c.node(p.node)
	n.add(p)
	c.count(p, n, 1)
	return before
}

// removePod removes a pod that was deleted or has ended. It returns the pod as it was, or nil if it was on no node.
func (c *cluster) removePod(key controller.Key) *pod {
	p := c.pods[key]
	if p == nil {
		return nil
	}
	delete(c.pods, key)
	n := c.node(p.node)
	n.remove(p)
	c.count(p, n, -1)
	c.removeIfUnused(n)
	return p
}

// count counts a pod on a node, times times.
func (c *cluster) count(p *pod, n *node, times int) {
	c.census.count(p, n, times)
	c.terms.count(p, n, int64(times))
	for claim := range p.claimNames() {
		if c.using[claim] += times; c.using[claim] == 0 {
			delete(c.using, claim)
		}
	}
}

// sameNode reports whether two versions of a node are alike for the scheduler.
func sameNode(a, b *node) bool {
	return a.unschedulable == b.unschedulable && maps.Equal(a.labels, b.labels) && slices.Equal(a.taints, b.taints) &&
		a.room == b.room && a.allocatable.Equal(b.allocatable)
}
