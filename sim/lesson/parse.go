package lesson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/scenario"
)

// file is the content of lesson.yaml.
type file struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	About    string    `json:"about"`
	Level    string    `json:"level"`
	Needs    []string  `json:"needs"`
	Minutes  int       `json:"minutes"`
	Fewest   int       `json:"fewest"`
	Engine   string    `json:"engine"`
	Seed     uint64    `json:"seed"`
	Replicas []replica `json:"replicas"`

	Controllers []string `json:"controllers"`
	Nodes       int      `json:"nodes"`

	Files map[string]string `json:"files"`
	Allow []string          `json:"allow"`
	Setup []string          `json:"setup"`
	Steps []stepFile        `json:"steps"`
}

type replica struct {
	Version string          `json:"version"`
	Gates   map[string]bool `json:"gates"`
}

type stepFile struct {
	Say      string   `json:"say"`
	Text     string   `json:"text"` // replaces a section of text.en.md
	Needs    []string `json:"needs"`
	Predict  *Predict `json:"predict"`
	Do       []string `json:"do"`
	Check    []string `json:"check"`
	Hint     []string `json:"hint"`
	Solution []string `json:"solution"`
}

// wordsMax is the maximum number of words in the text of a step. Learners do not read longer texts.
const wordsMax = 60

// Parse parses a lesson from lesson.yaml and text.en.md. The texts may also be in the steps of lesson.yaml. Its errors
// name the step, the problem and a correction; a *Fault also has the path in lesson.yaml.
func Parse(about, text []byte) (*Lesson, error) {
	raw, err := codec.YAMLToJSON(about)
	if err != nil {
		return nil, fmt.Errorf("lesson.yaml is not YAML: %w", err)
	}
	var f file
	if err := decode(raw, &f); err != nil {
		return nil, fmt.Errorf("lesson.yaml: %w; the documentation of package lesson lists the fields", err)
	}
	l := &Lesson{ID: f.ID, Title: f.Title, About: f.About, Level: f.Level, Needs: f.Needs, Minutes: f.Minutes, Fewest: f.Fewest, Engine: f.Engine,
		Cluster: config.Cluster{Seed: f.Seed, Controllers: f.Controllers, Nodes: f.Nodes}, Files: f.Files, Allow: f.Allow}
	for _, r := range f.Replicas {
		l.Replicas = append(l.Replicas, config.Server{Version: r.Version, FeatureGates: r.Gates})
	}
	if err := l.checkHead(); err != nil {
		return nil, err
	}
	if l.Setup, err = ops(f.Setup); err != nil {
		return nil, within("setup", "setup", err)
	}
	texts, err := sections(string(text))
	if err != nil {
		return nil, fmt.Errorf("text.en.md: %w", err)
	}
	for i, s := range f.Steps {
		step, err := s.step(i == len(f.Steps)-1, texts)
		if err != nil {
			return nil, within(fmt.Sprintf("steps[%d]", i), fmt.Sprintf("step %d (%s)", i+1, s.Say), err)
		}
		if slices.ContainsFunc(l.Steps, func(o Step) bool { return o.ID == step.ID }) {
			return nil, &Fault{fmt.Sprintf("steps[%d].say", i), fmt.Errorf("step %d (%s): an earlier step has the same say: give each step its own section", i+1, s.Say)}
		}
		delete(texts, s.Say)
		l.Steps = append(l.Steps, *step)
	}
	switch {
	case len(l.Steps) < 2:
		return nil, &Fault{"steps", errors.New("steps: a lesson has at least two, and the last one closes it")}
	case len(texts) > 0:
		return nil, errors.New("text.en.md: there are sections that no step names: remove them, or name them in say")
	}
	return l, nil
}

// checkHead checks the fields of a lesson except its steps.
func (l *Lesson) checkHead() error {
	switch {
	case l.ID == "" || l.Title == "" || l.About == "":
		return errors.New("lesson.yaml: id, title and about are required: the list of lessons shows them")
	case l.Level != "" && !slices.Contains(Levels, l.Level):
		return &Fault{"level", fmt.Errorf("lesson.yaml: level is %q; the levels are %s", l.Level, strings.Join(Levels, ", "))}
	case l.Engine == "":
		l.Engine = "core"
	case l.Engine != "core" && l.Engine != "cel":
		return &Fault{"engine", fmt.Errorf("lesson.yaml: engine is %q; use core, or cel if CEL has to be evaluated", l.Engine)}
	}
	l.Seed = cmp.Or(l.Seed, 1)
	for _, name := range l.Allow {
		if scenario.FindCommand(name) == nil {
			return &Fault{"allow", fmt.Errorf("lesson.yaml: allow: there is no command %q", name)}
		}
	}
	return nil
}

