package workload

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Nodes is where nodes are stored.
const Nodes = "nodes"

// Node is what pods ask of a node, taken out of its item once.
type Node struct {
	*resource.Item
	*NodeFacts
}

// NodeFacts returns the facts that are cached with a Node's item.
type NodeFacts struct {
	Labels map[string]string
	Taints []Taint
}

// NodeOf returns the node that an item is.
func NodeOf(it *resource.Item) *Node { return &Node{it, resource.Derived(it, readNode)} }

func readNode(obj object.Object) *NodeFacts { return &NodeFacts{obj.Labels(), TaintsOf(obj)} }

// Placement is what a pod asks of its node: its name, labels, and what it tolerates.
type Placement struct {
	name        string
	affinity    NodeAffinity
	tolerations []Toleration
}

// PlacementOf returns what the spec of a pod asks.
func PlacementOf(spec object.Object) *Placement {
	return &Placement{spec.String("nodeName"), NodeAffinityOf(spec), TolerationsOf(spec)}
}

// Fits reports whether a node has the name and the labels.
func (p *Placement) Fits(n *Node) bool {
	return (p.name == "" || p.name == n.Name) && p.affinity.Match(n.Name, n.Labels)
}

// Tolerates reports whether a pod tolerates the taints of a node that have one of some effects.
func (p *Placement) Tolerates(n *Node, effects ...string) bool {
	return !Untolerated(n.Taints, p.tolerations, effects...)
}
