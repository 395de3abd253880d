package scheduler

// numberedTopologies numbers topologies and their values, so that scoring can compare the domains of nodes without looking up
// labels.
//
//	topology.kubernetes.io/zone  0   none 0, zone-1 1, zone-2 2        node-5 {2, true}
type numberedTopologies struct {
	numbers map[string]int   // number of each topology
	values  []map[string]int // numbers of the values, by the number of the topology
}

// location is the domain of a node in a topology. A node without the label is in the domain of the empty value.
type location struct {
	domain int
	has    bool // the node has the topology's label
}

// number returns the number of a topology. A new topology gets the next number.
func (t *numberedTopologies) number(topology string) int {
	n, known := t.numbers[topology]
	if !known {
		if t.numbers == nil {
			t.numbers = map[string]int{}
		}
		n = len(t.values)
		t.numbers[topology] = n
		t.values = append(t.values, map[string]int{})
	}
	return n
}

// locate returns the domain of a node in the topology with the given number. It caches the result in the node.
func (t *numberedTopologies) locate(n *node, number int, topology string) location {
	if number < len(n.locations) && n.locations[number].domain > 0 {
		return location{n.locations[number].domain - 1, n.locations[number].has}
	}
	return t.find(n, number, topology)
}

// find determines the domain of a node from its label, and caches it in the node.
func (t *numberedTopologies) find(n *node, number int, topology string) location {
	value, has := n.labels[topology]
	domain, known := t.values[number][value]
	if !known {
		domain = len(t.values[number])
		t.values[number][value] = domain
	}
	for len(n.locations) <= number {
		n.locations = append(n.locations, location{})
	}
	n.locations[number] = location{domain + 1, has} // plus 1, because 0 is a location that is not cached yet
	return location{domain, has}
}
