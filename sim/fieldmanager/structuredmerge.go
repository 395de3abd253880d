package fieldmanager

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
	"sigs.k8s.io/structured-merge-diff/v4/schema"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
	"sigs.k8s.io/structured-merge-diff/v4/value"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// structuredMerge merges the configuration into the live object with merge.Updater, which also finds the conflicts and removes the
// fields that the manager gives up. merged is nil if the object does not change. An error is either merge.Conflicts or a failure.
//
// Pruning takes the Updater longer than all its other steps, and it prunes whenever it gets the manager's last applied set. Most
// applies give nothing up, so the first attempt omits that set. There is no such attempt if a custom resource has owners in other
// versions, because pruning converts the object, which fails for fields that those versions do not have.
func (a *application) structuredMerge(force bool) (merged object.Object, entries managed, err error) {
	last := a.entries.find(a.self)
	if last == nil {
		return a.update(a.others, force)
	}
	if last.apiVersion == a.d.GV() && (a.d.StorageCodec == nil || len(a.entries.others(a.d)) == 0) {
		merged, entries, err = a.update(a.others, force)
		if now := entries.find(a.self); now != nil && object.Same(plus(now.fields, last.fields), now.fields) {
			return merged, entries, err
		}
	}
	sets := maps.Clone(a.others)
	sets[a.identifier] = a.versionedSet(last)
	return a.update(sets, force)
}

// update applies the configuration to the live object, whose managers own the given sets. It returns the new entries, and the
// merged object unless the configuration changes nothing.
func (a *application) update(sets fieldpath.ManagedFields, force bool) (merged object.Object, entries managed, err error) {
	v, after, err := a.apply(sets, force)
	if err != nil {
		return nil, nil, a.firstFailure(sets, force, err)
	}
	if v != nil {
		if merged, err = untyped(v); err != nil {
			return nil, nil, err
		}
	}
	return merged, a.entriesOf(after, merged != nil), nil
}

func (a *application) apply(sets fieldpath.ManagedFields, force bool) (*typed.TypedValue, fieldpath.ManagedFields, error) {
	b := merge.UpdaterBuilder{Converter: a, IgnoreFilter: a.filters}
	return b.BuildUpdater().Apply(a.liveTyped, a.configTyped, fieldpath.APIVersion(a.d.GV()), sets, a.identifier, force)
}

// firstFailure returns the error of a failed apply. If there are owners in several other versions, it returns the error of the
// first version that fails on its own: the Updater converts to the versions in the random order of a map.
func (a *application) firstFailure(sets fieldpath.ManagedFields, force bool, err error) error {
	versions := a.entries.others(a.d)
	if isConflict(err) || len(versions) < 2 {
		return err
	}
	for _, version := range versions {
		some := maps.Clone(sets)
		maps.DeleteFunc(some, func(key string, set fieldpath.VersionedSet) bool {
			return key != a.identifier && string(set.APIVersion()) != version
		})
		if _, _, failure := a.apply(some, force); failure != nil && !isConflict(failure) {
			return failure
		}
	}
	return err
}

func isConflict(err error) bool {
	_, ok := err.(merge.Conflicts)
	return ok
}

// otherSets returns the sets of all entries except the applier's, by identifier.
func (a *application) otherSets() fieldpath.ManagedFields {
	sets := make(fieldpath.ManagedFields, len(a.entries))
	for _, e := range a.entries {
		if e.id() != a.self {
			sets[e.id().text()] = a.versionedSet(e)
		}
	}
	return sets
}

// versionedSet returns the set of an entry in the form of structured-merge-diff.
func (a *application) versionedSet(e *entry) fieldpath.VersionedSet {
	var model *model
	if d := a.m.version(a.d, e.apiVersion); d != nil {
		model = a.m.model(typeOf(d), d.Custom)
	}
	return fieldpath.NewVersionedSet(model.toSet(e.fields), fieldpath.APIVersion(e.apiVersion), e.operation == opApply)
}

