package lesson

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
