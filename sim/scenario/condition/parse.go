package condition

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
)

// parser parses tokens from left to right, up to the first error.
type parser struct {
	tokens []token
	at     int
	end    int // the column after the text
	depth  int // the number of open parentheses
	err    error
}

// fail records an error at a token and ends parsing.
func (p *parser) fail(at token, format string, args ...any) {
	if p.err == nil {
		p.err = Wrong(at.column, format, args...)
	}
	p.at = len(p.tokens)
}

func (p *parser) peek() token {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return token{column: p.end}
}

func (p *parser) next() token {
	t := p.peek()
	p.at++
	return t
}

// accept consumes the next token if it is word, and reports whether it did.
func (p *parser) accept(word string) bool {
	if t := p.peek(); t.text == word && !t.quoted {
		p.at++
		return true
	}
	return false
}

func (p *parser) or() test  { return p.join("or", p.and) }
func (p *parser) and() test { return p.join("and", p.not) }

func (p *parser) join(word string, part func() test) test {
	list := []test{part()}
	for p.accept(word) {
		list = append(list, part())
	}
	all := word == "and"
	return func(s *Scope) (bool, string) {
		var reasons []string
		for _, part := range list {
			ok, why := part(s)
			if ok != all {
				return ok, why
			}
			reasons = append(reasons, why)
		}
		return all, strings.Join(reasons, ", ")
	}
}

func (p *parser) not() test {
	negated := false
	for p.accept("not") {
		negated = !negated
	}
	part := p.primary()
	return func(s *Scope) (bool, string) {
		ok, why := part(s)
		return ok != negated, why
	}
}

// deepest is the maximum nesting depth of conditions.
const deepest = 100

func (p *parser) primary() test {
	t := p.peek()
	if !p.accept("(") {
		return p.test()
	}
	if p.depth++; p.depth > deepest {
		p.fail(t, "there are too many parentheses")
	}
	inner := p.or()
	if !p.accept(")") {
		p.fail(p.peek(), "a ) is missing here")
	}
	p.depth--
	return inner
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">=", "contains"}

// compareWith parses the rest of a test after its left side.
func (p *parser) compareWith(left operand) test {
	t := p.peek()
	switch {
	case p.accept("exists"):
		return left.present(true)
	case p.accept("absent"):
		return left.present(false)
	case p.accept("older"):
		t := p.next()
		d, err := time.ParseDuration(t.text)
		if err != nil {
			p.fail(t, "older needs a duration such as 15s, not %q", t.text)
		}
		return left.older(d)
	case !t.quoted && slices.Contains(comparisons, t.text):
		p.next()
		return left.compared(t.text, p.operand(false))
	case t.text == "=":
		p.fail(t, "to compare, write ==")
	case t.text == "":
		p.fail(t, "after %s comes exists, absent, older or a comparison such as == 2", left.text)
	}
	p.fail(t, "%q is not a comparison; there are %s, exists, absent and older", t.text, strings.Join(comparisons, " "))
	return nil
}

func (o operand) present(wanted bool) test {
	return func(s *Scope) (bool, string) {
		if o.value(s) == nil {
			return !wanted, o.text + " is not there"
		}
		return wanted, o.text + " is there"
	}
}

func (o operand) older(than time.Duration) test {
	return func(s *Scope) (bool, string) {
		v := o.value(s)
		text, _ := v.(string)
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return false, o.text + " is " + Show(v) + ", which is not a time"
		}
		age := s.Now.Sub(t)
		return age > than, fmt.Sprintf("%s is %s old", o.text, age)
	}
}

func (o operand) compared(comparison string, right operand) test {
	return func(s *Scope) (bool, string) {
		a, b := o.value(s), right.value(s)
		why := o.text + " is " + Show(a)
		if !right.fixed {
			why += ", " + right.text + " is " + Show(b)
		}
		return compare(a, comparison, b), why
	}
}

// operand parses a value. On the left side, pods/a is an object; on the right side, it is a string unless a path
// follows.
func (p *parser) operand(left bool) operand {
	t := p.next()
	switch {
	case t.quoted:
		return constant(t.text)
	case t.text == "":
		p.fail(t, "a value is missing here")
	case t.text == "count":
		objects := p.selection()
		return operand{text: "count " + objects.text(), value: func(s *Scope) any { return int64(len(objects.list(s))) }}
	case t.text == "len":
		field := p.field("len", "len .items")
		return operand{text: "len " + field.text, value: func(s *Scope) any { return length(field.get(s.Self)) }}
	case t.text == "revision":
		return operand{text: t.text, value: func(s *Scope) any { return int64(s.Revision) }}
	case t.text == "header":
		name := p.next().text
		return ofAnswer(strings.TrimRight("header "+name, " "), func(a *Answer) any { return headerOf(a, name) })
	case answerParts[t.text] != nil:
		return ofAnswer(t.text, answerParts[t.text])
	case strings.HasPrefix(t.text, "watch/") && (p.peek().text == "rv" || p.peek().text == "path"):
		return watchPart(strings.TrimPrefix(t.text, "watch/"), p.next().text)
	case t.text[0] == '.':
		field := p.path(t)
		return operand{text: field.text, value: func(s *Scope) any { return field.get(s.Self) }}
	case strings.Contains(t.text, "/") && (left || p.atField() && !IsVariable(t.text)):
		return p.reference(t)
	}
	switch v := scalarWord(t.text); {
	case v != nil:
		return constant(v)
	case left && !IsVariable(t.text):
		p.fail(t, "%q is not a condition; begin with status, count pods, pods/NAME, .FIELD, informer/NAME or watch/NAME", t.text)
	case t.text == "null":
		return constant(nil)
	}
	return constant(t.text)
}

