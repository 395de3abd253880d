package devices

import "github.com/kubesim/kubesim/sim/quantity"

// counters are the shared counters of a pool: what allocated devices leave, and what the search has taken of it.
type counters struct {
	left, taken map[counter]quantity.Quantity
}

type counter struct{ set, name string }

// countersOf returns the counters of a device's pool.
func (s *search) countersOf(d *device) *counters {
	p := s.poolOf[d]
	if s.counters[p] != nil {
		return s.counters[p]
	}
	c := &counters{map[counter]quantity.Quantity{}, map[counter]quantity.Quantity{}}
	for _, set := range p.sets { // order does not matter: the result is a map
		for name, q := range set.counters { // nor here
			c.left[counter{set.set, name}] = q
		}
	}
	for _, all := range [][]*device{p.devices, p.others} {
		for _, x := range all {
			if s.Usage.allocated(x.ID) {
				x.consume(c.left, -1)
			}
		}
	}
	s.counters[p] = c
	return c
}

// consume adds what the device consumes to totals, or subtracts it.
func (d *device) consume(totals map[counter]quantity.Quantity, times int) {
	for _, part := range d.counters {
		for name, q := range part.counters { // order does not matter
			if times < 0 {
				q = q.Neg()
			}
			key := counter{part.set, name}
			totals[key] = totals[key].Add(q)
		}
	}
}

func (c *counters) add(d *device, times int) { d.consume(c.taken, times) }

// take takes the counters of a device, and reports whether all counters of the pool suffice. If not, it takes nothing
// (incubating.checkAvailableCounters).
func (c *counters) take(d *device) bool {
	c.add(d, 1)
	for key, left := range c.left { // order does not matter
		if left.Cmp(c.taken[key]) < 0 {
			c.add(d, -1)
			return false
		}
	}
	return true
}
