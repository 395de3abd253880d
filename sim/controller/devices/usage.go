package devices

import (
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// Usage counts the devices that are allocated to claims. Devices with admin access do not count. The zero value is empty.
type Usage struct {
	claims    map[controller.Key][]use
	exclusive map[ID]int
	shares    map[ID]int
	capacity  map[ID]map[string]quantity.Quantity // capacity that shares consume
}

// use is a device of an allocated claim.
type use struct {
	ID
	shared   bool
	consumed map[string]quantity.Quantity
}

// Put replaces the devices of a claim.
func (u *Usage) Put(claim object.Object) {
	key := controller.Key{Namespace: claim.Namespace(), Name: claim.Name()}
	u.Remove(key)
	for _, r := range Results(claim) {
		if r.True("adminAccess") {
			continue
		}
		x := use{ID: IDOf(r), shared: r.Has("shareID")}
		if x.shared {
			x.consumed = quantities(r.Map("consumedCapacity"))
		}
		if u.claims == nil {
			*u = Usage{map[controller.Key][]use{}, map[ID]int{}, map[ID]int{}, map[ID]map[string]quantity.Quantity{}}
		}
		u.claims[key] = append(u.claims[key], x)
		u.count(x, 1)
	}
}

// Remove removes the devices of a claim.
func (u *Usage) Remove(key controller.Key) {
	for _, x := range u.claims[key] {
		u.count(x, -1)
	}
	delete(u.claims, key)
}

func (u *Usage) count(x use, times int) {
	counts := u.exclusive
	if x.shared {
		counts = u.shares
	}
	if counts[x.ID] += times; counts[x.ID] == 0 {
		delete(counts, x.ID)
	}
	if !x.shared {
		return
	}
	if u.capacity[x.ID] == nil {
		u.capacity[x.ID] = map[string]quantity.Quantity{}
	}
	add(u.capacity[x.ID], x.consumed, times)
	if u.shares[x.ID] == 0 {
		delete(u.capacity, x.ID)
	}
}

// allocated reports whether a device is allocated to a claim, alone or shared.
func (u *Usage) allocated(id ID) bool { return u.exclusive[id] > 0 || u.shares[id] > 0 }

// add adds amounts to totals, or subtracts them if times is negative.
func add(totals, amounts map[string]quantity.Quantity, times int) {
	for name, q := range amounts { // order does not matter
		if times < 0 {
			q = q.Neg()
		}
		totals[name] = totals[name].Add(q)
	}
}

func quantities(m map[string]any) map[string]quantity.Quantity {
	out := make(map[string]quantity.Quantity, len(m))
	for name, v := range m { // order does not matter: the result is a map
		out[name] = quantity.Of(v)
	}
	return out
}