// step validates a step and sets its text. The last step may consist of a text only.
func (s *stepFile) step(last bool, texts map[string]string) (*Step, error) {
	out := &Step{ID: s.Say, Text: strings.TrimSpace(cmp.Or(s.Text, texts[s.Say])), Needs: s.Needs, Predict: s.Predict, Check: s.Check, Hints: s.Hint, Solution: s.Solution}
	if n := len(strings.Fields(out.Text)); n > wordsMax {
		return nil, &Fault{"text", fmt.Errorf("the text has %d words, and at most %d are allowed", n, wordsMax)}
	}
	switch {
	case s.Say == "":
		return nil, errors.New("say is missing: it names a section of text.en.md")
	case out.Text == "":
		return nil, fmt.Errorf("text.en.md has no section %q", "## "+s.Say)
	case last && (len(s.Needs) > 0 || len(s.Check) > 0 || len(s.Solution) > 0 || s.Predict != nil || len(s.Hint) > 0 || len(s.Do) > 0):
		return nil, errors.New("the last step can only have a text: add another one that closes the lesson")
	case last:
		return out, nil
	case len(s.Check) == 0 || len(s.Solution) == 0:
		return nil, errors.New("check and solution are required: they define when the step is done, and how")
	case len(s.Hint) != 2:
		return nil, &Fault{"hint", fmt.Errorf("there are %d hints; write two: one gives a direction, one nearly the solution", len(s.Hint))}
	}
	if err := conditions(s.Needs); err != nil {
		return nil, within("needs", "needs", err)
	}
	if err := conditions(s.Check); err != nil {
		return nil, within("check", "check", err)
	}
	var err error
	if out.Do, err = ops(s.Do); err != nil {
		return nil, within("do", "do", err)
	}
	if _, err = ops(s.Solution); err != nil {
		return nil, within("solution", "solution", err)
	}
	if err := s.Predict.check(); err != nil {
		return nil, within("predict", "predict", err)
	}
	return out, nil
}

// check returns an error if a question is invalid. A nil question is valid.
func (p *Predict) check() error {
	switch {
	case p == nil:
		return nil
	case p.Ask == "" || len(p.Options) < 2:
		return errors.New("it needs ask, and at least two options")
	}
	for i, o := range p.Options {
		if o.Say == "" || o.If == "" {
			return &Fault{fmt.Sprintf("options[%d]", i), fmt.Errorf("option %d needs say and if: the condition under which it is right", i+1)}
		}
		if err := conditions([]string{o.If}); err != nil {
			return &Fault{fmt.Sprintf("options[%d].if", i), fmt.Errorf("option %d: %w", i+1, err)}
		}
	}
	return nil
}

// conditions returns an error for the first invalid condition.
func conditions(texts []string) error {
	for i, c := range texts {
		if _, err := scenario.ParseCondition(pretend(c)); err != nil {
			return &Fault{fmt.Sprintf("[%d]", i), fmt.Errorf("%s: %w", c, err)}
		}
	}
	return nil
}

func ops(text []string) ([]scenario.Op, error) {
	var out []scenario.Op
	for i, line := range text {
		op, err := scenario.Parse(pretend(line))
		if err != nil {
			return nil, &Fault{fmt.Sprintf("[%d]", i), fmt.Errorf("line %d: %s: %w", i+1, line, err)}
		}
		out = append(out, op)
	}
	return out, nil
}

// sections splits text into sections by name. A line "## name" begins a section.
func sections(text string) (map[string]string, error) {
	out := map[string]string{}
	name := ""
	var body []string
	end := func() {
		if name != "" {
			out[name] = strings.TrimSpace(strings.Join(body, "\n"))
		}
		body = nil
	}
	for i, line := range strings.Split(text, "\n") {
		heading, is := strings.CutPrefix(line, "## ")
		switch {
		case is:
			end()
			name = strings.TrimSpace(heading)
			if _, twice := out[name]; twice || name == "" {
				return nil, fmt.Errorf("line %d: the section %q exists twice, or has no name", i+1, name)
			}
		case name == "" && strings.TrimSpace(line) != "":
			return nil, fmt.Errorf("line %d: a text begins with \"## \" and the name of a step", i+1)
		default:
			body = append(body, strings.TrimRight(line, " \t\r"))
		}
	}
	end()
	return out, nil
}

// lines returns the non-empty lines of text.
func lines(text string) []string {
	var out []string
	for l := range strings.SplitSeq(text, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// Fault is an error in a lesson, with its location.
type Fault struct {
	Path string // the path in lesson.yaml, such as steps[1].check[0]
	Err  error
}

// Error implements error. The message names the step.
func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns the underlying error.
func (f *Fault) Unwrap() error { return f.Err }

// within prepends a field to the path of an error, and a name to its message.
func within(field, name string, err error) error {
	path := field
	var inner *Fault
	if errors.As(err, &inner) {
		path += "." + inner.Path
	}
	return &Fault{strings.ReplaceAll(path, ".[", "["), fmt.Errorf("%s: %w", name, err)}
}

// decode parses JSON and returns an error for fields that v does not have.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		name := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
		return fmt.Errorf("the field %q has the wrong type: begin a line with \"- \" for each item of a list, and put quotes around text", name)
	case err != nil:
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
