package lesson

import (
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/scenario"
)

// translation is the content of a file such as lesson.zh-CN.yaml: the texts of a lesson in another language. It does
// not repeat the ops and checks of the steps, which are only in lesson.yaml.
type translation struct {
	Title string               `json:"title"`
	About string               `json:"about"`
	Steps map[string]stepWords `json:"steps"` // by the ids of the steps
}

type stepWords struct {
	Text    string   `json:"text"`
	Ask     string   `json:"ask"`
	Options []Choice `json:"options"`
	Hint    []string `json:"hint"` // without the hints that are lines of sim/scenario
}

// Translate returns a translated lesson. words is the content of the lesson's lesson.LANGUAGE.yaml, which must contain
// all texts of the lesson and no others. Otherwise Translate returns an error.
func Translate(l *Lesson, words []byte) (*Lesson, error) {
	raw, err := codec.YAMLToJSON(words)
	if err != nil {
		return nil, fmt.Errorf("translation of %s: it is not YAML: %w", l.ID, err)
	}
	var t translation
	if err := decode(raw, &t); err != nil {
		return nil, fmt.Errorf("translation of %s: %w", l.ID, err)
	}
	if t.Title == "" || t.About == "" {
		return nil, fmt.Errorf("translation of %s: title and about are required", l.ID)
	}
	out := *l
	out.Title, out.About, out.Steps = t.Title, t.About, slices.Clone(l.Steps)
	for i := range out.Steps {
		step := &out.Steps[i]
		if err := t.Steps[step.ID].put(step); err != nil {
			return nil, fmt.Errorf("translation of %s: step %s: %w", l.ID, step.ID, err)
		}
		delete(t.Steps, step.ID)
	}
	for _, id := range object.SortedKeys(t.Steps) {
		return nil, fmt.Errorf("translation of %s: there is no step %s", l.ID, id)
	}
	return &out, nil
}

// put replaces the texts of a step with their translations.
func (w stepWords) put(step *Step) error {
	if (w.Text == "") != (step.Text == "") {
		return fmt.Errorf("its text is missing")
	}
	step.Text = w.Text
	step.Hints = slices.Clone(step.Hints)
	for i, hint := range step.Hints {
		if isLine(hint) {
			continue
		}
		if len(w.Hint) == 0 {
			return fmt.Errorf("the hint %q is missing", hint)
		}
		step.Hints[i], w.Hint = w.Hint[0], w.Hint[1:]
	}
	if len(w.Hint) > 0 {
		return fmt.Errorf("there is no hint for %q", w.Hint[0])
	}
	return w.putQuestion(step)
}

func (w stepWords) putQuestion(step *Step) error {
	if step.Predict == nil {
		if w.Ask != "" || len(w.Options) > 0 {
			return fmt.Errorf("it asks nothing")
		}
		return nil
	}
	if w.Ask == "" || len(w.Options) != len(step.Predict.Options) {
		return fmt.Errorf("ask and %d options are required", len(step.Predict.Options))
	}
	p := &Predict{Ask: w.Ask, Options: slices.Clone(step.Predict.Options)}
	for i, o := range w.Options {
		if o.Say == "" || (o.Why == "") != (p.Options[i].Why == "") {
			return fmt.Errorf("option %d needs say, and why when %q has one", i+1, p.Options[i].Say)
		}
		p.Options[i].Say, p.Options[i].Why = o.Say, o.Why
	}
	step.Predict = p
	return nil
}

// isLine reports whether a hint is an operation of the scenario language. Such hints are not translated.
func isLine(hint string) bool {
	_, err := scenario.Parse(pretend(hint))
	return err == nil
}
