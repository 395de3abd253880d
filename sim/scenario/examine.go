package scenario

import (
	"fmt"
	"strings"
	"time"
)

// standing is a condition that is looked at after every commit, until it did its work.
type standing struct {
	condition *Condition
	never     bool
	then      string // what once does
	done      bool
}

// checkText looks at the rest of a line that is a language of its own, which begins behind the first columns.
func (op *Op) checkText(at int) error {
	text := op.Text
	switch op.Name {
	case "fault":
		if text != "clear" && text != "release" && !strings.HasPrefix(text, "on ") {
			return wrong(at+1, "a fault is on VERB RESOURCE … do ACTION; there are clear and release, too")
		}
		return nil
	case "let":
		name, value, ok := strings.Cut(text, "=")
		if !ok || !plainName(strings.TrimSpace(name)) || strings.TrimSpace(value) == "" {
			return wrong(at+1, "let keeps a value under a name: let T = .metadata.continue")
		}
		_, err := parseOperand(value, at+len(name)+1)
		return err
	case "once":
		_, _, err := parseOnce(text, at)
		return err
	case "eventually":
		_, text, skipped, err := parseWithin(text, at)
		if err != nil {
			return err
		}
		_, err = parseCondition(text, at+skipped)
		return err
	}
	_, err := parseCondition(text, at)
	return err
}

// parseOperand reads a value by itself.
func parseOperand(text string, columns int) (operand, error) {
	tokens, err := tokenize(text, columns)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, end: columns + len(text) + 1}
	o, err := p.operand(false)
	if err == nil && p.at < len(tokens) {
		t := p.peek()
		return nil, wrong(t.column, "the value ends before %q", t.text)
	}
	return o, err
}

// parseOnce reads CONDITION do OPERATION.
func parseOnce(text string, at int) (*Condition, string, error) {
	i := strings.LastIndex(text, " do ")
	if i < 0 {
		return nil, "", wrong(at+1, "once needs what is to be done: once CONDITION do OPERATION")
	}
	c, err := parseCondition(text[:i], at)
	if err != nil {
		return nil, "", err
	}
	line := strings.TrimSpace(text[i+4:])
	op, err := Parse(line)
	if err != nil {
		return nil, "", shift(err, at+i+4)
	}
	if findCommand(op.Name).Group == Checks {
		return nil, "", wrong(at+i+5, "once does an operation, not %s", op.Name)
	}
	return c, line, nil
}

// patienceOfChecks is how long eventually waits if it does not say.
const patienceOfChecks = time.Minute

// parseWithin reads within DURATION in front of a condition, and how long that is.
func parseWithin(text string, at int) (d time.Duration, rest string, skipped int, err error) {
	after, ok := strings.CutPrefix(text, "within ")
	if !ok {
		return patienceOfChecks, text, 0, nil
	}
	word, rest, _ := strings.Cut(strings.TrimLeft(after, " "), " ")
	skipped = len(text) - len(rest)
	if d, err = time.ParseDuration(word); err != nil || d < 0 {
		return 0, "", 0, wrong(at+len("within ")+1, "within needs a duration such as 30s, not %q", word)
	}
	return d, rest, skipped, nil
}

// examine carries out the operations that look.
func (w *World) examine(op *Op) error {
	switch op.Name {
	case "expect":
		return w.expect(op.Text)
	case "never":
		c, err := ParseCondition(op.Text)
		if err != nil {
			return err
		}
		s := &standing{condition: c, never: true}
		w.checks = append(w.checks, s)
		w.look(s, 0)
		return nil
	case "once":
		c, then, err := parseOnce(op.Text, 0)
		if err != nil {
			return err
		}
		w.checks = append(w.checks, &standing{condition: c, then: then})
		return nil
	case "eventually":
		return w.eventually(op.Text)
	}
	return w.let(op.Text)
}

func (w *World) expect(text string) error {
	ok, why, err := w.Holds(text)
	if err != nil {
		return err
	}
	if !ok && w.options.Lenient {
		w.say("not so: %s", why)
		return nil
	}
	w.verdict(ok, "expected "+text, why)
	return nil
}

// verdict notes whether something expected is so.
func (w *World) verdict(ok bool, what, why string) {
	if !ok {
		w.fail("%s: %s", what, why)
		return
	}
	w.add(Frame{Kind: CheckPass, Lane: "store", Text: strings.TrimPrefix(what, "expected ")})
	w.say("ok: %s", cut(why))
}

// eventually lets controllers work, and then time pass, until the condition holds.
func (w *World) eventually(text string) error {
	d, text, _, err := parseWithin(text, 0)
	if err != nil {
		return err
	}
	c, err := ParseCondition(text)
	if err != nil {
		return err
	}
	until := w.clock.Now().Add(d)
	w.run()
	for first := true; ; first = false {
		ok, why, err := c.root.eval(w.scope(0))
		switch {
		case err != nil && first:
			return err
		case err != nil:
			w.fail("%s: %v", c, err)
			return nil
		}
		next, more := w.clock.Next()
		late := !more || next.After(until)
		if ok || late && !first {
			w.verdict(ok, fmt.Sprintf("expected within %s %s", d, c), why)
			return nil
		}
		switch {
		case first:
			w.settle()
		default:
			w.instant(next)
		}
	}
}

// let keeps a value.
func (w *World) let(text string) error {
	name, value, _ := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	o, err := parseOperand(value, 0)
	if err != nil {
		return err
	}
	v, err := o.value(w.scope(0))
	if err != nil {
		return err
	}
	if v == nil {
		return fmt.Errorf("let %s: %s is not there", name, o.text())
	}
	w.vars[name] = show(v)
	return nil
}

// committed looks at the standing conditions after a commit.
func (w *World) committed(rev uint64) {
	for _, s := range w.checks {
		if !s.done {
			w.look(s, rev)
		}
	}
}

// look looks at one standing condition, in the store as it was at a revision.
func (w *World) look(s *standing, rev uint64) {
	if rev < w.cluster.Compacted() {
		rev = 0 // that revision cannot be read any more
	}
	ok, why, err := s.condition.root.eval(w.scope(rev))
	switch {
	case err != nil:
		s.done = true
		w.fail("%s: %v", s.condition, err)
	case ok && s.never:
		s.done = true
		w.fail("this must never be: %s: %s", s.condition, why)
	case ok:
		s.done = true
		w.due = append(w.due, func() { w.doOnce(s) })
	}
}

// doOnce does what a once does. It may come in the middle of an operation.
func (w *World) doOnce(s *standing) {
	w.say("once %s: %s", s.condition, s.then)
	op, err := Parse(s.then)
	if err == nil {
		op, err = w.expand(op)
	}
	if err == nil {
		err = w.carryOut(op)
	}
	if err != nil {
		w.fail("once %s do %s: %v", s.condition, s.then, err)
	}
}
