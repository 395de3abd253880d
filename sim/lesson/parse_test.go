package lesson

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

const (
	someLesson = `{id: x, title: X, about: Something., steps: [
  {say: a, check: [configmaps/a exists], hint: [one, two], solution: [create configmap a],
   predict: {ask: "?", options: [{say: "y", if: status 201}, {say: "n", if: status 409}]}},
  {say: end}]}`
	someText = "## a\nCreate `a`.\n\n## end\nThat was it.\n"
)

// TestParse checks that errors in a lesson name the step and a correction.
func TestParse(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	l, err := Parse([]byte(someLesson), []byte(someText))
	is.NoErr(err)
	is.Equal(l.Steps[0].Text, "Create `a`.")
	is.Equal(l.Engine, "core") // the default
	for _, wrong := range []struct{ old, new, text, want string }{
		{"say: a,", "say: b,", someText, `step 1 (b): text.en.md has no section "## b"`},
		{"create configmap a]", "creat configmap a]", someText, "did you mean create"},
		{"configmaps/a exists", "configmaps exists", someText, "check: configmaps exists: column 1"},
		{"if: status 409", "if: status=409=", someText, "option 2"},
		{"hint: [one, two]", "hint: [one]", someText, "there are 1 hints; write two"},
		{"{say: end}", "{say: end, hint: [a, b]}", someText, "the last step can only have a text"},
		{"solution: [create configmap a],", "", someText, "check and solution are required"},
		{"about: Something.", "abut: Something.", someText, `unknown field "abut"`},
		{"[configmaps/a exists]", "configmaps/a exists", someText, `the field "check" has the wrong type: begin a line with "- "`},
		{"create configmap a]", "create: configmap a]", someText, `the field "solution" has the wrong type`},
		{"id: x", "id: x, nodes: many", someText, `the field "nodes" has the wrong type`},
		{"id: x", "id: x, allow: [dance]", someText, `there is no command "dance"`},
		{"id: x", "id: x, engine: big", someText, "use core, or cel"},
		{"id: x", "id: x", someText + "## more\nx\n", "sections that no step names"},
		{"id: x", "id: x", "hello\n" + someText, "line 1: a text begins with"},
		{"id: x", "id: x", strings.Replace(someText, "Create", strings.Repeat("word ", 61), 1), "62 words"},
	} {
		_, err := Parse([]byte(strings.Replace(someLesson, wrong.old, wrong.new, 1)), []byte(wrong.text))
		if err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("with %q: %v, want %q", wrong.new, err, wrong.want)
		}
	}
}

// TestAllow checks that a lesson can restrict the commands, and that the error names them.
func TestAllow(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	l, err := Parse([]byte(strings.Replace(someLesson, "id: x", "id: x, allow: [create]", 1)), []byte(someText))
	is.NoErr(err)
	s, err := Start(l)
	is.NoErr(err)
	list, err := ops([]string{"get configmaps", "create configmap a"})
	is.NoErr(err)
	_, err = s.Do(list[0])
	is.True(err != nil && strings.Contains(err.Error(), "allows only create"))
	_, err = s.Do(list[1])
	is.NoErr(err)
	is.True(s.Done())
	is.Equal(s.Graded(0).Right, 0) // the first option holds: it was created
}

// FuzzParse checks that any two texts are parsed to a valid lesson or rejected.
func FuzzParse(f *testing.F) {
	f.Add(someLesson, someText)
	f.Add("steps: [{say: a, do: [tick 1m]}]", "## a\n## a\n")
	f.Fuzz(func(t *testing.T, about, text string) {
		l, err := Parse([]byte(about), []byte(text))
		if err == nil && (l.ID == "" || l.Engine == "") {
			t.Errorf("%q is a lesson without an id or an engine", about)
		}
	})
}
