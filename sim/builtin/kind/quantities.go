package kind

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// QuantitiesAt reads the resource list at the path: cpu, memory and others by name.
func QuantitiesAt(o object.Object, path ...string) map[string]quantity.Quantity {
	m := o.Map(path...)
	if m == nil {
		return nil
	}
	out := make(map[string]quantity.Quantity, len(m))
	for name, v := range m { // order does not matter
		out[name] = quantity.Of(v)
	}
	return out
}
