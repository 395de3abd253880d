package fieldmanager

import (
	"errors"
	"fmt"
	"maps"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
	"sigs.k8s.io/structured-merge-diff/v4/value"
)

// structuredMerge merges the configuration into the live object with merge.Updater, which also finds the conflicts and removes what
// the manager gives up. merged is nil where the object stays as it is. An error is merge.Conflicts or a failure.
func (a *application) structuredMerge(force bool) (merged object.Object, entries managed, err error) {
	v, sets, err := a.update(force)
	if err != nil {
		return nil, nil, err
	}
	if v != nil {
		if merged, err = untyped(v); err != nil {
			return nil, nil, err
		}
	}
	return merged, a.entriesOf(sets, merged != nil), nil
}

// update applies the configuration. To find what the manager gives up takes the Updater longer than all the rest, and it looks whenever
// it knows what the manager applied the last time. Most applies give nothing up: the first try goes without. It does not where
// a conversion may fail, at fields that the version of another owner does not know.
func (a *application) update(force bool) (*typed.TypedValue, fieldpath.ManagedFields, error) {
	version := fieldpath.APIVersion(a.d.GV())
	b := merge.UpdaterBuilder{Converter: a, IgnoreFilter: a.filters}
	last := a.sets[a.identifier]
	if last != nil && last.APIVersion() == version && (a.d.StorageCodec == nil || len(a.entries.others(a.d)) == 0) {
		sets := maps.Clone(a.sets)
		delete(sets, a.identifier)
		v, sets, err := b.BuildUpdater().Apply(a.liveTyped, a.configTyped, version, sets, a.identifier, force)
		if now := sets[a.identifier]; err == nil && now != nil && last.Set().Difference(now.Set()).Empty() {
			return v, sets, nil
		}
	}
	return b.BuildUpdater().Apply(a.liveTyped, a.configTyped, version, a.sets, a.identifier, force)
}

// managedSets returns the sets of the entries as structured-merge-diff keeps them, by their identifiers.
func (a *application) managedSets() fieldpath.ManagedFields {
	sets := make(fieldpath.ManagedFields, len(a.entries))
	for _, e := range a.entries {
		var model *model
		if d := a.m.version(a.d, e.apiVersion); d != nil {
			model = a.m.model(typeOf(d), d.Custom)
		}
		sets[e.id().text()] = fieldpath.NewVersionedSet(model.toSet(e.fields), fieldpath.APIVersion(e.apiVersion), e.operation == opApply)
	}
	return sets
}

// resetFields returns filters that hide what the request cannot own, by version. Custom resources reset fields in the version
// of the request only, but for their status.
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

// Convert implements merge.Converter. A custom resource is converted by way of the version of the request.
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
		if obj, err = from.StorageCodec.Convert(obj.Copy(), a.d.GV()); err != nil {
			return v, err
		}
		from = a.d
	}
	d, obj, err := a.m.inVersion(from, obj, string(version))
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

// typed returns an object of the server for structured-merge-diff, with the zero values that its Go struct has.
func (m *Manager) typed(d *resource.Definition, obj object.Object) *typed.TypedValue {
	model := m.model(typeOf(d), d.Custom)
	return model.typed(model.whole(d, obj))
}

// typed returns an object in which nothing is wrong (see invalid.go) for structured-merge-diff.
func (m *model) typed(obj map[string]any) *typed.TypedValue {
	parser := m.parser()
	//lint:ignore SA1019 what was checked here, to the letter of the real server, need not be checked there again
	return typed.AsTypedUnvalidated(value.NewValueInterface(obj), parser.Schema, parser.TypeRef)
}

// untyped returns the object that v is.
func untyped(v *typed.TypedValue) (object.Object, error) {
	switch obj := v.AsValue().Unstructured().(type) {
	case map[string]any:
		return obj, nil
	default:
		return nil, fmt.Errorf("failed to convert value to unstructured for type %T", obj)
	}
}

// entriesOf returns the entries with the sets that an apply has left them. The applier has a new time if the object changed.
func (a *application) entriesOf(sets fieldpath.ManagedFields, changed bool) managed {
	entries := make(managed, 0, len(sets))
	own := &entry{manager: a.by.Name, operation: opApply, apiVersion: a.d.GV(), subresource: a.by.Subresource}
	for _, e := range a.entries {
		key := e.id().text()
		set := sets[key]
		switch {
		case key == a.identifier:
			own.time = e.time
		case set == nil:
		case set.Set().Equals(a.sets[key].Set()):
			entries = append(entries, e)
		default:
			left := *e
			left.fields, left.raw = fromSet(set.Set()), nil
			entries = append(entries, &left)
		}
	}
	if changed {
		own.time = object.Time(a.by.Time)
	}
	if set := sets[a.identifier]; set != nil {
		own.fields = fromSet(set.Set().Difference(stripSet))
	}
	if len(own.fields) == 0 {
		return entries
	}
	return append(entries, own)
}
