package admission

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// meter measures what the objects of one resource use of quotas.
type meter struct {
	*resource.Quota
	each []string // limits of which every object uses one: count/STORAGE and Quota.Each
}

// meterOf returns the meter of a resource, nil for those that never count.
func meterOf(d *resource.Definition) *meter {
	s := d.Hub.Strategy
	if !d.Namespaced || s.Virtual || s.Uncounted || d.Connect != nil {
		return nil
	}
	return &meter{&s.Quota, append([]string{"count/" + d.Storage}, s.Quota.Each...)}
}

// charges reports whether a write can use more than before.
func (m *meter) charges(a *Attributes) bool {
	switch a.Operation {
	case Create:
		return a.Subresource == ""
	case Update:
		return m.Updates != nil && m.Updates(a.Context, a.Object, a.Old)
	}
	return false
}

// measures reports whether a limit is about the objects.
func (m *meter) measures(limit string, a *Attributes) bool {
	return slices.Contains(m.each, limit) || m.Limits != nil && m.Limits(a.Context, limit)
}

// amounts returns what an object uses.
func (m *meter) amounts(obj object.Object, a *Attributes) resource.Amounts {
	sum := resource.Amounts{}
	if m.Uses != nil {
		sum = m.Uses(a.Context, obj)
	}
	for _, name := range m.each {
		sum[name] = resource.Count(1)
	}
	return sum
}

// within reports whether a quota is about an object: it is in all of the quota's scopes.
func (m *meter) within(quota, obj object.Object) bool {
	requirements := quota.List("spec", "scopeSelector", "matchExpressions")
	for _, name := range object.Strings(quota.List("spec", "scopes")) {
		requirements = append(requirements, map[string]any{"scopeName": name, "operator": "Exists"})
	}
	return !slices.ContainsFunc(requirements, func(v any) bool {
		requirement := object.As(v)
		in := m.Scopes[requirement.String("scopeName")]
		return in == nil || !in(obj, requirement)
	})
}
