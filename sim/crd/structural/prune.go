package structural

import (
	"slices"
	"strconv"
)

// Prune removes the fields that the schema does not have, in place, and returns their paths in sorted order:
// spec.a, spec.list[0].b. Call it on Root for whole resources; kind, apiVersion and metadata of embedded resources stay.
// (CustomResourceDefinition documentation, "Field pruning".)
func (s *Schema) Prune(v any) []string {
	p := &pruner{}
	p.prune(v, s)
	slices.Sort(p.unknown)
	return p.unknown
}

// Whole reports whether reading a resource from the store would change nothing: there is nothing to prune, no default to
// fill in and no null to drop. Call it on Root.
func (s *Schema) Whole(v any) bool {
	p := &pruner{keep: true}
	p.prune(v, s)
	return len(p.unknown) == 0 && s.complete(v)
}

// pruner finds what a schema does not have.
type pruner struct {
	keep    bool     // nothing is removed
	path    []string // elements, printed as they are: "spec", ".a", "[0]"
	unknown []string
}

func (p *pruner) prune(v any, s *Schema) {
	if s != nil && s.Preserve {
		p.preserve(v, s)
		return
	}
	switch v := v.(type) {
	case map[string]any:
		p.fields(v, s)
	case []any:
		for i, x := range v {
			p.below("["+strconv.Itoa(i)+"]", x, s.items(), p.prune)
		}
	}
}

func (p *pruner) fields(m map[string]any, s *Schema) {
	for name := range m { // order does not matter: what is reported is sorted
		if s != nil && s.Embedded && envelope(name) {
			continue
		}
		child, declared := s.child(name)
		if declared {
			p.below(p.key(name), m[name], child, p.prune)
			continue
		}
		if !envelope(name) || len(p.path) > 0 {
			p.report(name)
		}
		if !p.keep {
			delete(m, name)
		}
	}
}

// preserve keeps what is not declared, and prunes below what is.
func (p *pruner) preserve(v any, s *Schema) {
	if s == nil {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for name := range v { // order does not matter: what is reported is sorted
			if s.Embedded && envelope(name) {
				continue
			}
			if child, declared := s.child(name); declared {
				p.below(p.key(name), v[name], child, p.prune)
			}
		}
	case []any:
		for i, x := range v {
			p.below("["+strconv.Itoa(i)+"]", x, s.Items, p.preserve)
		}
	}
}

func (p *pruner) below(element string, v any, s *Schema, visit func(any, *Schema)) {
	p.path = append(p.path, element)
	visit(v, s)
	p.path = p.path[:len(p.path)-1]
}

func (p *pruner) key(name string) string {
	if len(p.path) == 0 {
		return name
	}
	return "." + name
}

func (p *pruner) report(name string) {
	var path []byte
	for _, element := range p.path {
		path = append(path, element...)
	}
	p.unknown = append(p.unknown, string(append(path, p.key(name)...)))
}

func (s *Schema) items() *Schema {
	if s == nil {
		return nil
	}
	return s.Items
}