func constant(v any) operand {
	return operand{text: Show(v), value: func(*Scope) any { return v }, fixed: true}
}

// Scalar parses a value as JSON. If text is not valid JSON, it returns text as a string.
func Scalar(text string) any {
	if v, err := object.ParseValue([]byte(text)); err == nil {
		return v
	}
	return text
}

// scalarWord parses a number or a boolean. It returns nil for other words.
func scalarWord(text string) any {
	switch v := Scalar(text).(type) {
	case bool, int64, float64:
		return v
	}
	return nil
}

// reference parses pods/a or pods/kube-system/a, and the path that may follow.
func (p *parser) reference(t token) operand {
	parts := strings.Split(t.text, "/")
	if n := len(parts); n < 2 || n > 3 || slices.Contains(parts, "") {
		p.fail(t, "an object is RESOURCE/NAME or RESOURCE/NAMESPACE/NAME, such as pods/a, not %q", t.text)
		return operand{}
	}
	var field path
	if p.atField() {
		field = p.path(p.next())
	}
	return operand{text: strings.TrimRight(t.text+" "+field.text, " "), value: func(s *Scope) any {
		namespace := s.Namespace
		if len(parts) == 3 {
			namespace = parts[1]
		}
		list := s.list(parts[0], namespace, parts[len(parts)-1])
		if len(list) == 0 {
			return nil
		}
		return field.get(map[string]any(list[0]))
	}}
}

// selection selects some of the objects of a resource.
type selection struct {
	resource, namespace, labels string
	where                       test
}

// selection parses RESOURCE [-n NAMESPACE] [-l SELECTOR] [where TEST].
func (p *parser) selection() *selection {
	t := p.next()
	if t.text == "" || t.quoted || strings.IndexByte(operators, t.text[0]) >= 0 {
		p.fail(t, "name a resource here, as in count pods == 2")
	}
	objects := &selection{resource: t.text}
	for {
		switch {
		case p.accept("-n"):
			objects.namespace = p.next().text
		case p.accept("-l"):
			t := p.next()
			if _, err := selector.ParseLabels(t.text); err != nil && !IsVariable(t.text) {
				p.fail(t, "%q is not a label selector: %v", t.text, err)
			}
			objects.labels = t.text
		case p.accept("where"):
			objects.where = p.not()
		default:
			return objects
		}
	}
}

func (o *selection) text() string {
	text := o.resource
	if o.namespace != "" {
		text += " -n " + o.namespace
	}
	if o.labels != "" {
		text += " -l " + o.labels
	}
	return text
}

func (o *selection) list(s *Scope) (out []object.Object) {
	labels, err := selector.ParseLabels(o.labels)
	s.fail(err)
	for _, obj := range s.list(o.resource, o.namespace, "") {
		if !labels.Matches(obj.Labels()) {
			continue
		}
		if o.where != nil {
			if ok, _ := o.where(s.about(obj)); !ok {
				continue
			}
		}
		out = append(out, obj)
	}
	return out
}

// path is the path to a value. It consists of names, indices, and [*] for all elements.
type path struct {
	text  string
	steps []step
}

type step struct {
	name  string
	index int
	kind  byte // '.': name, '#': index, '*': every element
}

// atField reports whether the next token is a path.
func (p *parser) atField() bool { return strings.HasPrefix(p.peek().text, ".") }

// field parses the path that must follow word. If there is none, the error message shows the example.
func (p *parser) field(word, example string) path {
	if !p.atField() {
		p.fail(p.peek(), "%s needs a field, as %s", word, example)
	}
	return p.path(p.next())
}

// path parses .a.b["c.d"][0][*].
func (p *parser) path(t token) path {
	out := path{text: t.text}
	rest := t.text
	if rest == "." {
		return out
	}
	for rest != "" {
		at := token{column: t.column + len(t.text) - len(rest)}
		if rest[0] == '.' {
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			if end == 1 {
				p.fail(at, "the name of a field is missing after the dot")
			}
			out.steps = append(out.steps, step{name: rest[1:end], kind: '.'})
			rest = rest[end:]
			continue
		}
		end := strings.IndexByte(rest, ']')
		if rest[0] != '[' || end < 2 {
			p.fail(at, `after a field comes .name, [0], [*] or ["name"]`)
			return out
		}
		inner := rest[1:end]
		rest = rest[end+1:]
		name := strings.Trim(inner, `'"`)
		n, err := strconv.Atoi(inner)
		switch {
		case inner == "*":
			out.steps = append(out.steps, step{kind: '*'})
		case err == nil && n >= 0:
			out.steps = append(out.steps, step{index: n, kind: '#'})
		case name != inner && name != "":
			out.steps = append(out.steps, step{name: name, kind: '.'})
		default:
			p.fail(at, `brackets contain a number, * or a name in quotes, not %q`, inner)
		}
	}
	return out
}
