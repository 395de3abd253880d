package resource

import (
	"maps"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// Amounts maps names of resources (cpu, memory, …) to quantities.
type Amounts map[string]quantity.Quantity

// AmountsAt returns the resource list at a path of obj, such as spec.hard. It ignores invalid quantities. If there is no list, the
// result is empty.
func AmountsAt(obj object.Object, path ...string) Amounts {
	list := obj.Map(path...)
	out := make(Amounts, len(list))
	for name, v := range list {
		if s, ok := v.(string); ok {
			if q, err := quantity.Parse(s); err == nil {
				out[name] = q
			}
		}
	}
	return out
}

// Add adds the amounts of b to a.
func (a Amounts) Add(b Amounts) {
	for name, q := range b {
		a[name] = a[name].Add(q)
	}
}

// Raise sets each amount of a to that of b if a does not contain the resource or b's amount is greater.
func (a Amounts) Raise(b Amounts) {
	for name, q := range b {
		if have, ok := a[name]; !ok || q.Cmp(have) > 0 {
			a[name] = q
		}
	}
}

// Names returns the names of the resources in sorted order.
func (a Amounts) Names() []string { return object.SortedKeys(a) }

// JSON returns the amounts as a JSON object.
func (a Amounts) JSON() map[string]any {
	out := make(map[string]any, len(a))
	for name, q := range a {
		out[name] = q.String()
	}
	return out
}

// Less returns a with the amounts of b subtracted. It ignores resources that a does not contain.
func (a Amounts) Less(b Amounts) Amounts {
	rest := maps.Clone(a)
	for name, q := range b { // order does not matter
		if have, ok := rest[name]; ok {
			rest[name] = have.Sub(q)
		}
	}
	return rest
}

// Text formats the amounts of the named resources in the given order: cpu=1,memory=1Gi.
func (a Amounts) Text(names []string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = name + "=" + a[name].String()
	}
	return strings.Join(parts, ",")
}

// Count returns n as a quantity in decimal notation.
func Count(n int) quantity.Quantity { return quantity.New(int64(n), quantity.DecimalSI) }
