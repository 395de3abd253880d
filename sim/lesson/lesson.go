package lesson

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/scenario"
)

// Lesson is a lesson of the playground: its initial world and its steps.
type Lesson struct {
	ID      string
	Title   string
	About   string   // one sentence for the list of lessons
	Level   string   // one of Levels, or "" if the lesson is not on the map
	Needs   []string // the ids of prerequisite lessons
	Minutes int      // the expected duration
	Fewest  int      // the minimum number of requests that solve it; verified by a test
	Engine  string   // "core", or "cel" if its world has to evaluate CEL

	config.Cluster // a lesson sets Seed, Replicas, Controllers and Nodes

	Files map[string]string // files that ops may use
	Allow []string          // the commands that the learner may use; all if empty
	Setup []scenario.Op     // run before the first step
	Steps []Step
}

// Step is one step of a lesson. The last step contains only a text, which closes the lesson.
type Step struct {
	ID       string
	Text     string // Markdown: paragraphs, `code`, **bold** and lists, with {{…}} for live values
	Predict  *Predict
	Needs    []string      // conditions of sim/scenario under which the text is true, until the step is passed
	Do       []scenario.Op // ops of other clients, run when the step begins; let stores values for {{…}}
	Check    []string      // conditions that must all hold for the step to be passed
	Hints    []string
	Solution []string // lines that pass the step, with {{…}}
}

// Predict is a question that asks the learner to predict the result of a step.
type Predict struct {
	Ask     string   `json:"ask"`
	Options []Option `json:"options"`
}

// Option is one answer to a question. It is right if its condition holds once the step has been passed. Placeholders
// {{…}} in its texts are replaced when the question is asked.
type Option struct {
	Say string `json:"say"`
	If  string `json:"if"`
	Why string `json:"why"` // the explanation for learners who chose this wrong option
}

// Levels are the levels of the map, in the recommended order.
var Levels = []string{"start", "basics", "reading", "deleting", "errors", "writing", "extending", "versions", "operating", "controllers"}

// The translations in the same folders are not embedded: a page fetches the translation for its language and passes it
// to Translate.
//
//go:embed data/order.txt data/*/lesson.yaml data/*/text.en.md
var data embed.FS

var library = sync.OnceValues(func() ([]*Lesson, error) { return load(data) })

// All returns the built-in lessons in the recommended order.
func All() ([]*Lesson, error) { return library() }

// Find returns the lesson with the given id, or an error if there is none. It loads only that lesson, because a page
// waits for its first lesson.
func Find(id string) (*Lesson, error) {
	ids, err := order(data)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(ids, id) {
		return nil, fmt.Errorf("there is no lesson %q", id)
	}
	return open(data, id)
}

// order returns the ids of all lessons, which data/order.txt lists line by line.
func order(files fs.FS) ([]string, error) {
	text, err := fs.ReadFile(files, "data/order.txt")
	if err != nil {
		return nil, fmt.Errorf("lessons: %w", err)
	}
	return lines(string(text)), nil
}

// load loads all lessons from a file system. It returns an error if a lesson needs one that does not precede it.
func load(files fs.FS) ([]*Lesson, error) {
	ids, err := order(files)
	if err != nil {
		return nil, err
	}
	var all []*Lesson
	for _, id := range ids {
		l, err := open(files, id)
		if err != nil {
			return nil, err
		}
		for _, need := range l.Needs {
			if !slices.ContainsFunc(all, func(l *Lesson) bool { return l.ID == need }) {
				return nil, fmt.Errorf("lesson %s: needs %s, which does not come before it in data/order.txt", id, need)
			}
		}
		all = append(all, l)
	}
	return all, nil
}

func open(files fs.FS, id string) (*Lesson, error) {
	about, err := fs.ReadFile(files, "data/"+id+"/lesson.yaml")
	if err != nil {
		return nil, fmt.Errorf("lesson %s: %w", id, err)
	}
	text, err := fs.ReadFile(files, "data/"+id+"/text.en.md")
	if err != nil {
		return nil, fmt.Errorf("lesson %s: %w", id, err)
	}
	l, err := Parse(about, text)
	if err != nil {
		return nil, fmt.Errorf("lesson %s: %w", id, err)
	}
	if l.ID != id {
		return nil, fmt.Errorf("lesson %s: its id is %q; name the folder like the lesson", id, l.ID)
	}
	return l, nil
}

// World creates the World of the lesson and runs its setup.
func (l *Lesson) World() (*scenario.World, error) {
	w, err := scenario.New(scenario.Options{Cluster: l.Cluster, Files: l.Files})
	if err != nil {
		return nil, fmt.Errorf("lesson %s: %w", l.ID, err)
	}
	for i, op := range l.Setup {
		if err := act(w, op); err != nil {
			return nil, fmt.Errorf("lesson %s: setup: line %d: %s: %w", l.ID, i+1, op, err)
		}
	}
	return w, nil
}

func act(w *scenario.World, op scenario.Op) error {
	r, err := w.Do(op)
	if err == nil && !r.OK {
		err = fmt.Errorf("%s", r.Failure)
	}
	return err
}
