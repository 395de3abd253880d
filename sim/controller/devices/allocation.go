package devices

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
)

// allocation returns the allocation of the claim with an index (incubating.Allocate).
func (s *search) allocation(index int) object.Object {
	out, c := object.Object{}, s.claims[index]
	results := make([]any, 0, len(s.result[index]))
	for _, r := range s.result[index] {
		x := map[string]any{"request": r.of.name(), "driver": r.Driver, "pool": r.Pool, "device": r.Device}
		if r.of.admin {
			x["adminAccess"] = true
		}
		if t := r.of.spec.List("tolerations"); len(t) > 0 {
			x["tolerations"] = object.Copy(t)
		}
		if s.Conditions {
			for _, field := range []string{"bindingConditions", "bindingFailureConditions"} {
				if l := r.obj.List(field); len(l) > 0 {
					x[field] = object.Copy(l)
				}
			}
		}
		if s.Capacity && r.multiple {
			x["shareID"] = s.Cluster.NewShareID()
			if len(r.consumed) > 0 {
				consumed := map[string]any{}
				for name, q := range r.consumed { // order does not matter: the result is a map
					consumed[name] = q.String()
				}
				x["consumedCapacity"] = consumed
			}
		}
		results = append(results, x)
	}
	devices := object.Object{}
	if len(results) > 0 {
		devices["results"] = results
	}
	if config := s.config(c); len(config) > 0 {
		devices["config"] = config
	}
	out["devices"] = map[string]any(devices)
	if selector := s.nodeSelector(s.result[index]); selector != nil {
		out["nodeSelector"] = selector
	}
	return out
}

// config returns the configurations of the classes, then those of the claim.
func (s *search) config(c *claim) (all []any) {
	var of []map[string]any
	entry := func(source string, config object.Object, requests []string) map[string]any {
		x := map[string]any{"source": source, "opaque": object.Copy(config["opaque"])}
		if len(requests) > 0 {
			x["requests"] = object.FromStrings(requests)
		}
		return x
	}
	begins := map[string][2]int{}
	for _, r := range c.requests {
		a := r.alternatives[r.chosen]
		span, known := begins[a.class.Name()]
		for i := span[0]; i < span[1]; i++ {
			of[i]["requests"] = append(of[i]["requests"].([]any), a.name())
		}
		if known {
			continue
		}
		span[0] = len(of)
		for _, config := range a.class.Objects("spec", "config") {
			of = append(of, entry("FromClass", config, []string{a.name()}))
		}
		begins[a.class.Name()] = [2]int{span[0], len(of)}
	}
	for _, config := range c.obj.Objects("spec", "devices", "config") {
		for range s.applies(c, config.Strings("requests")) {
			of = append(of, entry("FromClaim", config, config.Strings("requests")))
		}
	}
	for _, x := range of {
		if s.Minor >= 37 && s.concernsAll(c, object.Strings(object.Object(x).List("requests"))) {
			delete(x, "requests")
		}
		all = append(all, x)
	}
	return all
}

// applies returns how often a configuration of a claim is part of the allocation. Before 1.37, that is once for each request to
// which it applies.
func (s *search) applies(c *claim, requests []string) (times int) {
	if len(requests) == 0 {
		return 1
	}
	for _, r := range c.requests {
		if r.in(requests) {
			times++
		}
	}
	if s.Minor >= 37 {
		return min(times, 1)
	}
	return times
}

// in reports whether a list names the request or its chosen alternative.
func (r *request) in(names []string) bool {
	return slices.Contains(names, r.name) || r.listed && slices.Contains(names, r.alternatives[r.chosen].name())
}

// concernsAll reports whether a list names all requests of a claim.
func (s *search) concernsAll(c *claim, names []string) bool {
	return !slices.ContainsFunc(c.requests, func(r *request) bool { return !r.in(names) })
}

// nodeSelector returns the selector of the nodes on which all devices can be used, or nil if that is every node
// (incubating.createNodeSelector).
func (s *search) nodeSelector(results []*result) map[string]any {
	var fields, labels []any
	for _, r := range results {
		p := r.slice.place
		if r.slice.perDevice {
			p = r.device.place
		}
		if p.node != "" || r.obj.True("bindsToNode") {
			return selectorOf([]any{map[string]any{"key": "metadata.name", "operator": "In", "values": []any{s.node.Name}}}, nil)
		}
		for _, term := range p.terms {
			fields = missing(fields, term.List("matchFields"))
			labels = missing(labels, term.List("matchExpressions"))
		}
	}
	if len(fields)+len(labels) == 0 {
		return nil
	}
	return selectorOf(fields, labels)
}

func selectorOf(fields, labels []any) map[string]any {
	term := map[string]any{}
	if len(fields) > 0 {
		term["matchFields"] = fields
	}
	if len(labels) > 0 {
		term["matchExpressions"] = labels
	}
	return map[string]any{"nodeSelectorTerms": []any{term}}
}

// missing appends the requirements of list that all does not contain, whatever the order of their values.
func missing(all, list []any) []any {
	for _, x := range list {
		r := object.As(x)
		if !slices.ContainsFunc(all, func(y any) bool {
			other := object.As(y)
			a, b := r.Strings("values"), other.Strings("values")
			slices.Sort(a)
			slices.Sort(b)
			return r.String("key") == other.String("key") && r.String("operator") == other.String("operator") &&
				slices.Equal(slices.Compact(a), slices.Compact(b))
		}) {
			all = append(all, object.Copy(x))
		}
	}
	return all
}
