package engine

import (
	"maps"

	"github.com/kubesim/kubesim/sim/lesson"
	"github.com/kubesim/kubesim/sim/scenario"
)

// attempt holds the learner's answers and opened hints on one branch, by step. It does not change the world, so it is not in the log.
type attempt struct {
	answers map[int]int // the option that was chosen
	hints   map[int]int // how many were opened
}

func (a *attempt) copy() *attempt { return &attempt{maps.Clone(a.answers), maps.Clone(a.hints)} }

// attempt returns that of the current branch.
func (e *Engine) attempt() *attempt {
	a := e.taken[e.current.id]
	if a == nil {
		a = &attempt{map[int]int{}, map[int]int{}}
		e.taken[e.current.id] = a
	}
	return a
}

// take takes over the answers of a link, as far as there are such questions.
func (a *attempt) take(l *lesson.Lesson, answers map[int]int) {
	for step, answer := range answers {
		if step >= 0 && step < len(l.Steps) && l.Steps[step].Predict != nil && answer >= 0 && answer < len(l.Steps[step].Predict.Options) {
			a.answers[step] = answer
		}
	}
}

// lessonState is where a learner is. Its texts hold the values of this moment.
type lessonState struct {
	ID        string           `json:"id"`
	Own       bool             `json:"own,omitempty"` // the user wrote it in a page
	Step      int              `json:"step"`          // counted from 0
	Steps     int              `json:"steps"`
	Done      bool             `json:"done"`
	State     string           `json:"state"` // predict: a question waits; do: the learner's turn; passed: it is over
	Text      string           `json:"text"`  // of the current step
	Ask       string           `json:"ask,omitempty"`
	Options   []string         `json:"options"`
	Begun     int              `json:"begun"`   // going back to this operation begins the step anew
	Unasked   []lesson.Unasked `json:"unasked"` // operations that the step did not ask for
	Predicted []*prediction    `json:"predicted"`
	Graded    *gradedView      `json:"graded,omitempty"` // the question of the step before
	Hints     []string         `json:"hints"`            // those of this step that were opened
	HintsLeft int              `json:"hintsLeft"`
	Requests  int              `json:"requests"`
	Golf      golf             `json:"golf"`
}

// prediction is the answer that the learner chose, and, once the step is passed, the right answer.
type prediction struct {
	Answer  int   `json:"answer"` // -1: none was given
	Right   *bool `json:"right,omitempty"`
	Correct *int  `json:"correct,omitempty"`
}

// gradedView is how a prediction came out.
type gradedView struct {
	Ask     string `json:"ask"`
	Right   bool   `json:"right"`
	Correct string `json:"correct"`
	Why     string `json:"why,omitempty"` // why the learner's own answer was wrong
}

// golf compares the learner's requests with the fewest that are known to do.
type golf struct {
	Yours int `json:"yours"`
	Par   int `json:"par"`
}

// addLesson adds the state of the lesson to an answer, if there is one.
func (e *Engine) addLesson(out fields) {
	if e.run != nil && e.run.session != nil {
		out["lesson"] = e.lessonState()
	}
}

func (e *Engine) lessonState() *lessonState {
	s, a := e.run.session, e.attempt()
	l, q := s.Lesson(), s.Question()
	state := &lessonState{ID: l.ID, Own: e.begin.own != "", Step: s.Index(), Steps: len(l.Steps), Done: s.Done(), State: "do", Text: s.Fill(s.Step().Text),
		Ask: q.Ask, Options: each(q.Options, func(c lesson.Choice) string { return c.Say }), Begun: s.Begun(),
		Unasked: append([]lesson.Unasked{}, s.Unasked()...), Requests: s.Requests(), Golf: golf{s.Requests(), l.Fewest}}
	for i := range l.Steps {
		state.Predicted = append(state.Predicted, a.prediction(s, i))
	}
	_, chosen := a.answers[s.Index()]
	switch {
	case s.Done():
		state.State = "passed"
	case q.Ask != "" && !chosen:
		state.State = "predict"
	}
	if before := s.Index() - 1; before >= 0 && state.Predicted[before] != nil && state.Predicted[before].Right != nil {
		state.Graded = a.graded(s, before)
	}
	opened := min(a.hints[s.Index()], len(s.Step().Hints))
	state.Hints = each(s.Step().Hints[:opened], s.Fill)
	state.HintsLeft = len(s.Step().Hints) - opened
	return state
}

