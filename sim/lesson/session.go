package lesson

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/scenario"
)

// Session is a lesson in progress.
type Session struct {
	lesson *Lesson
	world  *scenario.World
	step   int
	begun  int         // the number of the learner's ops before the current step
	asked  Question    // the question of the current step
	graded []Graded    // one entry for each passed step
	did    []learnerOp // the learner's ops
	sent   int         // the number of requests the learner has sent

	examined []examined // results of Broken by number of ops
}

// learnerOp is an op of the learner and its number in the World.
type learnerOp struct {
	op scenario.Op
	n  int
}

// Question is a Predict as shown to the learner.
type Question struct {
	Ask     string
	Options []Choice
}

// Choice is an Option as shown to the learner.
type Choice struct{ Say, Why string }

// Graded is the question of a passed step and the index of the right option. Right is -1 if the step has no question.
// It is also -1 if the learner solved the step in another way, so that no option or several options were right.
type Graded struct {
	Question
	Right int
}

// Start creates the World of a lesson and begins its first step. It returns an error if an operation of the setup or of
// the first step fails.
func Start(l *Lesson) (*Session, error) {
	w, err := l.World()
	if err != nil {
		return nil, err
	}
	s := &Session{lesson: l, world: w}
	if err := s.begin(); err != nil {
		return nil, fmt.Errorf("lesson %s: step %s: do: %w", l.ID, s.Step().ID, err)
	}
	return s, nil
}

// begin runs the ops of other clients at the beginning of a step, and prepares its question.
func (s *Session) begin() error {
	s.begun = len(s.did)
	for _, op := range s.Step().Do {
		if err := act(s.world, op); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	s.asked = Question{}
	if p := s.Step().Predict; p != nil {
		s.asked.Ask = s.Fill(p.Ask)
		for _, o := range p.Options {
			s.asked.Options = append(s.asked.Options, Choice{s.Fill(o.Say), s.Fill(o.Why)})
		}
	}
	return nil
}

// Lesson returns the lesson of the session.
func (s *Session) Lesson() *Lesson { return s.lesson }

// World returns the session's World. Only Do may change it.
func (s *Session) World() *scenario.World { return s.world }

// Step returns the current step.
func (s *Session) Step() *Step { return &s.lesson.Steps[s.step] }

// Index returns the index of the current step, counted from 0.
func (s *Session) Index() int { return s.step }

// Done reports whether the last step has been reached.
func (s *Session) Done() bool { return s.step == len(s.lesson.Steps)-1 }

// Begun returns the number of the learner's ops before the current step. To restart the step, replay only these ops.
func (s *Session) Begun() int { return s.begun }

// Requests returns the number of requests that the learner has sent.
func (s *Session) Requests() int { return s.sent }

// Question returns the question of the current step. It has no options if the step has no question.
func (s *Session) Question() Question { return s.asked }

// Graded returns the graded question of a passed step.
func (s *Session) Graded(step int) Graded { return s.graded[step] }

// Fill replaces each {{…}} in a text of the lesson with its current value, or with "…" if it has none.
func (s *Session) Fill(text string) string {
	out, _ := fill(s.world, text)
	return out
}

// Solution returns the lines that pass the current step, with current values.
func (s *Session) Solution() []string {
	var out []string
	for _, line := range s.Step().Solution {
		out = append(out, s.Fill(line))
	}
	return out
}

// Do runs an op of the learner. If the op passes the current step, the next step begins. If Do returns an error, the op
// had no effect.
func (s *Session) Do(op scenario.Op) (scenario.Result, error) {
	if len(s.lesson.Allow) > 0 && !slices.Contains(s.lesson.Allow, op.Name) {
		return scenario.Result{}, fmt.Errorf("this lesson allows only %s", strings.Join(s.lesson.Allow, ", "))
	}
	r, err := s.world.Do(op)
	if err != nil {
		return r, err
	}
	s.did = append(s.did, learnerOp{op, r.N})
	if isRequest(op) {
		s.sent++
	}
	if !s.Done() && s.Holds() {
		s.pass()
	}
	return r, nil
}

// Holds reports whether the checks of the current step hold. A condition about something that does not exist yet, such
// as a watch, does not hold.
func (s *Session) Holds() bool { return s.unmet(s.Step().Check) == "" }

// unmet returns the first condition that does not hold, with the reason, or "" if all of them hold.
func (s *Session) unmet(conditions []string) string {
	for _, c := range conditions {
		filled, err := fill(s.world, c)
		holds, why := false, ""
		if err == nil {
			holds, why, err = s.world.Holds(filled)
		}
		switch {
		case err != nil:
			return err.Error()
		case !holds:
			return filled + ": " + why
		}
	}
	return ""
}

// pass grades the prediction and begins the next step. Ops of other clients that fail because of the learner's ops are
// skipped; Broken reports them.
func (s *Session) pass() {
	g := Graded{Question: s.asked, Right: -1}
	if right := s.correctOptions(); len(right) == 1 {
		g.Right = right[0]
	}
	s.graded = append(s.graded, g)
	s.step++
	_ = s.begin()
}

// correctOptions returns the indices of the current question's options whose conditions hold.
func (s *Session) correctOptions() []int {
	var right []int
	if p := s.Step().Predict; p != nil {
		for i, o := range p.Options {
			if s.unmet([]string{o.If}) == "" {
				right = append(right, i)
			}
		}
	}
	return right
}

// Requests returns the number of requests that the lesson's own solutions send.
func (l *Lesson) Requests() int {
	n := 0
	for _, step := range l.Steps {
		for _, line := range step.Solution {
			if name, _, _ := strings.Cut(strings.TrimLeft(line, "!? "), " "); isRequest(scenario.Op{Name: name}) {
				n++
			}
		}
	}
	return n
}

// isRequest reports whether an op sends requests itself.
func isRequest(op scenario.Op) bool {
	c := scenario.FindCommand(op.Name)
	return c != nil && (c.Group == scenario.Requests || c.Group == scenario.Prompt)
}
