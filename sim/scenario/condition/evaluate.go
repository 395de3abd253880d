package condition

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// World has the state that conditions read, except stored objects.
type World interface {
	// LastAnswer returns the last answer, or nil if there was none yet.
	LastAnswer() *Answer
	// Watch returns the watch of a name, or nil.
	Watch(name string) *Watch
	// Actor returns the informer, pager or controller of a name, or nil.
	Actor(name string) *Actor
	// Waiting returns the number of requests that wait for their answers.
	Waiting() int
	// Frames returns the number of frames that match.
	Frames(of Frames) int
	// Broken returns the first promise that was broken, or "".
	Broken() (string, error)
}

// Reader returns objects, which are not to be changed: of a resource, in one namespace or, with "", in all, of one name or, with
// "", all. It is the store's or that of a cache.
type Reader interface {
	Objects(resource, namespace, name string) ([]object.Object, error)
}

// Answer is an answer and its request.
type Answer struct {
	Code    int
	Status  string // the name of Code
	Reason  string // of a Status
	Message string // of a Status
	Header  wire.Header

	Method, Path, Client string
	Replica              int
}

// Watch is a watch from its client's side.
type Watch struct {
	State  string // how it ended; "" while it is open
	RV     string // of the last event
	Path   string // of its request
	Events iter.Seq2[string, object.Object]
}

// Actor is a client that acts by itself.
type Actor struct {
	Synced bool
	State  string // for people
	Now    time.Time
	Cache  Reader
}

// Frames selects the frames that a condition counts, since the World began. An empty field matches all frames.
type Frames struct {
	Kind string
	Code int
	Word string // a reason, a method, or a type of event
	Lane string
}

// Scope is the data on which a condition is evaluated.
type Scope struct {
	World     World
	Objects   Reader
	Revision  uint64 // of the store
	Self      any    // the object of fields such as .spec.replicas
	Namespace string
	Now       time.Time // on the clock of the client

	err *error // the first reason why the condition cannot be judged; scopes made of each other share it
}

// fail records the error because of which a condition cannot be evaluated.
func (s *Scope) fail(err error) {
	if *s.err == nil {
		*s.err = err
	}
}

// about returns the scope with another object for fields.
func (s *Scope) about(obj object.Object) *Scope {
	inner := *s
	inner.Self = map[string]any(obj)
	return &inner
}

// watch returns the watch of a name, or one that has seen nothing.
func (s *Scope) watch(name string) *Watch {
	x := s.World.Watch(name)
	if x == nil {
		s.fail(fmt.Errorf("there is no watch %q", name))
		return &Watch{Events: func(func(string, object.Object) bool) {}}
	}
	return x
}

// list returns the objects that a scope sees, which are not to be changed.
func (s *Scope) list(text, namespace, name string) []object.Object {
	list, err := s.Objects.Objects(text, namespace, name)
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

// Show prints a value for people.
func Show(v any) string {
	switch v := v.(type) {
	case nil:
		return "absent"
	case string:
		return v
	}
	return string(object.JSON(v))
}

// length returns the length of a list, an object or a text, and 0 for other values.
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

// compare compares two values: numbers as numbers, everything else as text. An absent value equals only null.
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
	order := strings.Compare(Show(a), Show(b))
	x, xIsNumber := Number(a)
	y, yIsNumber := Number(b)
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
	return Show(a) == Show(b)
}

func contains(a, b any) bool {
	switch a := a.(type) {
	case string:
		return strings.Contains(a, Show(b))
	case []any:
		return slices.ContainsFunc(a, func(x any) bool { return same(x, b) })
	case map[string]any:
		_, ok := a[Show(b)]
		return ok
	}
	return false
}

// Number returns a value as a number, if it is one.
func Number(v any) (float64, bool) {
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
