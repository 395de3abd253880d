package lesson

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/scenario"
)

// Session is a lesson that somebody takes.
type Session struct {
	lesson *Lesson
	world  *scenario.World
	step   int
	grades []int // of each step passed: the option that was right, or -1
	sent   int   // requests of the learner
}

// Start makes the world of a lesson and begins its first step.
func Start(l *Lesson) (*Session, error) {
	w, err := l.World()
	if err != nil {
		return nil, err
	}
	s := &Session{lesson: l, world: w}
	return s, s.begin()
}

// begin does what others do at the beginning of a step.
func (s *Session) begin() error {
	for _, op := range s.Step().Do {
		if err := do(s.world, op); err != nil {
			return fmt.Errorf("lesson %s: step %s: do: %s: %w", s.lesson.ID, s.Step().ID, op, err)
		}
	}
	return nil
}

// Lesson returns what the session is about.
func (s *Session) Lesson() *Lesson { return s.lesson }

// World returns the session's world. Only Do may change it.
func (s *Session) World() *scenario.World { return s.world }

// Step returns the current step.
func (s *Session) Step() *Step { return &s.lesson.Steps[s.step] }

// Index returns the number of the current step, counted from 0.
func (s *Session) Index() int { return s.step }

// Done reports whether the last step has been reached.
func (s *Session) Done() bool { return s.step == len(s.lesson.Steps)-1 }

// Requests returns how many requests the learner has sent.
func (s *Session) Requests() int { return s.sent }

// Right returns which option of a step that has been passed was right, -1 when it had none.
func (s *Session) Right(step int) int { return s.grades[step] }

// Do does an op of the learner, and goes on to the next step when the current one has been passed by it.
func (s *Session) Do(op scenario.Op) (scenario.Result, error) {
	if len(s.lesson.Allow) > 0 && !slices.Contains(s.lesson.Allow, op.Name) {
		return scenario.Result{}, fmt.Errorf("this lesson keeps to %s", strings.Join(s.lesson.Allow, ", "))
	}
	r, err := s.world.Do(op)
	if err != nil {
		return r, err
	}
	if isRequest(op) {
		s.sent++
	}
	if s.Done() || !s.Holds() {
		return r, nil
	}
	return r, s.pass()
}

// Holds reports whether the checks of the current step hold. A condition about something that is not there yet, such as
// a watch, does not hold.
func (s *Session) Holds() bool {
	for _, c := range s.Step().Check {
		if holds, _, err := s.world.Holds(c); err != nil || !holds {
			return false
		}
	}
	return true
}

// pass grades the prediction and begins the next step.
func (s *Session) pass() error {
	right := -1
	if p := s.Step().Predict; p != nil {
		for i, o := range p.Options {
			if holds, _, err := s.world.Holds(o.If); err == nil && holds && right < 0 {
				right = i
			}
		}
	}
	s.grades = append(s.grades, right)
	s.step++
	return s.begin()
}

// isRequest reports whether an op sends a request by itself.
func isRequest(op scenario.Op) bool {
	c := scenario.FindCommand(op.Name)
	return c != nil && (c.Group == scenario.Requests || c.Group == scenario.Prompt)
}
