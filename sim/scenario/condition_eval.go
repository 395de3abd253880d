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

// list returns the objects that a scope sees, which are not to be changed.
func (s *scope) list(text, namespace, name string) []object.Object {
	list, err := s.find(text, namespace, name)
	s.fail(err)
	return list
}

func (s *scope) find(text, namespace, name string) ([]object.Object, error) {
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

func (c *constant) value(*scope) any { return c.v }
func (c *constant) text() string     { return show(c.v) }

type field struct{ path path }

func (f *field) value(s *scope) any { return s.get(f.path) }
func (f *field) text() string       { return f.path.text }

type length struct{ path path }

func (l *length) text() string { return "len " + l.path.text }

func (l *length) value(s *scope) any {
	switch v := s.get(l.path).(type) {
	case []any:
		return int64(len(v))
	case map[string]any:
		return int64(len(v))
	case string:
		return int64(len(v))
	}
	return int64(0)
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

func (r *reference) value(s *scope) any {
	namespace := r.namespace
	if namespace == "" {
		namespace = s.namespace
	}
	list := s.list(r.resource, namespace, r.name)
	if len(list) == 0 {
		return nil
	}
	return r.path.get(map[string]any(list[0]))
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

func (c *selection) value(s *scope) any {
	return int64(len(c.list(s)))
}

func (c *selection) list(s *scope) (out []object.Object) {
	labels, err := selector.ParseLabels(c.labels)
	if err != nil {
		s.fail(err)
	}
	for _, obj := range s.list(c.resource, c.namespace, "") {
		if !labels.Matches(obj.Labels()) {
			continue
		}
		if c.where != nil {
			if ok, _ := c.where.eval(s.about(obj)); !ok {
				continue
			}
		}
		out = append(out, obj)
	}
	return out
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

func (a *answerPart) value(s *scope) any {
	if a.part == "revision" {
		if s.rev != 0 {
			return int64(s.rev)
		}
		return int64(s.w.cluster.Revision())
	}
	c := s.w.last
	if c == nil {
		s.fail(fmt.Errorf("%s is that of the last answer, and there was none yet", a.part))
		return nil
	}
	switch a.part {
	case "status":
		return int64(c.answer.Code)
	case "reason":
		return c.exchange.Reason
	case "message":
		return c.body.String("message")
	case "method":
		return c.exchange.Method
	case "path":
		return c.exchange.Path
	case "client":
		return c.exchange.Client
	}
	if list := c.exchange.ResHeader.Values(a.header); len(list) > 0 {
		return list[0]
	}
	return nil
}

type watchCount struct{ name, eventType string }

func (c *watchCount) text() string {
	return strings.TrimRight("watch/"+c.name+" count "+c.eventType, " ")
}

func (c *watchCount) value(s *scope) any {
	x := s.watch(c.name)
	n := int64(0)
	for _, e := range x.events {
		if c.eventType == "" || e.Type == c.eventType {
			n++
		}
	}
	return n
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

type comparison struct {
	left  operand
	op    string
	right operand
}

func (c *comparison) eval(s *scope) (bool, string) {
	a := c.left.value(s)
	b := c.right.value(s)
	why := c.left.text() + " is " + show(a)
	if _, fixed := c.right.(*constant); !fixed {
		why += ", " + c.right.text() + " is " + show(b)
	}
	return compare(a, c.op, b), why
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
