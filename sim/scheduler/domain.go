package scheduler

// numberedTopologies numbers the values of topologies, so that nodes that are scored are compared without their labels.
//
//	topology.kubernetes.io/zone  0   none 0, zone-1 1, zone-2 2        node-5 {2, true}
type numberedTopologies struct {
	numbers map[string]int // of topologies
	values  []map[string]int
}

// location is the domain of a node in a topology. A node without the label is in the domain of the empty value.
type location struct {
	domain int
	has    bool // it has the label
}

// number returns the number of a topology.
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

// locate returns the domain of a node in a topology with a number.
func (t *numberedTopologies) locate(n *node, number int, topology string) location {
	if number < len(n.locations) && n.locations[number].domain > 0 {
		return location{n.locations[number].domain - 1, n.locations[number].has}
	}
	return t.find(n, number, topology)
}

// find finds the domain of a node by its label.
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
	n.locations[number] = location{domain + 1, has} // 0 is a location that is not known yet
	return location{domain, has}
}
