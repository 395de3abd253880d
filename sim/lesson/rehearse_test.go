package lesson

import (
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"
)

const ownLesson = `
id: mine
title: Mine
about: Something.
steps:
- say: a
  text: "Create a: {{revision}}."
  predict:
    ask: Is it there?
    options:
    - {say: "yes", if: configmaps/a exists}
    - {say: "no", if: configmaps/a absent}
  check: [configmaps/a exists]
  hint: [One., create configmap a]
  solution: [create configmap a]
- say: end
  text: Done.
`

// TestRehearse runs a lesson in one file with its own solutions, and checks that Rehearse reports why they fail.
func TestRehearse(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	rehearse := func(old, new string) ([]Rehearsed, *Broken) {
		l, err := Parse([]byte(strings.Replace(ownLesson, old, new, 1)), nil)
		is.NoErr(err)
		return Rehearse(l)
	}
	steps, stuck := rehearse("", "")
	is.Equal(stuck, nil)
	is.Equal(len(steps), 2)
	is.True(!strings.Contains(steps[0].Text, "{{")) // the current value
	is.Equal(steps[0].Right, 0)
	is.Equal(steps[1].Text, "Done.")
	for _, wrong := range []struct{ old, new, want string }{
		{"solution: [create configmap a]", "solution: [create configmap b]", "configmaps/a exists"},
		{"check: [configmaps/a exists]", "check: [configmaps/a absent]", "holds before anything was done"},
		{"if: configmaps/a absent", "if: configmaps/a exists", "has no right answer"},
		{"  check:", "  needs: [configmaps/z exists]\n  check:", "configmaps/z exists"},
		{"  check:", "  do: [close nobody]\n  check:", "step a: do: close nobody"},
	} {
		if _, stuck := rehearse(wrong.old, wrong.new); stuck == nil || !strings.Contains(stuck.Why, wrong.want) {
			t.Errorf("with %q: %+v, want %q", wrong.new, stuck, wrong.want)
		}
	}
}

// TestFault checks that an error contains its path in the file.
func TestFault(t *testing.T) {
	t.Parallel()
	for _, wrong := range []struct{ old, new, path string }{
		{"check: [configmaps/a exists]", "check: [configmaps exists]", "steps[0].check[0]"},
		{"solution: [create configmap a]", "solution: [creat configmap a]", "steps[0].solution[0]"},
		{"if: configmaps/a absent", "if: a=b=", "steps[0].predict.options[1].if"},
		{"hint: [One., create configmap a]", "hint: [One.]", "steps[0].hint"},
		{"say: end", "say: a", "steps[1].say"},
		{"title: Mine", "title: Mine\nlevel: high", "level"},
		{"title: Mine", "title: Mine\nsetup: [get x, dance]", "setup[1]"},
		{"text: Done.", "text: ''", "steps[1]"},
	} {
		_, err := Parse([]byte(strings.Replace(ownLesson, wrong.old, wrong.new, 1)), nil)
		var fault *Fault
		if !errors.As(err, &fault) || fault.Path != wrong.path {
			t.Errorf("with %q: %v at %+v, want %s", wrong.new, err, fault, wrong.path)
		}
	}
}
