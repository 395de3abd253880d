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
	block []node // preallocated nodes, so that the nodes of one search are adjacent in memory

	nodes map[string]*node
	tree  tree // order of the existing nodes
	pods  map[controller.Key]*pod

	topologies numberedTopologies

	census *census
	terms  *terms                 // affinity terms of the pods on existing nodes
	using  map[controller.Key]int // number of pods that use each claim
	images map[string]*image      // images on the nodes, by name
}

// node is a node and its pods. If the Node object does not exist, it only holds the pods that are assigned to its name.
type node struct {
	// Fields that are read when a pod is placed come first, so that they share cache lines.
	exists        bool
	unschedulable bool
	room          int64 // number of pods that the node can hold
	pods          []*pod
	allocatable   workload.Amounts
	used, weight  workload.Amounts
	taints        []workload.Taint

	name     string
	created  uint64 // the revision that created the node
	labels   map[string]string
	images   map[string]int64 // sizes of the node's images in bytes
	features []string         // status.declaredFeatures

	affine    []*pod     // pods with pod affinity or anti-affinity
	locations []location // cached locations by number of the topology; see numberedTopologies
}

// readNode sets the fields of n that depend on the Node object.
func (n *node) readNode(obj object.Object) {
	n.exists, n.taints = true, workload.TaintsOf(obj)
	if labels := obj.Labels(); n.labels == nil || !maps.Equal(labels, n.labels) {
		n.labels = object.KeptStrings(labels)
	}
	n.unschedulable = obj.True("spec", "unschedulable")
	list := resource.AmountsAt(obj, "status", "allocatable")
	n.allocatable, n.room = workload.AmountsOf(list), list["pods"].Value()
	if features := obj.Strings("status", "declaredFeatures"); !slices.Equal(features, n.features) {
		n.features = features
		for i, name := range features {
			features[i] = object.Keep(name)
		}
	}
	n.images = map[string]int64{}
	for _, image := range obj.Objects("status", "images") {
		for _, name := range image.Strings("names") {
			n.images[name] = image.Int64("sizeBytes")
		}
	}
}

// empty returns a copy of the node without its pods.
func (n *node) empty() *node {
	return &node{name: n.name, exists: n.exists, created: n.created, labels: n.labels, taints: n.taints, unschedulable: n.unschedulable,
		allocatable: n.allocatable, room: n.room, images: n.images, features: n.features}
}

// clone returns a copy of the node with the same pods. Changes to the copy do not affect the original.
func (n *node) clone() *node {
	c := n.empty()
	c.pods, c.affine = slices.Clone(n.pods), slices.Clone(n.affine)
	c.used, c.weight = n.used.Clone(), n.weight
	return c
}

// add adds a pod to the node.
func (n *node) add(p *pod) {
	n.pods = append(n.pods, p)
	n.count(p, 1)
	if p.hasAffinity() {
		n.affine = append(n.affine, p)
	}
}

// remove removes a pod, which must be on the node.
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

// nodesInBlock is the number of nodes that are allocated at once.
const nodesInBlock = 32

// node returns the node with the name. It adds a node that does not exist if there is none.
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

// setNode applies a write of the Node obj. created is the revision that created it. It returns the previous state of the node
// without its pods, or nil if the node is new.
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

// removeNode applies the deletion of a Node. The pods that are assigned to it stay in the cache.
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

// image is a container image on at least one node. Its size is that which the first of these nodes reported.
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

// removeIfUnused removes n from the cache if its Node does not exist and no pods are assigned to it.
func (c *cluster) removeIfUnused(n *node) {
	if !n.exists && len(n.pods) == 0 {
		delete(c.nodes, n.name)
	}
}

// setPod applies a write of a pod that runs on a node or is being bound to one. It returns the previous version of the pod, or
// nil if the pod is new.
func (c *cluster) setPod(p *pod) (before *pod) {
	before = c.removePod(p.Key)
	c.pods[p.Key] = p
	n := c.node(p.node)
	n.add(p)
	c.count(p, n, 1)
	return before
}

// removePod removes a pod that was deleted or has ended. It returns the pod, or nil if it was on no node.
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

// count adds a pod on a node to all counts if times is 1, and removes it from them if times is -1.
func (c *cluster) count(p *pod, n *node, times int) {
	c.census.count(p, n, times)
	c.terms.count(p, n, int64(times))
	for claim := range p.claimNames() {
		if c.using[claim] += times; c.using[claim] == 0 {
			delete(c.using, claim)
		}
	}
}

// sameNode reports whether two versions of a node are equal in all fields that the scheduler uses, except for its features.
func sameNode(a, b *node) bool {
	return a.unschedulable == b.unschedulable && maps.Equal(a.labels, b.labels) && slices.Equal(a.taints, b.taints) &&
		a.room == b.room && a.allocatable.Equal(b.allocatable)
}
