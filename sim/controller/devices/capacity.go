package devices

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// capacity is a capacity of a device, with the policy for requests of a part of it (KEP-5075).
type capacity struct {
	value         quantity.Quantity
	standard      *quantity.Quantity // the amount for a request that names none
	ranged        bool
	min, max, per *quantity.Quantity // the valid range and its step
	values        []quantity.Quantity
}

func capacitiesOf(d object.Object) map[string]capacity {
	all := map[string]capacity{}
	for name, v := range d.Map("capacity") { // order does not matter: the result is a map
		c := object.As(v)
		policy := c.At("requestPolicy")
		amount := func(path ...string) *quantity.Quantity {
			v, ok := policy.Get(path...)
			if !ok {
				return nil
			}
			q := quantity.Of(v)
			return &q
		}
		x := capacity{value: quantity.Of(c["value"]), standard: amount("default"), ranged: policy.Has("validRange"), min: amount("validRange", "min"),
			max: amount("validRange", "max"), per: amount("validRange", "step")}
		for _, v := range policy.List("validValues") {
			x.values = append(x.values, quantity.Of(v))
		}
		all[name] = x
	}
	return all
}

// consumed returns the amount that a request consumes, rounded up as the policy requires. If the request names no amount,
// requested is nil (incubating.calculateConsumedCapacity).
func (c capacity) consumed(requested *quantity.Quantity) quantity.Quantity {
	switch {
	case requested == nil && c.standard != nil:
		return *c.standard
	case requested == nil:
		return c.value
	case c.ranged && c.min != nil:
		return c.inRange(*requested)
	}
	for _, v := range c.values {
		if requested.Cmp(v) <= 0 {
			return v
		}
	}
	return *requested
}

// inRange rounds an amount up to the next step from the minimum.
func (c capacity) inRange(q quantity.Quantity) quantity.Quantity {
	switch {
	case q.Cmp(*c.min) < 0:
		return *c.min
	case c.per == nil || c.per.Value() <= 0:
		return q
	}
	from, step := c.min.Value(), c.per.Value()
	steps := (q.Value() - from + step - 1) / step
	return quantity.New(from+step*steps, quantity.BinarySI)
}

// allows reports whether the policy allows an amount (incubating.violatesPolicy).
func (c capacity) allows(q quantity.Quantity) bool {
	switch {
	case c.standard != nil && q.Cmp(*c.standard) == 0:
		return true
	case c.ranged:
		if c.max != nil && q.Cmp(*c.max) > 0 {
			return false
		}
		return c.per == nil || c.min == nil || c.per.Value() <= 0 || (q.Value()-c.min.Value())%c.per.Value() == 0
	}
	return len(c.values) == 0 || slices.ContainsFunc(c.values, func(v quantity.Quantity) bool { return v.Cmp(q) == 0 })
}

// consumes returns the amounts of a device's capacities that a request consumes.
func (d *device) consumes(requests map[string]quantity.Quantity) map[string]quantity.Quantity {
	all := make(map[string]quantity.Quantity, len(d.capacity))
	for name, c := range d.capacity { // order does not matter: the result is a map
		var requested *quantity.Quantity
		if q, ok := requests[name]; ok {
			requested = &q
		}
		all[name] = c.consumed(requested)
	}
	return all
}

// hasRoom reports whether the capacities of a device suffice for a request, with the amounts that are in use already
// (incubating.CmpRequestOverCapacity).
func (d *device) hasRoom(requests map[string]quantity.Quantity, used ...map[string]quantity.Quantity) bool {
	for name := range requests { // order does not matter
		if _, ok := d.capacity[name]; !ok {
			return false
		}
	}
	for name, q := range d.consumes(requests) { // order does not matter
		if !d.capacity[name].allows(q) {
			return false
		}
		for _, u := range used {
			if more, ok := u[name]; ok {
				q = q.Add(more)
			}
		}
		if q.Cmp(d.capacity[name].value) > 0 {
			return false
		}
	}
	return true
}
