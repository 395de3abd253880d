package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// scope is what a condition is about.
type scope struct {
	w         *World
	self      any // what a field without an object is of
	namespace string
	now       time.Time // as the client that looks sees it
	rev       uint64    // of the store; 0: now

	err *error // the first reason why a condition about it cannot be judged; scopes made of each other share it

	// objects returns those of a resource. nil: the store's.
	objects func(d *resource.Definition, namespace, name string) ([]object.Object, error)
}

// scope returns the one of an operation: the store, and the last answer.
func (w *World) scope(rev uint64) *scope {
	s := &scope{w: w, namespace: "default", now: w.clock.Now(), rev: rev, err: new(error)}
	if w.last != nil && w.last.body != nil {
		s.self = map[string]any(w.last.body)
	}
	return s
}

// Holds says whether a condition holds now, and why not, or why.
func (w *World) Holds(condition string) (holds bool, why string, err error) {
	if condition, err = w.substitute(condition); err != nil {
		return false, "", err
	}
	c, err := ParseCondition(condition)
	if err != nil {
		return false, "", err
	}
	return c.holds(w.scope(0))
}

// fail notes why a condition cannot be judged.
func (s *scope) fail(err error) {
	if *s.err == nil {
		*s.err = err
	}
}

// value returns the value of an operand.
func (s *scope) value(o operand) (any, error) {
	v := o.value(s)
	return v, *s.err
}

// revision returns the store's.
func (s *scope) revision() any { return int64(cmp.Or(s.rev, s.w.cluster.Revision())) }

// about returns the scope with another object for fields.
func (s *scope) about(obj object.Object) *scope {
	inner := *s
	inner.self = map[string]any(obj)
	return &inner
}

// watch returns the watch of a name, or one that has seen nothing.
func (s *scope) watch(name string) *watch {
	x := s.w.watchNamed(name)
	if x == nil {
		s.fail(fmt.Errorf("there is no watch %q", name))
		return &watch{}
	}
	return x
}

// list returns the objects that a scope sees, which are not to be changed.
func (s *scope) list(text, namespace, name string) (list []object.Object) {
	d, err := s.w.known(text)
	if err == nil && !d.Namespaced {
		namespace = ""
	}
	switch {
	case err != nil:
	case s.objects != nil:
		list, err = s.objects(d, namespace, name)
	default:
		list, err = s.w.cluster.Look(d, namespace, name, s.rev)
	}
	s.fail(err)
	return list
}

// get follows a path; nil when it leads nowhere.
func (p path) get(v any) any { return follow(v, p.steps) }

func follow(v any, steps []step) any {
	for i, st := range steps {
		switch st.kind {
		case '.':
			m, _ := v.(map[string]any)
			v = m[st.name]
		case '#':
			list, _ := v.([]any)
			if st.index >= len(list) {
				return nil
			}
			v = list[st.index]
		default:
			list, ok := v.([]any)
			if !ok {
				return nil
			}
			out := []any{}
			for _, x := range list {
				if y := follow(x, steps[i+1:]); y != nil {
					out = append(out, y)
				}
			}
			return out
		}
	}
	return v
}

// show prints a value for people.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "absent"
	case string:
		return v
	}
	return string(object.JSON(v))
}

// length returns how long a list, an object or a text is; 0 for everything else.
func length(v any) int64 {
	switch v := v.(type) {
	case []any:
		return int64(len(v))
	case map[string]any:
		return int64(len(v))
	case string:
		return int64(len(v))
	}
	return 0
}

// compare compares two values: numbers as numbers, everything else as text. Nothing equals what is absent but null.
func compare(a any, op string, b any) bool {
	if op == "contains" {
		return contains(a, b)
	}
	equal := same(a, b)
	switch op {
	case "==":
		return equal
	case "!=":
		return !equal
	}
	if a == nil || b == nil {
		return false
	}
	order := strings.Compare(show(a), show(b))
	x, xIsNumber := number(a)
	y, yIsNumber := number(b)
	if xIsNumber && yIsNumber {
		order = cmp.Compare(x, y)
	}
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// same compares two values: "1" and 1 are the same.
func same(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return show(a) == show(b)
}

func contains(a, b any) bool {
	switch a := a.(type) {
	case string:
		return strings.Contains(a, show(b))
	case []any:
		return slices.ContainsFunc(a, func(x any) bool { return same(x, b) })
	case map[string]any:
		_, ok := a[show(b)]
		return ok
	}
	return false
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case string:
		f, err := strconv.ParseFloat(v, 64)
		return f, err == nil
	}
	return 0, false
}
