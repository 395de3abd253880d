package workload

import (
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Nodes is the storage name of nodes.
const Nodes = "nodes"

// Node provides the fields of a node that matter to pods. They are read from its item once and cached with the item.
type Node struct {
	*resource.Item
	*NodeFacts
}

// NodeFacts contains the values that are cached with a Node's item.
type NodeFacts struct {
	Labels map[string]string
	Taints []Taint
}

// NodeOf returns the node of an item.
func NodeOf(it *resource.Item) *Node { return &Node{it, resource.Derived(it, readNode)} }

func readNode(obj object.Object) *NodeFacts { return &NodeFacts{obj.Labels(), TaintsOf(obj)} }

// Placement contains a pod's requirements for its node: the node's name and labels, and the taints that the pod tolerates.
type Placement struct {
	name        string
	affinity    NodeAffinity
	tolerations []Toleration
}

// PlacementOf returns the Placement of a pod spec.
func PlacementOf(spec object.Object) *Placement {
	return &Placement{spec.String("nodeName"), NodeAffinityOf(spec), TolerationsOf(spec)}
}

// Fits reports whether a node has the required name and labels.
func (p *Placement) Fits(n *Node) bool {
	return (p.name == "" || p.name == n.Name) && p.affinity.Match(n.Name, n.Labels)
}

// Tolerates reports whether a pod tolerates all taints of a node with any of the given effects.
func (p *Placement) Tolerates(n *Node, effects ...string) bool {
	return !Untolerated(n.Taints, p.tolerations, effects...)
}

// HostPort is a port of the node that a container uses.
type HostPort struct {
	IP, Protocol string
	Port         int64
}

const anyIP = "0.0.0.0"

// Conflicts reports whether the two ports cannot be used on the same node (framework.HostPortInfo).
func (p HostPort) Conflicts(q HostPort) bool {
	return p.Port == q.Port && p.Protocol == q.Protocol && (p.IP == q.IP || p.IP == anyIP || q.IP == anyIP)
}

// Conflict reports whether any port in a conflicts with any port in b.
func Conflict(a, b []HostPort) bool {
	return slices.ContainsFunc(a, func(p HostPort) bool { return slices.ContainsFunc(b, p.Conflicts) })
}

// HostPortsOf returns the host ports that a pod uses while it is running.
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
