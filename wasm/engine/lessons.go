package engine

import (
	"maps"

	"github.com/kubesim/kubesim/sim/lesson"
	"github.com/kubesim/kubesim/sim/scenario"
)

// attempt contains the learner's answers and the number of opened hints for each step, on one branch. It is not part of the log,
// because it does not affect the world.
type attempt struct {
	answers map[int]int // index of the chosen option
	hints   map[int]int // number of opened hints
}

func (a *attempt) copy() *attempt { return &attempt{maps.Clone(a.answers), maps.Clone(a.hints)} }

// attempt returns the attempt on the current branch.
func (e *Engine) attempt() *attempt {
	a := e.taken[e.current.id]
	if a == nil {
		a = &attempt{map[int]int{}, map[int]int{}}
		e.taken[e.current.id] = a
	}
	return a
}

// take imports answers from a link: option numbers by step number. It ignores those for which the lesson has no question or option.
func (a *attempt) take(l *lesson.Lesson, answers map[int]int) {
	for step, answer := range answers {
		if step >= 0 && step < len(l.Steps) && l.Steps[step].Predict != nil && answer >= 0 && answer < len(l.Steps[step].Predict.Options) {
			a.answers[step] = answer
		}
	}
}

// lessonState is the learner's progress. Its texts contain the current values of the world.
type lessonState struct {
	ID        string           `json:"id"`
	Own       bool             `json:"own,omitempty"` // the user wrote the lesson in the page
	Step      int              `json:"step"`          // counted from 0
	Steps     int              `json:"steps"`
	Done      bool             `json:"done"`
	State     string           `json:"state"` // predict: the question has to be answered; do: the step has to be done; passed: the lesson is over
	Text      string           `json:"text"`  // of the current step
	Ask       string           `json:"ask,omitempty"`
	Options   []string         `json:"options"`
	Begun     int              `json:"begun"`   // position at which the step began
	Unasked   []lesson.Unasked `json:"unasked"` // operations that the step did not require
	Predicted []*prediction    `json:"predicted"`
	Graded    *gradedView      `json:"graded,omitempty"` // result of the preceding step's question
	Hints     []string         `json:"hints"`            // opened hints of the current step
	HintsLeft int              `json:"hintsLeft"`
	Requests  int              `json:"requests"`
	Golf      golf             `json:"golf"`
}

// prediction is the learner's answer and, after the step is passed, the correct answer.
type prediction struct {
	Answer  int   `json:"answer"` // -1 if the question was not answered
	Right   *bool `json:"right,omitempty"`
	Correct *int  `json:"correct,omitempty"`
}

// gradedView is the result of a prediction.
type gradedView struct {
	Ask     string `json:"ask"`
	Right   bool   `json:"right"`
	Correct string `json:"correct"`
	Why     string `json:"why,omitempty"` // why the learner's answer is wrong
}

// golf compares the learner's number of requests with the lowest known number, which is 0 if it is unknown, and with that of the
// lesson's own solution.
type golf struct {
	Yours    int `json:"yours"`
	Par      int `json:"par"`
	Solution int `json:"solution"`
}

// addLesson adds the lesson's state to a response, if a lesson is running.
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
		Unasked: append([]lesson.Unasked{}, s.Unasked()...), Requests: s.Requests(), Golf: golf{s.Requests(), l.Fewest, l.Requests()}}
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

// prediction returns the learner's answer at a step, or nil if the step has no question or has not been answered yet.
func (a *attempt) prediction(s *lesson.Session, step int) *prediction {
	answer, chosen := a.answers[step]
	switch {
	case s.Lesson().Steps[step].Predict == nil || !chosen && step >= s.Index():
		return nil
	case !chosen:
		answer = -1
	}
	p := &prediction{Answer: answer}
	if step < s.Index() && s.Graded(step).Right >= 0 { // negative if no option is correct after the learner's operations
		correct := s.Graded(step).Right
		right := correct == answer
		p.Right, p.Correct = &right, &correct
	}
	return p
}

// graded returns the result of the prediction at a passed step, or nil if the learner made none.
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

// broken returns the view of the operation since which the lesson's own solution fails or a text is not true, if there is one. It takes about as long
// as all operations of the lesson so far, so a page requests it after it has shown the result of an operation.
func (e *Engine) broken(*request) (any, error) {
	if e.run == nil || e.run.session == nil {
		return nil, nil
	}
	b := e.run.session.Broken()
	if b == nil {
		return fields{"broken": nil}, nil
	}
	return fields{"broken": fields{"n": b.N, "line": b.Line, "step": b.Step, "why": b.Why, "check": append([]string{}, b.Check...), "stale": b.Stale}}, nil
}

// session returns the running lesson. It returns an error if no lesson is running.
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

// predict records the learner's answer at the current step. It returns an error if the step has no question or the answer is not
// one of its options.
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

// hint opens the next hint of the current step.
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

// solve executes the solution of the current step in the learner's world. The answer has the whole log, because
// the page does not know the operations of the solution.
func (e *Engine) solve(*request) (fields, error) {
	s, err := e.session()
	if err != nil {
		return nil, err
	}
	if s.Done() {
		return nil, failed("the lesson is over")
	}
	if b := s.Broken(); b != nil && !b.Stale {
		return nil, failed("the lesson's own solution does not work from here: %s", b.Why)
	}
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
			out = done
		}
		return err
	})
	if refused != nil {
		return nil, refused
	}
	out["log"] = append([]scenario.Op{}, e.current.log...)
	return out, nil
}
