package fieldmanager

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// version returns the definition of d's resource in an apiVersion, or nil. A resource that two groups serve, as events
// are, has its fields tracked in the group of the request only.
func (m *Manager) version(d *resource.Definition, apiVersion string) *resource.Definition {
	switch apiVersion {
	case d.GV():
		return d
	case d.Hub.GV():
		return sameGroup(d, d.Hub)
	}
	if m.Versions == nil {
		return nil
	}
	return sameGroup(d, m.Versions.Version(d, apiVersion))
}

// inVersion converts obj, of the version d, to the version of an entry, and returns the definition of that version, too. The
// definition is nil if the version is gone, so that the entry has to be dropped. inVersion does not change obj. A conversion of a
// custom resource sees its managedFields.
//
// A version of a custom resource is never gone in this sense: a version that the definition does not name is an error of the
// conversion, and so is a field that the other version's schema does not have, because nothing prunes the object on the way
// (versionConverter of apimachinery, with the converter that apiextensions-apiserver hands it).
func (m *Manager) inVersion(by resource.Asker, d *resource.Definition, obj object.Object, apiVersion string) (*resource.Definition, object.Object, error) {
	if apiVersion == d.GV() {
		return d, obj, nil
	}
	v := m.version(d, apiVersion)
	if d.StorageCodec == nil {
		if v == nil {
			return nil, nil, nil
		}
		converted, err := convert(d, v, obj)
		return v, converted, err
	}
	if strings.Count(apiVersion, "/") > 1 {
		return nil, nil, errors.New("unexpected GroupVersion string: " + apiVersion)
	}
	if obj == nil {
		obj = object.Object{"apiVersion": d.GV(), "kind": d.Kind}
	}
	converted, err := d.StorageCodec.Convert(by, obj.Copy(), apiVersion)
	switch {
	case err != nil:
		return nil, nil, err
	case v == nil:
		return nil, nil, nil
	}
	return v, converted, m.misfit(v, converted, false)
}

// misfit returns the error in an object of a custom resource under the schema of the version d, or nil if every value has the form
// that the schema requires. Repeated items are errors unless they are allowed. Objects of built-in kinds always fit. Custom
// resources get here before they are validated, in other versions, and under schemas that have changed since.
func (m *Manager) misfit(d *resource.Definition, obj object.Object, duplicates bool) error {
	if !d.Custom || obj == nil {
		return nil
	}
	errs := m.model(typeOf(d), true).root.check(map[string]any(bare(obj)))
	if duplicates {
		errs = withoutRepeats(errs)
	}
	if len(errs) == 0 {
		return nil
	}
	return errors.New(joinProblems(errs))
}

// others returns the apiVersions of entries that are not that of d, in order.
func (l managed) others(d *resource.Definition) []string {
	var out []string
	for _, e := range l {
		if e.apiVersion != d.GV() {
			out = append(out, e.apiVersion)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sameGroup returns v if it is of d's group.
func sameGroup(d, v *resource.Definition) *resource.Definition {
	if v == nil || v.Group != d.Group {
		return nil
	}
	return v
}

func typeOf(d *resource.Definition) *schema.Type {
	if d.Type == nil {
		return nil
	}
	return d.Type()
}

// convert returns an object of one version of a built-in kind in another, through the hub. It does not change obj.
func convert(from, to *resource.Definition, obj object.Object) (object.Object, error) {
	if obj == nil || from.GV() == to.GV() {
		return obj, nil
	}
	obj = obj.Copy()
	if from.Hub != from && from.ToHub != nil {
		hub, err := from.ToHub(obj)
		if err != nil {
			return nil, err
		}
		obj = hub
	}
	if to.Hub != to && to.FromHub != nil {
		converted, err := to.FromHub(obj)
		if err != nil {
			return nil, err
		}
		obj = converted
	}
	obj["apiVersion"] = to.GV()
	return obj, nil
}

// reconciled brings the sets of entries into line with the schema: a value that is atomic now but was owned in parts before becomes
// one path. Only schemas of custom resources change, but clients may send any set. Entries of a version that is gone are dropped.
// reconciled fails if live cannot be converted to the version of an entry.
//
// This is for updates. For an apply, merge.Updater does the same, but an update would have to parse all sets to use it: an update
// of a custom resource would take a seventh longer.
func (m *Manager) reconciled(by resource.Asker, d *resource.Definition, live object.Object, entries managed) (managed, error) {
	for _, apiVersion := range entries.others(d) {
		if d.StorageCodec == nil {
			break // built-in kinds can be converted to each version
		}
		if _, _, err := m.inVersion(by, d, live, apiVersion); err != nil {
			return nil, err
		}
	}
	kept := entries[:0]
	for _, e := range entries {
		v := m.version(d, e.apiVersion)
		if v == nil {
			continue
		}
		kept = append(kept, e)
		if e.raw != nil && !d.Custom {
			continue
		}
		if fields := m.model(typeOf(v), v.Custom).root.reconcile(e.fields); fields != nil {
			e.fields, e.raw = fields, nil
		}
	}
	return kept, nil
}

// reconcile returns the set below a value with atomic values as one path, or nil if the set need not change.
func (s *shape) reconcile(node map[string]any) map[string]any {
	if s.kind == deduced || s.kind == scalar || s.unknownOnly() {
		return nil
	}
	var out map[string]any
	for element := range node { // order does not matter
		child := s.below(element)
		x, _ := below(node, element)
		if child == nil || len(x) == 0 || child.unknownOnly() {
			continue
		}
		y := leaf
		if !child.atomic && child.kind != list {
			if y = child.reconcile(x); y == nil {
				continue
			}
		}
		if out == nil {
			out = replaced(node, element, y)
		}
		out[element] = y
	}
	return out
}

// unknownOnly reports whether an object has no declared field and anything else: it is not known how it was owned before.
func (s *shape) unknownOnly() bool {
	return len(s.fields) == 0 && (s.kind == structure || s.kind == dictionary) && s.elem != nil &&
		(s.elem.kind == deduced || s.elem.kind == scalar && s.elem.accept == anything)
}

// below returns the shape that a path element leads to, or nil.
func (s *shape) below(element string) *shape {
	if s == nil || len(element) < 2 {
		return nil
	}
	switch s.kind {
	case structure, dictionary:
		if element[:2] == "f:" {
			return s.child(element[2:])
		}
	case set, listMap:
		return s.elem
	}
	return nil
}
