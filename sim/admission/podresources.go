package admission

import (
	"maps"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// amounts are quantities by the name of their resource.
type amounts map[string]quantity.Quantity

// amountsAt reads a resource list; quantities that cannot be read count as absent.
func amountsAt(obj object.Object, path ...string) amounts {
	list := obj.Map(path...)
	out := make(amounts, len(list))
	for name, v := range list {
		if s, ok := v.(string); ok {
			if q, err := quantity.Parse(s); err == nil {
				out[name] = q
			}
		}
	}
	return out
}

func (a amounts) add(b amounts) {
	for name, q := range b {
		a[name] = a[name].Add(q)
	}
}

// raise makes every amount at least that of b.
func (a amounts) raise(b amounts) {
	for name, q := range b {
		if have, ok := a[name]; !ok || q.Cmp(have) > 0 {
			a[name] = q
		}
	}
}

func (a amounts) names() []string { return object.SortedKeys(a) }

// json returns the amounts as a JSON object.
func (a amounts) json() map[string]any {
	out := make(map[string]any, len(a))
	for name, q := range a {
		out[name] = q.String()
	}
	return out
}

// containersOf returns the containers in a list of a pod.
func containersOf(pod object.Object, list string) []object.Object {
	var out []object.Object
	for _, v := range pod.List("spec", list) {
		if c, ok := v.(map[string]any); ok {
			out = append(out, c)
		}
	}
	return out
}

// podAmounts returns what a pod needs altogether of one side of its resources, requests or limits: containers run side
// by side, init containers one after the other beside the sidecars before them, and pod-level resources count instead of
// those of the containers (KEP-753, KEP-2837).
func podAmounts(pod object.Object, side string) amounts {
	sum, sidecars, start := amounts{}, amounts{}, amounts{}
	for _, c := range containersOf(pod, "containers") {
		sum.add(amountsAt(c, "resources", side))
	}
	for _, c := range containersOf(pod, "initContainers") {
		own := amountsAt(c, "resources", side)
		if c.String("restartPolicy") == "Always" {
			sum.add(own)
			sidecars.add(own)
			own = maps.Clone(sidecars)
		} else {
			own.add(sidecars)
		}
		start.raise(own)
	}
	sum.raise(start)
	for name, q := range amountsAt(pod, "spec", "resources", side) {
		if name == "cpu" || name == "memory" || strings.HasPrefix(name, "hugepages-") {
			sum[name] = q
		}
	}
	return sum
}

// withOverhead adds the overhead of the pod's RuntimeClass: to limits only where there is one.
func withOverhead(pod object.Object, sum amounts, side string) amounts {
	for name, q := range amountsAt(pod, "spec", "overhead") {
		if have, ok := sum[name]; ok && !have.IsZero() || side == "requests" {
			sum[name] = have.Add(q)
		}
	}
	return sum
}
