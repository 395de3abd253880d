package structural

import (
	"slices"
	"strconv"
	"strings"
)

// Prune removes from v the fields that the schema does not have. It returns their paths, sorted: spec.a, spec.list[0].b.
// For whole resources, call it on Root. It keeps kind, apiVersion and metadata of embedded resources
// (CustomResourceDefinition documentation, "Field pruning").
func (s *Schema) Prune(v any) []string {
	p := &pruner{}
	p.prune(v, s, false)
	slices.Sort(p.unknown)
	return p.unknown
}

// Whole reports whether a resource can be read from the store without changes: there is nothing to prune, no default to set and no
// null to drop. Call it on Root.
func (s *Schema) Whole(v any) bool {
	p := &pruner{keep: true}
	p.prune(v, s, false)
	return len(p.unknown) == 0 && s.complete(v)
}

// pruner finds fields that a schema does not have.
type pruner struct {
	keep    bool     // report the fields, but do not remove them
	path    []string // path elements in printed form: "spec", ".a", "[0]"
	unknown []string
}

// prune removes fields of v that s does not have. open reports whether the fields of v need not be declared, because v is in a
// list whose fields are preserved.
func (p *pruner) prune(v any, s *Schema, open bool) {
	if open = open || s != nil && s.Preserve; open && s == nil {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for name := range v { // order does not matter: the reported paths are sorted
			child, declared := s.child(name)
			switch {
			case s != nil && s.Embedded && envelope(name):
			case declared:
				p.below(p.key(name), v[name], child, false)
			case !open:
				p.drop(v, name)
			}
		}
	case []any:
		for i, x := range v {
			p.below("["+strconv.Itoa(i)+"]", x, s.items(), open)
		}
	}
}

func (p *pruner) below(element string, v any, s *Schema, open bool) {
	p.path = append(p.path, element)
	p.prune(v, s, open)
	p.path = p.path[:len(p.path)-1]
}

// drop removes a field. It reports the path of the field, unless it is kind, apiVersion or metadata at the root.
func (p *pruner) drop(m map[string]any, name string) {
	if !envelope(name) || len(p.path) > 0 {
		p.unknown = append(p.unknown, strings.Join(p.path, "")+p.key(name))
	}
	if !p.keep {
		delete(m, name)
	}
}

func (p *pruner) key(name string) string {
	if len(p.path) == 0 {
		return name
	}
	return "." + name
}

func (s *Schema) items() *Schema {
	if s == nil {
		return nil
	}
	return s.Items
}
