package fault

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// Op is the operation at a point: a request, an event on its way to a watch, or a commit.
type Op struct {
	Verb        string // the verb of the request; "" for a commit without a request
	Commit      string // for a commit: create, update or delete, regardless of the verb
	Path        string // the path of a request that does not refer to a resource
	Group       string
	Resource    string
	Subresource string
	Namespace   string
	Name        string
	UserAgent   string
	User        string
	Replica     int
	EventType   string  // the type of an event
	Failed      bool    // the response is already an error
	Stream      bool    // the response is a watch
	Spared      bool    // no faults apply to it
	Numbers     Numbers // the numbers of the request, for Nth and Every

	// Object returns the object for conditions, and Old returns its previous state. Both functions and their results
	// may be nil.
	Object, Old func() object.Object
}

// String describes the op: update widgets.example.com/status default/a.
func (op *Op) String() string {
	var b strings.Builder
	b.WriteString(cmp.Or(op.Verb, op.Commit))
	if op.EventType != "" {
		b.WriteString(" " + op.EventType)
	}
	if op.Resource == "" {
		return b.String() + " " + op.Path
	}
	b.WriteString(" " + op.Resource)
	if op.Group != "" {
		b.WriteString("." + op.Group)
	}
	if op.Subresource != "" {
		b.WriteString("/" + op.Subresource)
	}
	if op.Namespace != "" || op.Name != "" {
		b.WriteString(" ")
		if op.Namespace != "" {
			b.WriteString(op.Namespace + "/")
		}
		b.WriteString(op.Name)
	}
	return b.String()
}

func (op *Op) object() object.Object { return call(op.Object) }
func (op *Op) old() object.Object    { return call(op.Old) }

func call(f func() object.Object) object.Object {
	if f == nil {
		return nil
	}
	return f()
}

// matches reports whether the trigger matches op, regardless of the frequency.
func (t Trigger) matches(op *Op) bool {
	if op.Spared || !t.matchesVerb(op) || !matchesResource(t.resource, op) {
		return false
	}
	if t.replica != 0 && t.replica != op.Replica || t.namespace != "" && t.namespace != op.Namespace ||
		t.user != "" && t.user != op.User || t.eventType != "" && t.eventType != op.EventType ||
		!strings.HasPrefix(op.UserAgent, t.client) {
		return false
	}
	if t.name != "" && t.name != op.Name && (op.Name != "" || t.name != op.object().Name()) {
		return false
	}
	return t.conditions(op)
}

func (t Trigger) matchesVerb(op *Op) bool {
	for verb := range strings.SplitSeq(t.verb, ",") {
		if verb == "*" || verb == op.Verb || op.Commit != "" && verb == op.Commit {
			return true
		}
	}
	return false
}

// matchesResource reports whether op matches the resource of a trigger, as described at On.
func matchesResource(want string, op *Op) bool {
	if want == "*" {
		return true
	}
	if strings.HasPrefix(want, "/") {
		if prefix, ok := strings.CutSuffix(want, "*"); ok {
			return op.Resource == "" && strings.HasPrefix(op.Path, prefix)
		}
		return op.Resource == "" && op.Path == want
	}
	want, sub, _ := strings.Cut(want, "/")
	if sub != "*" && sub != op.Subresource || op.Resource == "" {
		return false
	}
	resource, group, hasGroup := strings.Cut(want, ".")
	return (resource == "*" || resource == op.Resource) && (!hasGroup || group == op.Group)
}

func (t Trigger) conditions(op *Op) bool {
	if len(t.where) == 0 && len(t.became) == 0 {
		return true
	}
	obj := op.object()
	for _, text := range t.where {
		if c, err := parseCondition(text); err != nil || obj == nil || !c.holds(obj) {
			return false
		}
	}
	for _, text := range t.became {
		c, err := parseCondition(text)
		if err != nil || obj == nil || !c.holds(obj) {
			return false
		}
		if old := op.old(); old != nil && c.holds(old) {
			return false
		}
	}
	return true
}

// condition is a condition on one field.
type condition struct {
	path  []string
	op    string // empty for present, "!" for absent, "=" and "!=" for a comparison
	value string
}

// parseCondition parses a condition in one of the forms of Trigger.Where. It returns an error for any other text.
func parseCondition(text string) (condition, error) {
	var c condition
	rest := text
	if strings.HasPrefix(rest, "!") {
		c.op, rest = "!", rest[1:]
	}
	for {
		end := strings.IndexAny(rest, ".[=!")
		if end < 0 {
			end = len(rest)
		}
		if end > 0 {
			c.path = append(c.path, rest[:end])
		}
		if rest = rest[end:]; rest == "" {
			break
		}
		switch {
		case rest[0] == '.':
			rest = rest[1:]
		case rest[0] == '[':
			name, after, ok := strings.Cut(rest[1:], "]")
			if !ok || name == "" {
				return c, fmt.Errorf("condition %q: after [, a name and a ] are required", text)
			}
			c.path, rest = append(c.path, name), after
		case c.op == "" && rest[0] == '=':
			c.op, c.value, rest = "=", rest[1:], ""
		case c.op == "" && strings.HasPrefix(rest, "!="):
			c.op, c.value, rest = "!=", rest[2:], ""
		default:
			return c, fmt.Errorf("condition %q: want path, !path, path=value or path!=value", text)
		}
	}
	if len(c.path) == 0 {
		return c, fmt.Errorf("condition %q names no field", text)
	}
	return c, nil
}

func (c condition) holds(obj object.Object) bool {
	value, found := find(map[string]any(obj), c.path)
	switch c.op {
	case "":
		return found
	case "!":
		return !found
	case "=":
		return found && print(value) == c.value
	}
	return !found || print(value) != c.value
}

// find returns the value at a path of keys and indexes.
func find(value any, path []string) (any, bool) {
	for _, key := range path {
		switch v := value.(type) {
		case map[string]any:
			next, ok := v[key]
			if !ok {
				return nil, false
			}
			value = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// print formats a value for a comparison: strings without quotes, all other values as JSON.
func print(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	return string(object.JSON(value))
}
