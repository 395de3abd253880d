package engine

import (
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"
)

const ownText = `
id: mine
title: Mine
about: Something.
steps:
- say: a
  text: "Create a: {{revision}}."
  check: [configmaps/a exists]
  hint: [One., create configmap a]
  solution: [create configmap a]
- say: end
  text: Done.
`

// TestOwn checks that a lesson that a user wrote can be rehearsed and taken like any other, and that a link restores it.
func TestOwn(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	told := p.data("rehearse", "own", ownText)
	is.Equal(told["stuck"], nil)
	is.Equal(at(told, "steps.0.solution.0"), "create configmap a")
	is.Equal(at(told, "steps.1.text"), "Done.")
	told = p.data("rehearse", "own", strings.Replace(ownText, "create configmap a]\n- say", "create configmap b]\n- say", 1))
	is.Equal(at(told, "stuck.step"), 0.0)
	told = p.data("rehearse", "own", strings.Replace(ownText, "[configmaps/a exists]", "[a b c]", 1))
	is.Equal(at(told, "fault.path"), "steps[0].check[0]")

	answer := p.must("boot", "own", ownText)
	is.Equal(at(answer, "lesson.own"), true)
	answer = p.do("create configmap a")
	is.Equal(at(answer, "lesson.done"), true)
	is.Equal(p.data("lesson")["title"], "Mine") // without an id: the one that runs
	kept := p.data("log")
	is.Equal(kept["own"], ownText)
	answer = newPage(t).must("boot", "own", kept["own"], "log", kept["log"])
	is.Equal(at(answer, "lesson.done"), true)
}

// TestOwnTooMuch checks that an untrusted lesson cannot exceed the limits of a page.
func TestOwnTooMuch(t *testing.T) {
	t.Parallel()
	p := newPage(t)
	for _, wrong := range []struct{ old, new, want string }{
		{"about: Something.", "about: " + strings.Repeat("x", 100_001), "bytes, and at most"},
		{"steps:", "setup: [tick 9999h]\nsteps:", "pass in one operation"},
		{"steps:", "setup: [" + strings.Repeat("settle, ", 400) + "settle]\nsteps:", "lines in setup"},
		{"steps:", "replicas: [" + strings.Repeat("{}, ", 9) + "{}]\nsteps:", "10 replicas"},
		{"steps:", "nodes: 100000\nsteps:", "nodes"},
		{"id: mine", "id: [", "not YAML"},
	} {
		answer := p.send("boot", "own", strings.Replace(ownText, wrong.old, wrong.new, 1))
		if answer["kind"] != "error" || !strings.Contains(at(answer, "error.text").(string), wrong.want) {
			t.Errorf("with %.40q: %v, want %q", wrong.new, answer, wrong.want)
		}
	}
}

// TestSpeak checks that a lesson continues at the same position in another language, with the same frames.
func TestSpeak(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	words, err := os.ReadFile("../../sim/lesson/data/first/lesson.zh-CN.yaml")
	is.NoErr(err)
	p := newPage(t)
	p.must("lesson", "lesson", "first")
	english := p.do("create configmap paint --from-literal color=red")
	before := p.must("hash")
	answer := p.must("speak", "texts", map[string]string{"first": string(words)})
	is.Equal(at(answer, "lesson.step"), 1.0)
	is.True(at(answer, "lesson.ask") != at(english, "lesson.ask"))
	is.True(strings.Contains(at(answer, "lesson.text").(string), "4008")) // live values, in Chinese
	is.Equal(p.must("hash")["hash"], before["hash"])
	list := p.data("lessons")["lessons"].([]any)
	titles := map[any]any{}
	for _, l := range list {
		titles[at(l.(map[string]any), "id")] = at(l.(map[string]any), "title")
	}
	is.Equal(titles["first"], p.data("lesson", "lesson", "first")["title"])
	is.Equal(titles["paths"], "Everything has an address") // not among the texts
	is.Equal(p.send("speak", "texts", map[string]string{"first": "title: x"})["kind"], "error")
	answer = p.must("speak")
	is.Equal(at(answer, "lesson.ask"), at(english, "lesson.ask"))
}
