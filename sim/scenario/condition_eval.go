package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// scope is what a condition is about.
type scope struct {
	w         *World
	self      any // what a field without an object is of
	namespace string
	now       time.Time // as the client that looks sees it
	rev       uint64    // of the store; 0: now

	// objects returns those of a resource. nil: the store's.
	objects func(d *resource.Definition, namespace, name string) ([]object.Object, error)
}

// scope returns the one of an operation: the store, and the last answer.
func (w *World) scope(rev uint64) *scope {
	s := &scope{w: w, namespace: "default", now: w.clock.Now(), rev: rev}
	if w.last != nil && w.last.body != nil {
		s.self = map[string]any(w.last.body)
	}
	return s
}

// Holds says whether a condition holds now, and why not, or why.
func (w *World) Holds(condition string) (holds bool, why string, err error) {
	condition, err = w.substitute(condition)
	if err != nil {
		return false, "", err
	}
	c, err := ParseCondition(condition)
	if err != nil {
		return false, "", err
	}
	return c.root.eval(w.scope(0))
}

// list returns the objects that a scope sees, which are not to be changed.
func (s *scope) list(text, namespace, name string) ([]object.Object, error) {
	d, err := s.w.known(text)
	if err != nil {
		return nil, err
	}
	if !d.Namespaced {
		namespace = ""
	}
	if s.objects != nil {
		return s.objects(d, namespace, name)
	}
	return s.w.cluster.Look(d, namespace, name, s.rev)
}

// get returns a value in self.
func (s *scope) get(p path) any { return p.get(s.self) }

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

type constant struct{ v any }

func (c *constant) value(*scope) (any, error) { return c.v, nil }
func (c *constant) text() string              { return show(c.v) }

type field struct{ path path }

func (f *field) value(s *scope) (any, error) { return s.get(f.path), nil }
func (f *field) text() string                { return f.path.text }

type length struct{ path path }

func (l *length) text() string { return "len " + l.path.text }

func (l *length) value(s *scope) (any, error) {
	switch v := s.get(l.path).(type) {
	case []any:
		return int64(len(v)), nil
	case map[string]any:
		return int64(len(v)), nil
	case string:
		return int64(len(v)), nil
	}
	return int64(0), nil
}

// reference is a stored object, or a field of it.
type reference struct {
	resource, namespace, name string
	path                      path
	column                    int
}

func (r *reference) text() string {
	return strings.TrimRight(r.resource+"/"+key(r.namespace, r.name)+" "+r.path.text, " ")
}

func (r *reference) value(s *scope) (any, error) {
	namespace := r.namespace
	if namespace == "" {
		namespace = s.namespace
	}
	list, err := s.list(r.resource, namespace, r.name)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return r.path.get(map[string]any(list[0])), nil
}

// selection is some objects of a resource. As an operand it is how many there are.
type selection struct {
	resource, namespace, labels string
	where                       node
}

func (c *selection) text() string {
	text := "count " + c.resource
	if c.namespace != "" {
		text += " -n " + c.namespace
	}
	if c.labels != "" {
		text += " -l " + c.labels
	}
	return text
}

func (c *selection) value(s *scope) (any, error) {
	list, err := c.list(s)
	return int64(len(list)), err
}

func (c *selection) list(s *scope) ([]object.Object, error) {
	list, err := s.list(c.resource, c.namespace, "")
	if err != nil {
		return nil, err
	}
	labels, err := selector.ParseLabels(c.labels)
	if err != nil {
		return nil, err
	}
	var out []object.Object
	for _, obj := range list {
		if !labels.Matches(obj.Labels()) {
			continue
		}
		if c.where != nil {
			ok, _, err := c.where.eval(s.about(obj))
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
		}
		out = append(out, obj)
	}
	return out, nil
}

// about returns the scope with another object for fields.
func (s *scope) about(obj object.Object) *scope {
	inner := *s
	inner.self = map[string]any(obj)
	return &inner
}

// answerPart is something of the last answer, or the store's revision.
type answerPart struct{ part, header string }

func (a *answerPart) text() string { return strings.TrimRight(a.part+" "+a.header, " ") }

func (a *answerPart) value(s *scope) (any, error) {
	if a.part == "revision" {
		if s.rev != 0 {
			return int64(s.rev), nil
		}
		return int64(s.w.cluster.Revision()), nil
	}
	c := s.w.last
	if c == nil {
		return nil, fmt.Errorf("%s is that of the last answer, and there was none yet", a.part)
	}
	switch a.part {
	case "status":
		return int64(c.answer.Code), nil
	case "reason":
		return c.exchange.Reason, nil
	case "message":
		return c.body.String("message"), nil
	case "method":
		return c.exchange.Method, nil
	case "path":
		return c.exchange.Path, nil
	case "client":
		return c.exchange.Client, nil
	}
	if list := c.exchange.ResHeader.Values(a.header); len(list) > 0 {
		return list[0], nil
	}
	return nil, nil
}

type watchCount struct{ name, eventType string }

func (c *watchCount) text() string {
	return strings.TrimRight("watch/"+c.name+" count "+c.eventType, " ")
}

func (c *watchCount) value(s *scope) (any, error) {
	x, err := s.watch(c.name)
	if err != nil {
		return nil, err
	}
	n := int64(0)
	for _, e := range x.events {
		if c.eventType == "" || e.Type == c.eventType {
			n++
		}
	}
	return n, nil
}

func (s *scope) watch(name string) (*watch, error) {
	x := s.w.watchNamed(name)
	if x == nil {
		return nil, fmt.Errorf("there is no watch %q", name)
	}
	return x, nil
}

type comparison struct {
	left  operand
	op    string
	right operand
}

func (c *comparison) eval(s *scope) (bool, string, error) {
	a, err := c.left.value(s)
	if err != nil {
		return false, "", err
	}
	b, err := c.right.value(s)
	if err != nil {
		return false, "", err
	}
	why := c.left.text() + " is " + show(a)
	if _, fixed := c.right.(*constant); !fixed {
		why += ", " + c.right.text() + " is " + show(b)
	}
	return compare(a, c.op, b), why, nil
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
	x, xIsNumber := number(a)
	y, yIsNumber := number(b)
	order := strings.Compare(show(a), show(b))
	if xIsNumber && yIsNumber {
		order = 0
		if x < y {
			order = -1
		} else if x > y {
			order = 1
		}
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
		for _, x := range a {
			if same(x, b) {
				return true
			}
		}
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

type presence struct {
	what   operand
	exists bool
}

func (p *presence) eval(s *scope) (bool, string, error) {
	v, err := p.what.value(s)
	if err != nil {
		return false, "", err
	}
	why := p.what.text() + " is not there"
	if v != nil {
		why = p.what.text() + " is there"
	}
	return (v != nil) == p.exists, why, nil
}

type older struct {
	what operand
	than time.Duration
}

func (o *older) eval(s *scope) (bool, string, error) {
	v, err := o.what.value(s)
	if err != nil {
		return false, "", err
	}
	text, _ := v.(string)
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return false, o.what.text() + " is " + show(v) + ", which is no time", nil
	}
	age := s.now.Sub(t)
	return age > o.than, fmt.Sprintf("%s is %s old", o.what.text(), age), nil
}
