package lesson

// Rehearsed is a step as a learner meets it who does what the lesson's own solutions say.
type Rehearsed struct {
	ID       string
	Text     string
	Question     // without options it asks nothing
	Right    int // which option was right, -1: none
	Hints    []string
	Solution []string
}

// Rehearse takes a lesson with its own solutions, and returns its steps as far as they can be reached. Broken is why the last of
// them cannot be passed: what it needs is not so, its check holds before anything was done or does not hold after its solution, or
// its question has not exactly one right answer. If nil, the lesson can be solved.
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
