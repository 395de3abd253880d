package engine

import (
	"maps"

	"github.com/kubesim/kubesim/sim/lesson"
)

// attempt is what a learner said and looked at on one branch, by step. It does not change the world, so it is not in
// the log.
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

// lessonState is where a learner is.
type lessonState struct {
	ID        string        `json:"id"`
	Step      int           `json:"step"` // counted from 0
	Steps     int           `json:"steps"`
	Done      bool          `json:"done"`
	State     string        `json:"state"` // predict: a question waits; do: the learner's turn; passed: it is over
	Predicted []*prediction `json:"predicted"`
	Hints     []string      `json:"hints"` // those of this step that were opened
	HintsLeft int           `json:"hintsLeft"`
	Requests  int           `json:"requests"`
	Golf      golf          `json:"golf"`
}

// prediction is what the learner chose, and, once the step is passed, what was right.
type prediction struct {
	Answer  int   `json:"answer"` // -1: none was given
	Right   *bool `json:"right,omitempty"`
	Correct *int  `json:"correct,omitempty"`
}

// golf compares the learner's requests with those of the solutions.
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
	l := s.Lesson()
	state := &lessonState{ID: l.ID, Step: s.Index(), Steps: len(l.Steps), Done: s.Done(), State: "do",
		Hints: []string{}, Requests: s.Requests(), Golf: golf{s.Requests(), l.Par()}}
	for i := range l.Steps {
		answer, chosen := a.answers[i]
		switch {
		case l.Steps[i].Predict == nil || !chosen && i >= s.Index():
			state.Predicted = append(state.Predicted, nil)
			continue
		case !chosen:
			answer = -1
		}
		p := &prediction{Answer: answer}
		if i < s.Index() && s.Right(i) >= 0 { // below 0: the learner went another way, and no option was right
			correct := s.Right(i)
			right := correct == answer
			p.Right, p.Correct = &right, &correct
		}
		state.Predicted = append(state.Predicted, p)
	}
	_, chosen := a.answers[s.Index()]
	switch step := s.Step(); {
	case s.Done():
		state.State = "passed"
	case step.Predict != nil && !chosen:
		state.State = "predict"
	}
	opened := min(a.hints[s.Index()], len(s.Step().Hints))
	state.Hints = append(state.Hints, s.Step().Hints[:opened]...)
	state.HintsLeft = len(s.Step().Hints) - opened
	return state
}

// session returns the lesson that runs.
func (e *Engine) session() (*lesson.Session, error) {
	if e.run.session == nil {
		return nil, failed("no lesson runs: start one with {kind: \"lesson\", lesson: ID}")
	}
	return e.run.session, nil
}

// lesson starts a lesson, or says how far the one that runs has come.
func (e *Engine) lesson(q *request) (fields, error) {
	if q.Lesson != "" {
		return e.boot(&request{Lesson: q.Lesson})
	}
	out := fields{"lesson": nil}
	e.addLesson(out)
	return out, nil
}

// check says how far the lesson has come; the checks themselves are made after each operation.
func (e *Engine) check(*request) (fields, error) {
	if _, err := e.session(); err != nil {
		return nil, err
	}
	return fields{"lesson": e.lessonState()}, nil
}

// predict notes what the learner expects of the current step.
func (e *Engine) predict(q *request) (fields, error) {
	s, err := e.session()
	if err != nil {
		return nil, err
	}
	p := s.Step().Predict
	switch {
	case p == nil:
		return nil, failed("this step asks nothing")
	case q.Answer == nil || *q.Answer < 0 || *q.Answer >= len(p.Options):
		return nil, failed("the answer is the number of an option, from 0 to %d", len(p.Options)-1)
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
		return nil, failed("there are no more hints; solve shows how it is done")
	}
	a.hints[s.Index()]++
	state := e.lessonState()
	return fields{"hints": state.Hints, "lesson": state}, nil
}

// solve does what the solution of the current step says, from where the learner is.
func (e *Engine) solve(*request) (fields, error) {
	s, err := e.session()
	if err != nil {
		return nil, err
	}
	if s.Done() {
		return nil, failed("the lesson is over")
	}
	at, solution := s.Index(), s.Step().Solution
	var lines []string
	out := fields{}
	for _, op := range solution {
		if out, err = e.doOp(op); err != nil {
			return nil, err
		}
		lines = append(lines, op.String())
		if e.run.session.Index() != at {
			break
		}
	}
	out["lines"] = lines
	return out, nil
}
