package fieldmanager

import (
	"fmt"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/schema"
	"sigs.k8s.io/structured-merge-diff/v4/value"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Merge merges a configuration into an object of the same kind as Apply does, but without owners, for mutating admission policies.
// Lists, objects and structures that are atomic cannot be part of the configuration.
func (m *Manager) Merge(d *resource.Definition, live, config object.Object) (object.Object, error) {
	model := m.model(typeOf(d), d.Custom)
	if text := model.root.invalid(map[string]any(config)); text != "" {
		return nil, fmt.Errorf("failed to convert patch object to typed object: %s", text)
	}
	configTyped := model.typed(config)
	if found := atomics(nil, configTyped.Schema(), configTyped.TypeRef(), configTyped.AsValue()); len(found) > 0 {
		return nil, fmt.Errorf("invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: %v", strings.Join(found, ", "))
	}
	whole := model.whole(d, live)
	if text := model.root.unreachable(whole); text != "" {
		return nil, fmt.Errorf("failed to convert original object to typed object: %s", text)
	}
	merged, err := model.typed(whole).Merge(configTyped)
	if err != nil {
		return nil, fmt.Errorf("failed to merge patch: %w", err)
	}
	obj, err := untyped(merged)
	return obj.Copy(), err
}

// atomics returns the paths of everything in a value that can only be replaced as a whole.
func atomics(path fieldpath.Path, s *schema.Schema, t schema.TypeRef, v value.Value) (found []string) {
	a, ok := s.Resolve(t)
	switch {
	case !ok:
	case v.IsMap() && a.Map != nil:
		if a.Map.ElementRelationship == schema.Atomic {
			found = append(found, path.String())
		}
		v.AsMap().Iterate(func(key string, child value.Value) bool {
			if f, ok := a.Map.FindField(key); ok {
				found = append(found, atomics(append(path.Copy(), fieldpath.PathElement{FieldName: &key}), s, f.Type, child)...)
			}
			return true
		})
	case v.IsList() && a.List != nil:
		if a.List.ElementRelationship == schema.Atomic {
			found = append(found, path.String())
		}
		for i := range v.AsList().Length() {
			found = append(found, atomics(append(path.Copy(), fieldpath.PathElement{Index: &i}), s, a.List.ElementType, v.AsList().At(i))...)
		}
	}
	return found
}