// prediction returns the learner's answer at a step, or nil if the step asks nothing or has not been answered yet.
func (a *attempt) prediction(s *lesson.Session, step int) *prediction {
	answer, chosen := a.answers[step]
	switch {
	case s.Lesson().Steps[step].Predict == nil || !chosen && step >= s.Index():
		return nil
	case !chosen:
		answer = -1
	}
	p := &prediction{Answer: answer}
	if step < s.Index() && s.Graded(step).Right >= 0 { // negative if the learner's way made no option right
		correct := s.Graded(step).Right
		right := correct == answer
		p.Right, p.Correct = &right, &correct
	}
	return p
}

// graded returns the result of the prediction at a step that has been passed, or nil if none was made.
func (a *attempt) graded(s *lesson.Session, step int) *gradedView {
	answer, chosen := a.answers[step]
	if !chosen {
		return nil
	}
	g := s.Graded(step)
	out := &gradedView{Ask: g.Ask, Right: answer == g.Right, Correct: g.Options[g.Right].Say}
	if !out.Right {
		out.Why = g.Options[answer].Why
	}
	return out
}

// broken returns the view of whether the lesson can still be completed, and of the operation that prevents it. It takes about as long as
// everything in the lesson so far, so a page requests it after it has shown the result of an operation.
func (e *Engine) broken(*request) (any, error) {
	if e.run == nil || e.run.session == nil {
		return nil, nil
	}
	b := e.run.session.Broken()
	if b == nil {
		return fields{"broken": nil}, nil
	}
	return fields{"broken": fields{"n": b.N, "line": b.Line, "step": b.Step, "why": b.Why}}, nil
}

// session returns the lesson that runs.
func (e *Engine) session() (*lesson.Session, error) {
	if e.run == nil || e.run.session == nil {
		return nil, failed("no lesson runs: start one with {kind: \"lesson\", lesson: ID}")
	}
	return e.run.session, nil
}

// lesson starts a lesson, or returns the progress of the running one.
func (e *Engine) lesson(q *request) (fields, error) {
	if q.Lesson != "" {
		return e.boot(&request{Lesson: q.Lesson})
	}
	out := fields{"lesson": nil}
	e.addLesson(out)
	return out, nil
}

// check returns the progress of the lesson. The checks themselves run after each operation.
func (e *Engine) check(*request) (fields, error) {
	if _, err := e.session(); err != nil {
		return nil, err
	}
	return fields{"lesson": e.lessonState()}, nil
}

// predict records the learner's answer at the current step.
func (e *Engine) predict(q *request) (fields, error) {
	s, err := e.session()
	if err != nil {
		return nil, err
	}
	options := s.Question().Options
	switch {
	case len(options) == 0:
		return nil, failed("this step has no question")
	case q.Answer == nil || *q.Answer < 0 || *q.Answer >= len(options):
		return nil, failed("the answer is the number of an option, from 0 to %d", len(options)-1)
	}
	e.attempt().answers[s.Index()] = *q.Answer
	return fields{"lesson": e.lessonState()}, nil
}

// hint opens the next hint.
func (e *Engine) hint(*request) (fields, error) {
	s, err := e.session()
	if err != nil {
		return nil, err
	}
	a := e.attempt()
	if a.hints[s.Index()] >= len(s.Step().Hints) {
		return nil, failed("there are no more hints; solve shows the solution")
	}
	a.hints[s.Index()]++
	state := e.lessonState()
	return fields{"hints": state.Hints, "lesson": state}, nil
}

// solve executes the solution of the current step in the learner's world.
func (e *Engine) solve(*request) (fields, error) {
	s, err := e.session()
	if err != nil {
		return nil, err
	}
	if s.Done() {
		return nil, failed("the lesson is over")
	}
	if b := s.Broken(); b != nil {
		return nil, failed("this lesson cannot be finished from here: %s", b.Why)
	}
	var lines []string
	var refused error
	out := e.positionView()
	s.Solve(func(op scenario.Op) error {
		if refused != nil {
			return refused
		}
		done, err := e.doOp(op)
		if f, ok := err.(*failure); ok && f.Needs != "" {
			refused = err
		}
		if err == nil {
			out, lines = done, append(lines, op.String())
		}
		return err
	})
	if refused != nil {
		return nil, refused
	}
	out["lines"] = lines
	return out, nil
}
