package devices

import (
	"cmp"
	"slices"
)

// pool is a resource pool as far as a node can see it. An incomplete pool is being updated by its driver, and an invalid one
// contradicts itself; no device of them can be allocated.
type pool struct {
	driver, name string
	incomplete   bool
	invalid      bool
	devices      []*device              // in the slices for the node
	others       []*device              // in slices for other nodes
	sets         map[string]consumption // counter sets by name
}

func (p *pool) String() string { return p.driver + "/" + p.name }

// pools returns the pools with slices for a node, sorted by driver and name. Pools that have devices with binding conditions come
// last (incubating.GatherPools).
func (c *Catalog) pools(n Node, f Features) (all []*pool) {
	type id struct{ driver, pool string }
	found := map[id][]*slice{}
	for _, s := range c.on(n.Name) {
		if !f.Partitions && (s.perDevice || len(s.shared) > 0) || !s.reaches(n) {
			continue
		}
		key := id{s.driver, s.pool}
		switch have := found[key]; {
		case len(have) == 0 || s.generation > have[0].generation:
			found[key] = []*slice{s}
		case s.generation == have[0].generation:
			found[key] = append(have, s)
		}
	}
	var late []*pool
	for key, own := range found { // sorted below
		whole := own
		if int64(len(own)) != own[0].count {
			var obsolete bool
			if obsolete, whole = c.whole(own[0]); obsolete {
				continue
			}
		}
		p := &pool{driver: key.driver, name: key.pool}
		if p.incomplete = int64(len(whole)) != own[0].count; !p.incomplete {
			p.fill(own, whole, f)
		}
		if slices.ContainsFunc(p.devices, func(d *device) bool { return len(d.obj.List("bindingConditions")) > 0 }) {
			late = append(late, p)
		} else {
			all = append(all, p)
		}
	}
	byID := func(a, b *pool) int { return cmp.Or(cmp.Compare(a.driver, b.driver), cmp.Compare(a.name, b.name)) }
	slices.SortFunc(all, byID)
	slices.SortFunc(late, byID)
	return append(all, late...)
}

// reaches reports whether a slice matters for a node. Counter sets matter for all nodes.
func (s *slice) reaches(n Node) bool {
	if len(s.shared) > 0 || !s.perDevice {
		return len(s.shared) > 0 || s.place.matches(n)
	}
	return slices.ContainsFunc(s.devices, func(d *device) bool { return d.place.matches(n) })
}

// whole returns all slices of the generation of a pool. obsolete reports that there is a newer generation.
func (c *Catalog) whole(one *slice) (obsolete bool, all []*slice) {
	for _, s := range c.sorted {
		if s.driver == one.driver && s.pool == one.pool {
			if s.generation > one.generation {
				return true, nil
			}
			if s.generation == one.generation {
				all = append(all, s)
			}
		}
	}
	return false, all
}

// fill sets the devices and counter sets of a complete pool, and checks them (incubating.buildPool). own are the slices for the
// node, whole all slices.
func (p *pool) fill(own, whole []*slice, f Features) {
	p.sets = map[string]consumption{}
	names := map[string]bool{}
	for _, s := range own {
		for _, set := range s.shared {
			_, twice := p.sets[set.set]
			p.invalid = p.invalid || twice
			p.sets[set.set] = set
		}
		if f.Partitions && len(s.shared) > 0 {
			continue
		}
		for _, d := range s.devices {
			p.invalid = p.invalid || names[d.Device]
			names[d.Device] = true
			p.devices = append(p.devices, d)
		}
	}
	for _, s := range whole {
		if !slices.Contains(own, s) {
			p.others = append(p.others, s.devices...)
		}
	}
	if f.Partitions {
		p.invalid = p.invalid || !p.countable(p.devices) || !p.countable(p.others)
	}
	if p.invalid {
		p.devices, p.others = nil, nil
	}
}

// countable reports whether all counters that devices consume exist.
func (p *pool) countable(all []*device) bool {
	for _, d := range all {
		for _, c := range d.counters {
			set, ok := p.sets[c.set]
			if !ok {
				return false
			}
			for name := range c.counters { // order does not matter
				if _, ok := set.counters[name]; !ok {
					return false
				}
			}
		}
	}
	return true
}