// resetFields returns filters, by version, that hide the fields that the request cannot own. Except for writes of the status,
// custom resources reset fields only in the version of the request.
func (a *application) resetFields() map[fieldpath.APIVersion]fieldpath.Filter {
	filters := map[fieldpath.APIVersion]fieldpath.Filter{}
	for _, apiVersion := range append(a.entries.others(a.d), a.d.GV()) {
		d := a.m.version(a.d, apiVersion)
		if d != nil && resetsIn(a.d, d, a.by.Subresource) && len(resets(d, a.by.Subresource)) > 0 {
			filters[fieldpath.APIVersion(apiVersion)] = resetFilter(resets(d, a.by.Subresource))
		}
	}
	return filters
}

// Convert implements merge.Converter. A custom resource is converted via the version of the request.
func (a *application) Convert(v *typed.TypedValue, version fieldpath.APIVersion) (*typed.TypedValue, error) {
	obj, err := untyped(v)
	if err != nil || obj.APIVersion() == string(version) {
		return v, err
	}
	from := a.m.version(a.d, obj.APIVersion())
	if from == nil {
		from = a.d
	}
	if from.StorageCodec != nil && from != a.d && string(version) != a.d.GV() {
		if obj, err = from.StorageCodec.Convert(a.by.Asker, obj.Copy(), a.d.GV()); err != nil {
			return v, err
		}
		from = a.d
	}
	d, obj, err := a.m.inVersion(a.by.Asker, from, obj, string(version))
	switch {
	case err != nil:
		return v, err
	case d == nil:
		return v, errMissingVersion
	}
	return a.m.typed(d, obj), nil
}

var errMissingVersion = errors.New("the version is not served any more")

// IsMissingVersionError implements merge.Converter.
func (a *application) IsMissingVersionError(err error) bool { return errors.Is(err, errMissingVersion) }

// typed returns an object on the server for structured-merge-diff, with the zero values of its Go struct.
func (m *Manager) typed(d *resource.Definition, obj object.Object) *typed.TypedValue {
	model := m.model(typeOf(d), d.Custom)
	return model.typed(model.whole(d, obj))
}

// typed returns a valid object (see invalid.go) for structured-merge-diff.
func (m *model) typed(obj map[string]any) *typed.TypedValue {
	parser := m.parser()
	//lint:ignore SA1019 what was checked here, to the letter of the real server, need not be checked there again
	return typed.AsTypedUnvalidated(value.NewValueInterface(obj), parser.Schema, parser.TypeRef)
}

// untyped returns the object in v, or an error if v is not an object.
func untyped(v *typed.TypedValue) (object.Object, error) {
	switch obj := v.AsValue().Unstructured().(type) {
	case map[string]any:
		return obj, nil
	default:
		return nil, fmt.Errorf("failed to convert value to unstructured for type %T", obj)
	}
}

// entriesOf returns the entries for the sets that result from an apply. If the object changed, the applier's entry gets a new time.
func (a *application) entriesOf(sets fieldpath.ManagedFields, changed bool) managed {
	entries := make(managed, 0, len(sets))
	own := &entry{manager: a.by.Name, operation: opApply, apiVersion: a.d.GV(), subresource: a.by.Subresource}
	for _, e := range a.entries {
		if e.id() == a.self {
			own.time = e.time
			continue
		}
		key := e.id().text()
		set := sets[key]
		if set == nil {
			continue
		}
		if !set.Set().Equals(a.others[key].Set()) {
			left := *e
			left.fields, left.raw = fromSet(set.Set()), nil
			e = &left
		}
		entries = append(entries, e)
	}
	if changed {
		own.time = object.Time(a.by.Time)
	}
	if set := sets[a.identifier]; set != nil {
		own.fields = fromSet(set.Set().Difference(stripSet))
	}
	if len(own.fields) > 0 {
		entries = append(entries, own)
	}
	return entries
}

// Merge merges a configuration into an object of the same kind like Apply, but without ownership, for mutating admission policies.
// The configuration must not contain atomic lists, maps or structs.
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

// atomics returns the paths of all values in v that can only be replaced as a whole.
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
