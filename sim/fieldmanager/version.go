package fieldmanager

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// version returns the definition of d's resource in an apiVersion, or nil. If two groups serve a resource, as for events, its
// fields are tracked only in the group of the request.
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

// inVersion converts obj, which has the version d, to the version of an entry, and also returns the definition of that version. The
// definition is nil if the version does not exist any more; the entry must then be dropped. inVersion does not change obj. The
// conversion of a custom resource receives its managedFields.
//
// For a custom resource, a version that is missing in the definition is a conversion error instead. So is a field that the other
// version's schema does not have, because the conversion does not prune the object (versionConverter of apimachinery, with the
// converter of apiextensions-apiserver).
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

// misfit returns an error if a custom resource has a value that does not match the schema of the version d. It ignores repeated
// items if duplicates is set. Objects of built-in kinds always match. Custom resources may not, because they are checked before
// validation, in other versions, and after changes of the schema.
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

// others returns the sorted apiVersions of entries, except that of d.
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

// sameGroup returns v if it has d's group, and nil otherwise.
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

// convert converts an object of a built-in kind from one version to another via the hub. It does not change obj.
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

// reconciled adapts the sets of entries to the schema: if a value was owned in parts and is atomic now, it becomes one path.
// Only the schemas of custom resources change, but clients may send any set. Entries of versions that do not exist any more are
// dropped. reconciled returns an error if live cannot be converted to the version of an entry.
//
// It is used for updates. For an apply, merge.Updater does the same; using that for updates would require parsing all sets, and
// make an update of a custom resource a seventh slower.
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

// reconcile returns the set below a value with each atomic value as one path, or nil if the set does not change.
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

// unknownOnly reports whether an object has only undeclared fields of any type. It is then unknown how it was owned before.
func (s *shape) unknownOnly() bool {
	return len(s.fields) == 0 && (s.kind == structure || s.kind == dictionary) && s.elem != nil &&
		(s.elem.kind == deduced || s.elem.kind == scalar && s.elem.accept == anything)
}

// below returns the shape for a path element, or nil.
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
