package fieldmanager

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// version returns the definition of d's resource that serves an apiVersion, or nil. A resource that two groups serve, as
// events are, has its fields tracked in the group of the request only.
func (m *Manager) version(d *resource.Definition, apiVersion string) *resource.Definition {
	switch apiVersion {
	case d.GV():
		return d
	case d.Hub.GV():
		return sameGroup(d, d.Hub)
	}
	if m.Version == nil {
		return nil
	}
	return sameGroup(d, m.Version(d, apiVersion))
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

// convert returns an object of one version in another, through the hub. It does not change obj.
func convert(from, to *resource.Definition, obj object.Object) (object.Object, error) {
	if obj == nil || from.GV() == to.GV() {
		return obj, nil
	}
	obj = obj.Copy()
	if from.Form != nil {
		return from.Form.Convert(obj, to.GV())
	}
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

// reconciled brings the sets of entries into line with the schema: what is owned as a whole now but was owned in parts
// before is one path. Only schemas of custom resources change; clients may send anything.
func (m *Manager) reconciled(d *resource.Definition, entries managed) managed {
	for _, e := range entries {
		v := m.version(d, e.apiVersion)
		if v == nil || e.raw != nil && !d.Custom {
			continue
		}
		if fields := m.model(typeOf(v), v.Custom).root.reconcile(e.fields); fields != nil {
			e.fields, e.raw = fields, nil
		}
	}
	return entries
}

// reconcile returns the set below a value with what is atomic as one path, or nil where nothing is to be done.
func (s *shape) reconcile(node map[string]any) map[string]any {
	if s.kind == deduced || s.kind == scalar || s.kind == dictionary && s.elem.kind == deduced {
		return nil
	}
	var out map[string]any
	for element := range node { // order does not matter
		child := s.below(element)
		x, _ := below(node, element)
		if child == nil || len(x) == 0 {
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

// below returns the shape that a path element leads to, or nil.
func (s *shape) below(element string) *shape {
	if len(element) < 2 {
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
