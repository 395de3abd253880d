package network

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
)

// hint sets the hints of a service's endpoints, as its spec.trafficDistribution says (endpointslice/trafficdist; KEP-4444, KEP-3015).
// If it is empty, there are no hints. Otherwise unchanged slices are changed if their hints are wrong.
func (c *changes) hint(near string, have []*slice) {
	wrong := func(e object.Object) bool {
		if near == "" {
			return e.Has("hints")
		}
		return e.True("conditions", "ready") && !object.SemanticEqual(e.Map("hints"), hints(e, near))
	}
	for _, x := range c.untouched(have) {
		if slices.ContainsFunc(x.endpoints, wrong) {
			c.update = append(c.update, x)
		}
	}
	for _, x := range slices.Concat(c.create, c.update) {
		for i, e := range x.endpoints {
			if near != "" && !e.True("conditions", "ready") {
				continue
			}
			e = e.Copy()
			if delete(e, "hints"); near != "" {
				if h := hints(e, near); h != nil {
					e["hints"] = h
				}
			}
			x.endpoints[i] = e
		}
	}
}

// hints are those of an endpoint that is ready: its zone and, if the service prefers one node, its node.
func hints(e object.Object, near string) map[string]any {
	h := map[string]any{}
	if zone := e.String("zone"); zone != "" {
		h["forZones"] = []any{map[string]any{"name": zone}}
	}
	if node := e.String("nodeName"); node != "" && near == "PreferSameNode" {
		h["forNodes"] = []any{map[string]any{"name": node}}
	}
	if len(h) == 0 {
		return nil
	}
	return h
}
