package lesson

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/scenario"
)

// longest is the maximal number of ops for which Broken checks a lesson. After more ops the learner has to restart the lesson.
const longest = 300

// Broken describes why a lesson can no longer be finished by following its steps, or why their texts are no longer true.
type Broken struct {
	N    int    // the learner's op that broke the lesson, counted from 1; 0 if there was none
	Line string // that op
	Step int    // the step that cannot be finished, counted from 0
	Why  string // the reason
}

// Broken returns nil if the lesson can be finished from here. It follows the solutions of the remaining steps in a separate World, which
// takes about as long as the lesson's ops so far.
func (s *Session) Broken() *Broken {
	if len(s.did) > longest {
		return nil
	}
	b := s.brokenAfter(len(s.did))
	if b == nil {
		return nil
	}
	// The op that broke it lies between one after which it could be finished and one after which it could not.
	whole, broken := 0, len(s.did)
	for broken-whole > 1 {
		middle := (whole + broken) / 2
		if s.brokenAfter(middle) == nil {
			whole = middle
		} else {
			broken = middle
		}
	}
	if broken > 0 {
		b.N, b.Line = broken, s.did[broken-1].op.String()
	}
	return b
}

// brokenAfter returns nil if the lesson can be finished after the first n ops of the learner.
func (s *Session) brokenAfter(n int) *Broken {
	t, err := Start(s.lesson)
	for i := 0; i < n && err == nil; i++ {
		_, err = t.Do(s.did[i].op)
	}
	if err != nil {
		return &Broken{Step: s.step, Why: err.Error()}
	}
	return t.finish()
}

// finish runs the rest of the lesson with its solutions.
func (s *Session) finish() *Broken {
	for !s.Done() {
		at := s.step
		why := s.unmet(s.Step().Needs)
		if why == "" {
			why = s.Solve(nil)
		}
		if why != "" {
			return &Broken{Step: at, Why: why}
		}
	}
	return nil
}

// Solve runs the solution of the current step. It returns "" if the step is passed, and otherwise the reason why not. Lines of the
// solution that are no longer possible, because the learner has already done them, are skipped. If do is not nil, it replaces Do.
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

// ungraded returns the reason that none of the answers to the question of a step was right.
func (s *Session) ungraded(step int) string {
	if g := s.graded[step]; len(g.Options) > 0 && g.Right < 0 {
		return fmt.Sprintf("%q has no right answer", g.Ask)
	}
	return ""
}

// Rehearsed is a step as seen by a learner that follows the lesson's own solutions.
type Rehearsed struct {
	ID       string
	Text     string
	Question     // without options it asks nothing
	Right    int // index of the right option, -1 if there is none
	Hints    []string
	Solution []string
}

// Rehearse runs a lesson with its own solutions, and returns the steps that can be reached. Broken is nil if the lesson can be solved;
// otherwise it describes why the last returned step cannot be passed: its needs do not hold, its check holds before its solution or
// does not hold after it, or its question does not have exactly one right answer.
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
