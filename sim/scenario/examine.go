package scenario

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/scenario/condition"
)

// standing is a condition of never or once. It is evaluated after every commit until it becomes true or invalid.
type standing struct {
	condition *condition.Condition
	never     bool
	then      string // operation of once, or "" for never
	done      bool
}

// checkCommands check conditions: now, after every commit, or later.
var checkCommands = []Command{
	{Name: "expect", Usage: "CONDITION", Help: "it must hold now", Example: "expect count pods == 2",
		Group: Checks, text: true, check: checkCondition, run: (*World).expect},
	{Name: "never", Usage: "CONDITION", Help: "it must not hold after any commit from here on", Example: "never count pods > 1",
		Group: Checks, text: true, check: checkCondition, run: (*World).never},
	{Name: "eventually", Usage: "[within DURATION] CONDITION", Example: "eventually within 30s pods/a absent",
		Help:  "it must hold after controllers have worked and time has passed, by default at most 1m",
		Group: Checks, text: true, check: checkEventually, run: (*World).eventually},
	{Name: "once", Usage: "CONDITION do OPERATION", Help: "run an operation as soon as a commit makes a condition true",
		Example: "once pods/a exists do crash op", Group: Checks, text: true, check: checkOnce, run: (*World).once},
	{Name: "let", Usage: "NAME = VALUE", Help: "store a value, such as .metadata.continue of the last answer, as $NAME",
		Example: "let token = .metadata.continue", Group: Checks, text: true, check: checkLet, run: (*World).let},
}

func checkCondition(op *Op, at int) error {
	_, err := condition.Parse(op.Text, at)
	return err
}

func checkEventually(op *Op, at int) error {
	_, _, err := parseEventually(op.Text, at)
	return err
}

func checkOnce(op *Op, at int) error {
	_, _, err := parseOnce(op.Text, at)
	return err
}

func checkLet(op *Op, at int) error {
	name, value, ok := strings.Cut(op.Text, "=")
	if !ok || !plainName(strings.TrimSpace(name)) || strings.TrimSpace(value) == "" {
		return wrong(at+1, "let stores a value under a name: let T = .metadata.continue")
	}
	_, err := condition.ParseValue(value, at+len(name)+1)
	return err
}

// parseOnce parses CONDITION do OPERATION and returns the condition and the operation. at is the column at which text begins.
func parseOnce(text string, at int) (*condition.Condition, string, error) {
	i := strings.LastIndex(text, " do ")
	if i < 0 {
		return nil, "", wrong(at+1, "once needs an operation: once CONDITION do OPERATION")
	}
	c, err := condition.Parse(text[:i], at)
	if err != nil {
		return nil, "", err
	}
	line := strings.TrimSpace(text[i+4:])
	op, err := Parse(line)
	if err != nil {
		return nil, "", condition.Shift(err, at+i+4)
	}
	if FindCommand(op.Name).Group == Checks {
		return nil, "", wrong(at+i+5, "once runs an operation, not %s", op.Name)
	}
	return c, line, nil
}

// patienceOfChecks is the default time limit of eventually.
const patienceOfChecks = time.Minute

// parseEventually parses a condition, and the "within DURATION" that may precede it. at is the column at which text begins.
func parseEventually(text string, at int) (within time.Duration, c *condition.Condition, err error) {
	within = patienceOfChecks
	if after, ok := strings.CutPrefix(text, "within "); ok {
		word, rest, _ := strings.Cut(strings.TrimLeft(after, " "), " ")
		if within, err = time.ParseDuration(word); err != nil || within < 0 {
			return 0, nil, wrong(at+len("within ")+1, "within needs a duration such as 30s, not %q", word)
		}
		text, at = rest, at+len(text)-len(rest)
	}
	c, err = condition.Parse(text, at)
	return within, c, err
}

func (w *World) never(op *Op) error {
	c, err := condition.Parse(op.Text, 0)
	if err != nil {
		return err
	}
	s := &standing{condition: c, never: true}
	w.checks = append(w.checks, s)
	w.evaluateStanding(s, 0)
	return nil
}

func (w *World) once(op *Op) error {
	c, then, err := parseOnce(op.Text, 0)
	if err != nil {
		return err
	}
	w.checks = append(w.checks, &standing{condition: c, then: then})
	return nil
}

func (w *World) expect(op *Op) error {
	ok, why, err := w.Holds(op.Text)
	if err != nil {
		return err
	}
	if !ok && w.options.Lenient {
		w.say("not so: %s", why)
		return nil
	}
	w.verdict(ok, "expected "+op.Text, why)
	return nil
}

// verdict records whether an expectation holds.
func (w *World) verdict(ok bool, expected, why string) {
	if !ok {
		w.fail("%s: %s", expected, why)
		return
	}
	w.add(Frame{Kind: CheckPass, Lane: "store", Text: strings.TrimPrefix(expected, "expected ")})
	w.say("ok: %s", cut(why))
}

// eventually steps the controllers and then advances the clock, until the condition holds or its time limit has passed.
func (w *World) eventually(op *Op) error {
	d, c, err := parseEventually(op.Text, 0)
	if err != nil {
		return err
	}
	until := w.clock.Now().Add(d)
	w.run()
	for first := true; ; first = false {
		ok, why, err := c.Holds(w.scope(0))
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
		if first {
			w.settle()
		} else {
			w.instant(next)
		}
	}
}

// let evaluates an expression and stores the value in a variable.
func (w *World) let(op *Op) error {
	name, value, _ := strings.Cut(op.Text, "=")
	name = strings.TrimSpace(name)
	v, err := w.Value(value)
	if err != nil {
		return fmt.Errorf("let %s: %w", name, err)
	}
	w.vars[name] = v
	return nil
}

// Value evaluates one side of a comparison: a field of the last response or of a stored object, a count, or $NAME, a
// variable that let has set. It returns an error if the value does not exist.
func (w *World) Value(text string) (string, error) {
	text, err := w.substitute(text)
	if err != nil {
		return "", err
	}
	o, err := condition.ParseValue(text, 0)
	if err != nil {
		return "", err
	}
	v, err := o.Of(w.scope(0))
	if err == nil && v == nil {
		err = fmt.Errorf("%s is not there", o)
	}
	if err != nil {
		return "", err
	}
	return condition.Show(v), nil
}

// committed evaluates the standing conditions after a commit.
func (w *World) committed(rev uint64) {
	for _, s := range w.checks {
		if !s.done {
			w.evaluateStanding(s, rev)
		}
	}
}

// evaluateStanding evaluates one standing condition on the store at a revision.
func (w *World) evaluateStanding(s *standing, rev uint64) {
	if rev < w.cluster.Compacted() {
		rev = 0 // the revision has been compacted, so use the current state
	}
	ok, why, err := s.condition.Holds(w.scope(rev))
	s.done = err != nil || ok
	switch {
	case err != nil:
		w.fail("%s: %v", s.condition, err)
	case ok && s.never:
		w.fail("this must never hold: %s: %s", s.condition, why)
	case ok:
		w.due = append(w.due, func() { w.doOnce(s) })
	}
}

// doOnce runs the operation of a once condition, possibly in the middle of another operation.
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
