package scheduler

import (
	"cmp"
	"slices"
)

// tree determines the order in which nodes are tried. It alternates between zones, so that a sample of nodes covers all zones
// (backend/cache, nodeTree).
//
//	zone-1  node-1  node-4  node-7        node-1, node-2, node-3, node-4, node-5, node-7
//	zone-2  node-2  node-5          ─▶
//	zone-3  node-3
//
// The nodes of a zone are sorted by creation, and the zones by their first nodes. The order depends only on the existing nodes.
type tree struct {
	nodes []*node // all existing nodes
	stale bool    // nodes is not sorted
}

// add adds a node.
func (t *tree) add(n *node) { t.nodes, t.stale = append(t.nodes, n), true }

// remove removes a node.
func (t *tree) remove(n *node) {
	t.nodes = slices.DeleteFunc(t.nodes, func(x *node) bool { return x == n })
	t.stale = true
}

// size returns the number of existing nodes.
func (t *tree) size() int { return len(t.nodes) }

// all returns the nodes in order.
func (t *tree) all() []*node {
	if t.stale {
		t.sort()
	}
	return t.nodes
}

func (t *tree) sort() {
	slices.SortFunc(t.nodes, func(a, b *node) int { return cmp.Compare(a.created, b.created) })
	var zones [][]*node
	at := map[string]int{}
	for _, n := range t.nodes {
		zone := zoneOf(n.labels)
		if _, known := at[zone]; !known {
			at[zone] = len(zones)
			zones = append(zones, nil)
		}
		zones[at[zone]] = append(zones[at[zone]], n)
	}
	sorted := make([]*node, 0, len(t.nodes))
	for i := 0; len(sorted) < len(t.nodes); i++ {
		for _, nodes := range zones {
			if i < len(nodes) {
				sorted = append(sorted, nodes[i])
			}
		}
	}
	t.nodes, t.stale = sorted, false
}

// zoneOf returns the zone of a node with the given labels, prefixed by its region (component-helpers, GetZoneKey).
func zoneOf(labels map[string]string) string {
	label := func(name, old string) string {
		if value, ok := labels[old]; ok {
			return value
		}
		return labels[name]
	}
	return label(region, "failure-domain.beta.kubernetes.io/region") + "\x00" + label(zone, "failure-domain.beta.kubernetes.io/zone")
}
