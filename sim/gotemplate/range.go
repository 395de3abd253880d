package gotemplate

import (
	"maps"
	"slices"
	"text/template/parse"
)

// iterate executes range.
func (s *state) iterate(dot any, n *parse.RangeNode) {
	defer s.restore(len(s.vars))
	value := s.pipeline(dot, n.Pipe)
	base := len(s.vars)
	some := false
	one := func(key, element any) bool {
		some = true
		s.vars = s.vars[:base]
		s.bind(n.Pipe, key, element)
		return s.round(element, n.List)
	}
	switch v := value.(type) {
	case nil, missing:
	case []any:
		for i, element := range v {
			if !one(i, element) {
				break
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !one(key, v[key]) {
				break
			}
		}
	case int:
		if len(n.Pipe.Decl) > 1 {
			s.fail("can't use %v to iterate over more than one variable", v)
		}
		for i := range v {
			if !one(i, i) {
				break
			}
		}
	default:
		s.at = n.Pipe
		s.fail("range can't iterate over %v", value)
	}
	s.vars = s.vars[:base]
	if !some && n.ElseList != nil {
		s.walk(dot, n.ElseList)
	}
}

// bind sets the variables of a range to a key and an element: one variable is the element, two are key and element.
func (s *state) bind(pipe *parse.PipeNode, key, element any) {
	values := []any{key, element}
	if len(pipe.Decl) == 1 {
		values = values[1:]
	}
	for i, v := range pipe.Decl {
		if pipe.IsAssign {
			s.assign(v.Ident[0], values[i])
		} else {
			s.vars = append(s.vars, variable{v.Ident[0], values[i]})
		}
	}
}

// round executes the body of a range once. It returns false after a break.
func (s *state) round(element any, body *parse.ListNode) (more bool) {
	defer func() {
		switch at := recover().(type) {
		case nil:
		case jump:
			more = at == toNext
		default:
			panic(at)
		}
	}()
	s.walk(element, body)
	return true
}
