package lesson

import (
	"cmp"
	"fmt"

	"github.com/kubesim/kubesim/sim/scenario"
)

// longest is the maximum number of ops for which Broken checks a lesson. After more ops, the learner has to restart the
// lesson.
const longest = 300

// scanned is the maximum number of ops that Broken goes back to find the last one after which the lesson's solution works.
const scanned = 60

// Broken describes a step that the lesson's own solution no longer passes, or whose text is no longer true. Other ops
// than those of the solution may still pass it.
type Broken struct {
	N     int      // the learner's op since which this is so, counted from 1; 0 if no recent op is the cause
	Line  string   // the text of that op
	Step  int      // the step, counted from 0
	Why   string   // the reason
	Check []string // the conditions that pass the step, if it is the current one
	Stale bool     // only the text is no longer true: the solution still passes the step and those after it
}

// Broken returns nil if the solutions of the lesson pass its remaining steps, whose texts are true. It runs them in a
// separate World, which takes about as long as the lesson's ops so far.
func (s *Session) Broken() *Broken {
	n := len(s.did)
	if n > longest {
		return nil
	}
	b := s.brokenAfter(n)
	if b == nil {
		return nil
	}
	if b.Step == s.step {
		for _, c := range s.Step().Check {
			b.Check = append(b.Check, s.Fill(c))
		}
	}
	// A later op can repair what an earlier one broke, so only the newest ops are examined, one after the other.
	for i := n; i > max(0, n-scanned); i-- {
		if x := s.brokenAfter(i - 1); x == nil || x.Stale && !b.Stale {
			b.N, b.Line = i, s.did[i-1].op.String()
			break
		}
	}
	return b
}

// brokenAfter returns nil if the lesson's solutions pass the remaining steps after the learner's first n ops, and
// otherwise the reason. It remembers its results, because the first n ops of a Session never change.
func (s *Session) brokenAfter(n int) *Broken {
	for len(s.examined) <= n {
		s.examined = append(s.examined, examined{})
	}
	x := &s.examined[n]
	if !x.done {
		*x = examined{true, s.examine(n)}
	}
	if x.broken == nil {
		return nil
	}
	b := *x.broken
	return &b
}

// examined is a result of examine.
type examined struct {
	done   bool
	broken *Broken
}

// examine runs the remaining steps after the learner's first n ops.
func (s *Session) examine(n int) *Broken {
	t, err := Start(s.lesson)
	for i := 0; i < n && err == nil; i++ {
		_, err = t.Do(s.did[i].op)
	}
	if err != nil {
		return &Broken{Step: s.step, Why: err.Error()}
	}
	return t.finish()
}

// finish runs the remaining steps of the lesson with their solutions. It returns the first step that does not pass. If
// all of them pass, it returns the first one with a condition in needs that does not hold, or nil.
func (s *Session) finish() *Broken {
	var stale *Broken
	for !s.Done() {
		at, unmet := s.step, s.unmet(s.Step().Needs)
		if why := s.Solve(nil); why != "" {
			return &Broken{Step: at, Why: cmp.Or(unmet, why)}
		}
		if unmet != "" && stale == nil {
			stale = &Broken{Step: at, Why: unmet, Stale: true}
		}
	}
	return stale
}

// Solve runs the solution of the current step. It returns "" if the step is passed, and otherwise the reason. It skips
// lines of the solution that are no longer possible, because the learner has already run them. If do is not nil, it
// replaces Do.
func (s *Session) Solve(do func(scenario.Op) error) string {
	if do == nil {
		do = func(op scenario.Op) error {
			_, err := s.Do(op)
			return err
		}
	}
	at, why := s.step, ""
	for _, line := range s.Step().Solution {
		filled, err := fill(s.world, line)
		if err == nil {
			var op scenario.Op
			if op, err = scenario.Parse(filled); err == nil {
				err = do(op)
			}
		}
		if err != nil && why == "" {
			why = fmt.Sprintf("%s: %v", filled, err)
		}
		if s.step != at {
			return s.ungraded(at)
		}
	}
	if unmet := s.unmet(s.Step().Check); why == "" {
		why = unmet
	}
	return why
}

// ungraded returns an error message if the question of a step does not have exactly one right answer, and otherwise "".
func (s *Session) ungraded(step int) string {
	if g := s.graded[step]; len(g.Options) > 0 && g.Right < 0 {
		return fmt.Sprintf("%q has no right answer", g.Ask)
	}
	return ""
}

// Rehearsed is a step of a lesson as Rehearse ran it: with the lesson's own solution.
type Rehearsed struct {
	ID       string
	Text     string
	Question     // has no options if the step has no question
	Right    int // the index of the right option, or -1 if there is none
	Hints    []string
	Solution []string
}

// Rehearse runs a lesson with its own solutions and returns the reachable steps. It returns a nil Broken if the lesson
// can be solved. Otherwise Broken describes why the last returned step cannot be passed: its needs do not hold, its
// check holds before its solution or does not hold after it, or its question does not have exactly one right answer.
func Rehearse(l *Lesson) ([]Rehearsed, *Broken) {
	s, err := Start(l)
	if err != nil {
		return nil, &Broken{Why: err.Error()}
	}
	var out []Rehearsed
	for {
		step, at := s.Step(), s.step
		r := Rehearsed{ID: step.ID, Text: s.Fill(step.Text), Question: s.asked, Right: -1, Solution: s.Solution()}
		for _, hint := range step.Hints {
			r.Hints = append(r.Hints, s.Fill(hint))
		}
		if s.Done() {
			return append(out, r), nil
		}
		why := s.unmet(step.Needs)
		switch {
		case why != "":
		case s.Holds():
			why = "the check holds before anything was done"
		default:
			why = s.Solve(nil)
		}
		if s.step > at {
			r.Right = s.graded[at].Right
		}
		out = append(out, r)
		if why != "" {
			return out, &Broken{Step: at, Why: why}
		}
	}
}
