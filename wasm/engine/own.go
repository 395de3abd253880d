package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/lesson"
)

// setLanguage sets the translated texts of lessons, by lesson ID, from the files lesson.LANGUAGE.yaml. A lesson without a
// translation is shown in English. The running lesson is replayed with its new texts; its world does not change.
func (e *Engine) setLanguage(q *request) (fields, error) {
	before := e.texts
	e.texts = q.Texts
	if e.run == nil || e.run.session == nil || e.begin.own != "" {
		return nil, nil
	}
	l, err := e.findLesson(e.begin.lesson.ID)
	if err != nil {
		e.texts = before
		return nil, err
	}
	e.begin.lesson = l
	r, err := e.begin.replay(e.current, e.current.n)
	if err != nil {
		return nil, err
	}
	e.run, e.past, e.spare = r, past{}, nil // the page already has the same frames
	return e.positionView(), nil
}

// findLesson returns a lesson in the language of the page.
func (e *Engine) findLesson(id string) (*lesson.Lesson, error) {
	l, err := lesson.Find(id)
	if err != nil {
		return nil, err
	}
	return e.translated(l)
}

func (e *Engine) translated(l *lesson.Lesson) (*lesson.Lesson, error) {
	words, ok := e.texts[l.ID]
	if !ok {
		return l, nil
	}
	return lesson.Translate(l, []byte(words))
}

// Limits for lessons from links, which are untrusted.
const (
	ownMax      = 100_000 // bytes
	ownLinesMax = 300     // in setup, do and solutions
	replicasMax = 9
)

// ownLesson parses a lesson that a user wrote in a page. It is a single lesson.yaml that also contains the texts of its steps.
func ownLesson(text string) (*lesson.Lesson, error) {
	if len(text) > ownMax {
		return nil, failed("the lesson has %d bytes, and at most %d are allowed", len(text), ownMax)
	}
	l, err := lesson.Parse([]byte(text), nil)
	if err != nil {
		return nil, err
	}
	ops := slices.Clone(l.Setup)
	lines := 0
	for _, s := range l.Steps {
		ops = append(ops, s.Do...)
		lines += len(s.Solution)
	}
	if lines += len(ops); lines > ownLinesMax {
		return nil, failed("the lesson has %d lines in setup, do and solution, and at most %d are allowed", lines, ownLinesMax)
	}
	for i := range ops {
		if err := tooLong(&ops[i]); err != nil {
			return nil, err
		}
	}
	if len(l.Replicas) > replicasMax {
		return nil, failed("the lesson has %d replicas, and at most %d are allowed", len(l.Replicas), replicasMax)
	}
	return l, plane{Nodes: l.Nodes}.check()
}

// rehearsedView is a step of a lesson that was rehearsed with its own solutions.
type rehearsedView struct {
	ID       string   `json:"id"`
	Text     string   `json:"text"`
	Ask      string   `json:"ask,omitempty"`
	Options  []string `json:"options"`
	Right    int      `json:"right"` // -1 if no option is correct or the step has no question
	Hints    []string `json:"hints"`
	Solution []string `json:"solution"`
}

// previewLesson returns the view of a lesson that a user is writing: an error if it is invalid, the steps as a learner would see
// them, and the first step that its own solution does not complete.
func (e *Engine) previewLesson(q *request) (any, error) {
	l, err := ownLesson(q.Own)
	if err != nil {
		fault := fields{"text": err.Error(), "path": ""}
		var at *lesson.Fault
		if errors.As(err, &at) {
			fault["path"] = at.Path
		}
		return fields{"fault": fault}, nil
	}
	if l.Engine == "cel" && name() != "cel" {
		return nil, errWantsCEL
	}
	if err := (&beginning{lesson: l}).lacks(nil); err != nil {
		return nil, err
	}
	steps, stuck := lesson.Rehearse(l)
	if stuck != nil && name() != "cel" && strings.Contains(stuck.Why, refusedCEL) {
		return nil, errWantsCEL
	}
	out := fields{"title": l.Title, "about": l.About, "all": len(l.Steps), "steps": each(steps, func(s lesson.Rehearsed) rehearsedView {
		return rehearsedView{s.ID, s.Text, s.Ask, each(s.Options, func(c lesson.Choice) string { return c.Say }), s.Right,
			append([]string{}, s.Hints...), append([]string{}, s.Solution...)}
	})}
	if stuck != nil {
		out["stuck"] = fields{"step": stuck.Step, "why": stuck.Why}
	}
	return out, nil
}
