package resource

import "github.com/kubesim/kubesim/sim/schema"

// Table is the set of resources that one API server serves.
type Table struct {
	list   []*Definition
	byPath map[path]*Definition
}

type path struct{ group, version, resource string }

// NewTable returns a Table of the definitions, in the same order. If several have the same group, version and resource, the last of
// them is used.
func NewTable(defs []*Definition) *Table {
	t := &Table{byPath: make(map[path]*Definition, len(defs))}
	for _, d := range defs {
		t.Add(d)
	}
	return t
}

// Add appends d to the table. If it has a definition with the same group, version and resource, d replaces it.
func (t *Table) Add(d *Definition) {
	at := path{d.Group, d.Version, d.Resource}
	if old, ok := t.byPath[at]; ok {
		for i := range t.list {
			if t.list[i] == old {
				t.list[i] = d
			}
		}
	} else {
		t.list = append(t.list, d)
	}
	t.byPath[at] = d
}

// Remove removes d from the table. It does nothing if the table does not contain d.
func (t *Table) Remove(d *Definition) {
	if at := (path{d.Group, d.Version, d.Resource}); t.byPath[at] == d {
		delete(t.byPath, at)
	}
	for i := range t.list {
		if t.list[i] == d {
			t.list = append(t.list[:i:i], t.list[i+1:]...)
			return
		}
	}
}

// Find returns the definition of a resource, or nil.
func (t *Table) Find(group, version, resource string) *Definition {
	return t.byPath[path{group, version, resource}]
}

// OfKind returns the definition that serves a kind, or nil.
func (t *Table) OfKind(kind schema.GVK) *Definition {
	for _, d := range t.list {
		if d.GVK == kind {
			return d
		}
	}
	return nil
}

// Custom reports whether the group has resources and all of them are custom resources.
func (t *Table) Custom(group string) bool {
	custom := false
	for _, d := range t.list {
		if d.Group == group {
			if !d.Custom {
				return false
			}
			custom = true
		}
	}
	return custom
}

// Serves reports whether any resource of the group and version is served. If version is "", it reports this for all versions.
func (t *Table) Serves(group, version string) bool {
	for _, d := range t.list {
		if d.Group == group && (version == "" || d.Version == version) {
			return true
		}
	}
	return false
}

// All returns the definitions in the order in which they were added. The slice must not be changed.
func (t *Table) All() []*Definition { return t.list }
