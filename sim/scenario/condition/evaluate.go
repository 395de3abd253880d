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

// World provides the state that conditions read, except objects.
type World interface {
	// LastAnswer returns the last response, or nil if there is none yet.
	LastAnswer() *Answer
	// Watch returns the watch with the given name, or nil.
	Watch(name string) *Watch
	// Actor returns the informer, pager or controller with the given name, or nil.
	Actor(name string) *Actor
	// Waiting returns the number of requests that are waiting for a response.
	Waiting() int
	// Frames returns the number of frames that the selection matches.
	Frames(of Frames) int
	// Broken returns a description of the first broken promise, or "". It returns an error if nothing is recorded.
	Broken() (string, error)
}

// Reader returns objects of a resource, from the store or from a cache. If namespace or name is "", it returns the
// objects of all namespaces or of all names. The caller must not change the objects.
type Reader interface {
	Objects(resource, namespace, name string) ([]object.Object, error)
}

// Answer is a response and its request.
type Answer struct {
	Code    int
	Status  string // the reason phrase of Code
	Reason  string // the reason in a Status
	Message string // the message in a Status
	Header  wire.Header

	Method, Path, Client string
	Replica              int
}

// Watch is the client's side of a watch.
type Watch struct {
	State  string // how the watch ended; "" while it is open
	RV     string // the resourceVersion of the last event
	Path   string // the path of its request
	Events iter.Seq2[string, object.Object]
}

// Actor is a client that acts on its own.
type Actor struct {
	Synced bool
	State  string // a short description
	Now    time.Time
	Cache  Reader
}

// Frames selects the frames that a condition counts. An empty field matches all frames.
type Frames struct {
	Kind string
	Code int
	Word string // reason, method, or event type
	Lane string
}

// Scope provides the data for evaluating a condition.
type Scope struct {
	World     World
	Objects   Reader
	Revision  uint64 // the newest revision of the store
	Self      any    // the object whose fields, such as .spec.replicas, are read
	Namespace string
	Now       time.Time // the time on the client's clock

	err *error // the first evaluation error; shared by derived scopes
}

// fail records the first evaluation error and ignores later ones.
func (s *Scope) fail(err error) {
	if *s.err == nil {
		*s.err = err
	}
}

// about returns a copy of the scope with obj as Self.
func (s *Scope) about(obj object.Object) *Scope {
	inner := *s
	inner.Self = map[string]any(obj)
	return &inner
}

// watch returns the watch with the given name. If no such watch exists, it records an error and returns a watch without
// events.
func (s *Scope) watch(name string) *Watch {
	x := s.World.Watch(name)
	if x == nil {
		s.fail(fmt.Errorf("there is no watch %q", name))
		return &Watch{Events: func(func(string, object.Object) bool) {}}
	}
	return x
}

// list reads the objects of a resource. If that fails, it records the error in s. The caller must not change the objects.
func (s *Scope) list(text, namespace, name string) []object.Object {
	list, err := s.Objects.Objects(text, namespace, name)
	s.fail(err)
	return list
}

// get returns the value at the path in v, or nil if there is none.
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

// Show formats a value for messages.
func Show(v any) string {
	switch v := v.(type) {
	case nil:
		return "absent"
	case string:
		return v
	}
	return string(object.JSON(v))
}

// length returns the length of a list, an object or a string, and 0 for other values.
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

// compare compares two values, numerically if both are numbers and otherwise as strings. An absent value equals only
// null.
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

// same reports whether two values are equal. The string "1" and the number 1 are equal.
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

// Number converts a value to a number and reports whether that is possible.
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
