package resource

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
)

// Meter measures how much of a ResourceQuota the objects of one resource use.
type Meter struct {
	*Quota
	storage string
}

// Meter returns the meter of a resource, or nil if quotas never count its objects.
func (d *Definition) Meter() *Meter {
	s := d.Hub.Strategy
	if !d.Namespaced || s.Virtual || s.Uncounted || d.Connect != nil {
		return nil
	}
	return &Meter{&s.Quota, d.Storage}
}

// each returns the limits that count objects: count/STORAGE and Quota.Each.
func (m *Meter) each() []string { return append([]string{"count/" + m.storage}, m.Each...) }

// Measures reports whether the named limit of a quota applies to the objects.
func (m *Meter) Measures(ctx *Context, limit string) bool {
	return slices.Contains(m.each(), limit) || m.Limits != nil && m.Limits(ctx, limit)
}

// Amounts returns how much of each limit an object uses.
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

// Scopes returns a quota's requirements on objects: its scopeSelector, and its scopes as Exists requirements.
func Scopes(quota object.Object) []any {
	requirements := slices.Clone(quota.List("spec", "scopeSelector", "matchExpressions"))
	for _, name := range object.Strings(quota.List("spec", "scopes")) {
		requirements = append(requirements, map[string]any{"scopeName": name, "operator": "Exists"})
	}
	return requirements
}

// Within reports whether an object meets all requirements, which are a result of Scopes. A requirement with a scope that the kind
// does not support is never met.
func (m *Meter) Within(requirements []any, obj object.Object) bool {
	return !slices.ContainsFunc(requirements, func(v any) bool {
		requirement := object.As(v)
		in := m.Quota.Scopes[requirement.String("scopeName")]
		return in == nil || !in(obj, requirement)
	})
}
