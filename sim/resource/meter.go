package resource

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
)

// Meter measures what the objects of one resource use of ResourceQuotas.
type Meter struct {
	*Quota
	storage string
}

// Meter returns the meter of a resource, or nil if quotas never count it.
func (d *Definition) Meter() *Meter {
	s := d.Hub.Strategy
	if !d.Namespaced || s.Virtual || s.Uncounted || d.Connect != nil {
		return nil
	}
	return &Meter{&s.Quota, d.Storage}
}

// each returns the limits of which every object uses one: count/STORAGE and Quota.Each.
func (m *Meter) each() []string { return append([]string{"count/" + m.storage}, m.Each...) }

// Measures reports whether a limit is about the objects.
func (m *Meter) Measures(ctx *Context, limit string) bool {
	return slices.Contains(m.each(), limit) || m.Limits != nil && m.Limits(ctx, limit)
}

// Amounts returns what an object uses.
func (m *Meter) Amounts(ctx *Context, obj object.Object) Amounts {
	sum := Amounts{}
	if m.Uses != nil {
		sum = m.Uses(ctx, obj)
	}
	for _, name := range m.each() {
		sum[name] = Count(1)
	}
	return sum
}

// Scopes returns the requirements of a quota: that an object is in each of its scopes.
func Scopes(quota object.Object) []any {
	requirements := slices.Clone(quota.List("spec", "scopeSelector", "matchExpressions"))
	for _, name := range object.Strings(quota.List("spec", "scopes")) {
		requirements = append(requirements, map[string]any{"scopeName": name, "operator": "Exists"})
	}
	return requirements
}

// Within reports whether an object meets the requirements of a quota.
func (m *Meter) Within(requirements []any, obj object.Object) bool {
	return !slices.ContainsFunc(requirements, func(v any) bool {
		requirement := object.As(v)
		in := m.Quota.Scopes[requirement.String("scopeName")]
		return in == nil || !in(obj, requirement)
	})
}
