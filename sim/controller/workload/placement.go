package workload

import (
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/podspec"
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

// HostPort is a port of the node that a container takes.
type HostPort struct {
	IP, Protocol string
	Port         int64
}

const anyIP = "0.0.0.0"

// Conflicts reports whether not both ports can be on one node (framework.HostPortInfo).
func (p HostPort) Conflicts(q HostPort) bool {
	return p.Port == q.Port && p.Protocol == q.Protocol && (p.IP == q.IP || p.IP == anyIP || q.IP == anyIP)
}

// Conflict reports whether a port of one pod and one of another cannot be on one node.
func Conflict(a, b []HostPort) bool {
	return slices.ContainsFunc(a, func(p HostPort) bool { return slices.ContainsFunc(b, p.Conflicts) })
}

// HostPortsOf returns the ports of the node that a pod with a spec takes as long as it runs.
func HostPortsOf(spec object.Object) (ports []HostPort) {
	add := func(c object.Object) {
		for _, x := range c.Objects("ports") {
			if n := x.Int64("hostPort"); n > 0 {
				port := HostPort{x.String("hostIP"), x.String("protocol"), n}
				if port.IP == "" {
					port.IP = anyIP
				}
				ports = append(ports, port)
			}
		}
	}
	for _, c := range spec.Objects("containers") {
		add(c)
	}
	for _, c := range spec.Objects("initContainers") {
		if podspec.IsSidecar(c) {
			add(c)
		}
	}
	return ports
}
