package fieldmanager

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/value"

	"github.com/kubesim/kubesim/sim/object"
)

// invalid returns the errors in an applied configuration as one message, or "" if there are none. The messages are those of
// kube-apiserver, which has a newer version of structured-merge-diff. The real server reports the errors of an object in random
// order; here they are sorted by key.
func (s *shape) invalid(v any) string {
	return joinProblems(s.check(v))
}

// unreachable is invalid for an object on the server, in which repeated items are allowed. Its errors are mostly about items
// without a path.
func (s *shape) unreachable(obj map[string]any) string {
	return joinProblems(withoutRepeats(s.check(obj)))
}

// withoutRepeats removes the problems that are allowed in objects on the server.
func withoutRepeats(errs []problem) []problem {
	return slices.DeleteFunc(errs, func(p problem) bool { return p.repeats })
}

// joinProblems formats problems as one error message, or "" if there are none.
func joinProblems(errs []problem) string {
	switch len(errs) {
	case 0:
		return ""
	case 1:
		return errs[0].String()
	}
	lines := []string{"errors:"}
	for _, e := range errs {
		lines = append(lines, "  "+e.String())
	}
	return strings.Join(lines, "\n")
}

// problem is an error and its path.
type problem struct {
	path, text string
	repeats    bool // the problem is a repeated item, which is allowed in an object but not in a configuration
}

func (p problem) String() string {
	if p.path == "" {
		return p.text
	}
	return p.path + ": " + p.text
}

func problemf(format string, args ...any) []problem {
	return []problem{{text: fmt.Sprintf(format, args...)}}
}

// under adds prefix to the paths of problems.
func under(prefix string, list []problem) []problem {
	for i := range list {
		list[i].path = prefix + list[i].path
	}
	return list
}

func (s *shape) check(v any) []problem {
	if v == nil {
		return nil
	}
	switch s.kind {
	case structure, dictionary:
		m, ok := v.(map[string]any)
		if !ok {
			return problemf("expected map, got &{%v}", v)
		}
		return s.checkFields(m)
	case list, set, listMap:
		l, ok := v.([]any)
		if !ok {
			return problemf("expected list, got &{%v}", v)
		}
		return s.checkItems(l)
	case scalar:
		return s.accept.check(v)
	}
	return nil
}

func (a accept) check(v any) []problem {
	switch v.(type) {
	case int64, float64:
		if a == text || a == boolean {
			return a.mismatch(v)
		}
	case string:
		if a == numeric || a == boolean {
			return a.mismatch(v)
		}
	case bool:
		if a == numeric || a == text {
			return a.mismatch(v)
		}
	default:
		if a != anything {
			return a.mismatch(v)
		}
	}
	return nil
}

func (a accept) mismatch(v any) []problem {
	switch a {
	case numeric:
		return problemf("expected numeric (int or float), got %T", v)
	case text:
		return problemf("expected string, got &value.valueUnstructured{Value:%#v}", v)
	case boolean:
		return problemf("expected boolean, got &{%v}", v)
	}
	return problemf("expected any scalar, got &{%v}", v)
}

func (s *shape) checkFields(m map[string]any) (errs []problem) {
	var wrong map[string][]problem // by name; nil for an undeclared field
	for name, v := range m {       // order does not matter: it fills a map
		var list []problem
		child := s.child(name)
		if child != nil {
			list = child.check(v)
		}
		if child == nil || list != nil {
			if wrong == nil {
				wrong = map[string][]problem{}
			}
			wrong[name] = list
		}
	}
	for _, name := range object.SortedKeys(wrong) {
		if wrong[name] == nil {
			return append(errs, problem{path: "." + name, text: "field not declared in schema"})
		}
		errs = append(errs, under("."+name, wrong[name])...)
	}
	return errs
}

func (s *shape) checkItems(l []any) (errs []problem) {
	var seen map[string]bool
	for i, v := range l {
		if s.kind != list {
			path, err := s.itemPath(v, false)
			if err != nil {
				return append(errs, problemf("element %d: %v", i, err)...)
			}
			if seen[path] {
				errs = append(errs, problem{text: "duplicate entries for key " + s.itemName(i, v), repeats: true})
			}
			if seen == nil {
				seen = make(map[string]bool, len(l))
			}
			seen[path] = true
		}
		if wrong := s.elem.check(v); wrong != nil {
			errs = append(errs, under(s.itemName(i, v), wrong)...)
		}
	}
	return errs
}

// itemName returns the name of an item for error messages: [0], [name="a"], [containerPort=80,protocol="TCP"], [="value"].
func (s *shape) itemName(i int, v any) string {
	switch s.kind {
	case list:
		return "[" + strconv.Itoa(i) + "]"
	case set:
		return "[=" + value.ToString(value.NewValueInterface(v)) + "]"
	}
	var parts []string
	add := func(name string, v any) {
		parts = append(parts, name+"="+value.ToString(value.NewValueInterface(v)))
	}
	if _, err := s.eachKey(v, false, add); err != nil {
		return "[]"
	}
	return "[" + strings.Join(parts, ",") + "]"
}
