package workload

import (
	"maps"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Amounts contains the resources that a pod requests or a node has, in whole units (framework.Resource).
type Amounts struct {
	CPU       int64            `json:",omitempty"` // in thousandths of a core
	Memory    int64            `json:",omitempty"` // in bytes
	Ephemeral int64            `json:",omitempty"` // in bytes
	Others    map[string]int64 `json:",omitempty"`
}

// AmountsOf converts quantities to whole units, rounded up.
func AmountsOf(list resource.Amounts) (a Amounts) {
	for name, q := range list { // order does not matter
		switch name {
		case "cpu":
			a.CPU = q.MilliValue()
		case "memory":
			a.Memory = q.Value()
		case "ephemeral-storage":
			a.Ephemeral = q.Value()
		case "pods":
		default:
			if scalar(name) {
				if a.Others == nil {
					a.Others = map[string]int64{}
				}
				a.Others[object.Keep(name)] = q.Value()
			}
		}
	}
	return a
}

// scalar reports whether the scheduler counts a resource other than cpu, memory and ephemeral storage
// (util.IsScalarResourceName).
func scalar(name string) bool {
	return strings.HasPrefix(name, "hugepages-") || strings.HasPrefix(name, "attachable-volumes-") || strings.Contains(name, "/")
}

// Add adds b multiplied by times, which may be negative.
func (a *Amounts) Add(b Amounts, times int64) {
	a.CPU += times * b.CPU
	a.Memory += times * b.Memory
	a.Ephemeral += times * b.Ephemeral
	for name, n := range b.Others { // order does not matter
		if a.Others == nil {
			a.Others = map[string]int64{}
		}
		a.Others[name] += times * n
	}
}

// Raise raises each amount to at least that of b.
func (a *Amounts) Raise(b Amounts) {
	a.CPU, a.Memory, a.Ephemeral = max(a.CPU, b.CPU), max(a.Memory, b.Memory), max(a.Ephemeral, b.Ephemeral)
	for name, n := range b.Others { // order does not matter
		if a.Others[name] < n {
			a.Add(Amounts{Others: map[string]int64{name: n - a.Others[name]}}, 1)
		}
	}
}

// Clone returns a deep copy of a.
func (a Amounts) Clone() Amounts {
	a.Others = maps.Clone(a.Others)
	return a
}

// Equal reports whether all amounts equal those of b.
func (a Amounts) Equal(b Amounts) bool {
	return a.CPU == b.CPU && a.Memory == b.Memory && a.Ephemeral == b.Ephemeral && maps.Equal(a.Others, b.Others)
}

// LessThan reports whether any amount is less than that of b.
func (a Amounts) LessThan(b Amounts) bool {
	for name, n := range b.Others { // order does not matter
		if a.Others[name] < n {
			return true
		}
	}
	return a.CPU < b.CPU || a.Memory < b.Memory || a.Ephemeral < b.Ephemeral
}

// InsufficientResource describes a resource of which a node does not have enough left for a pod
// (noderesources.InsufficientResource).
type InsufficientResource struct {
	Resource                  string
	Requested, Used, Capacity int64
}

// Lacks returns the requested resources that a node does not have left: first cpu, memory and ephemeral storage, and then others,
// sorted by name.
func (a Amounts) Lacks(has, used Amounts) (all []InsufficientResource) {
	ask := func(name string, wanted, capacity, used int64) {
		if wanted > 0 && wanted > capacity-used {
			all = append(all, InsufficientResource{name, wanted, used, capacity})
		}
	}
	ask("cpu", a.CPU, has.CPU, used.CPU)
	ask("memory", a.Memory, has.Memory, used.Memory)
	ask("ephemeral-storage", a.Ephemeral, has.Ephemeral, used.Ephemeral)
	if len(a.Others) > 0 {
		for _, name := range object.SortedKeys(a.Others) {
			ask(name, a.Others[name], has.Others[name], used.Others[name])
		}
	}
	return all
}

// Requests returns the requests of a pod. For a running pod, it takes allocated resources into account (KEP-1287).
func Requests(pod object.Object) Amounts {
	return AmountsOf(podspec.WithOverhead(pod, podspec.AmountsOf(pod, "requests", Effective(pod)), "requests"))
}

// Effective returns a function that returns the effective requests of a container of a pod: the maximum of its requests, its
// allocated and its actual resources.
func Effective(pod object.Object) func(container object.Object) resource.Amounts {
	statuses := map[string]object.Object{}
	for _, list := range []string{"containerStatuses", "initContainerStatuses"} {
		for _, s := range pod.Objects("status", list) {
			if s.Has("resources") {
				statuses[s.String("name")] = s
			}
		}
	}
	infeasible := pod.Condition("PodResizePending").String("reason") == "Infeasible"
	return func(c object.Object) resource.Amounts {
		asked := resource.AmountsAt(c, "resources", "requests")
		s := statuses[c.String("name")]
		if s == nil {
			return asked
		}
		if infeasible {
			asked = resource.Amounts{}
		}
		asked.Raise(resource.AmountsAt(s, "resources", "requests"))
		asked.Raise(resource.AmountsAt(s, "allocatedResources"))
		return asked
	}
}

// Share returns v if it is a number. If v is a percentage, it returns that percentage of whole, rounded with round, which is
// math.Ceil or math.Floor (intstr.GetScaledValueFromIntOrPercent).
func Share(v any, whole int64, round func(float64) float64) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case string:
		percent, _ := strconv.ParseInt(strings.TrimSuffix(v, "%"), 10, 64)
		return int64(round(float64(percent) * float64(whole) / 100))
	}
	return 0
}
