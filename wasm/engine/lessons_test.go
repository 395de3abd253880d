package engine

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestLesson takes a lesson like a learner.
func TestLesson(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	answer := p.must("lesson", "lesson", "first")
	is.Equal(at(answer, "lesson.state"), "do")
	steps := p.data("lesson", "lesson", "first")["steps"].([]any)
	is.Equal(float64(len(steps)), at(answer, "lesson.steps"))
	answer = p.do("get configmaps")
	is.Equal(at(answer, "lesson.step"), 0.0) // the step asks for something else
	answer = p.do("create configmap paint --from-literal color=red")
	is.Equal(at(answer, "lesson.step"), 1.0)
	is.Equal(at(answer, "lesson.state"), "predict") // a question comes first
	p.must("predict", "answer", 1)
	answer = p.must("solve")
	is.Equal(at(answer, "lesson.step"), 2.0)
	graded := at(answer, "lesson.predicted").([]any)[1].(map[string]any)
	is.Equal(graded["right"], false) // Alice's Secret took the next revision
	is.Equal(graded["correct"], 2.0)
	is.Equal(len(at(p.must("hint"), "hints").([]any)), 1)
	is.Equal(at(p.must("undo"), "lesson.step"), 1.0) // undo goes back in the lesson, too
	answer = p.must("redo")
	is.Equal(at(answer, "lesson.step"), 2.0)
	is.Equal(at(answer, "lesson.golf.yours"), 3.0)
	for at(answer, "lesson.done") != true {
		answer = p.must("solve")
	}
	is.Equal(at(answer, "lesson.state"), "passed")
	is.Equal(p.send("solve")["kind"], "error") // it is over
}

// TestAstray checks that changes that no step requires are listed, and so is the operation that makes it impossible to complete the
// lesson. Texts show the current state.
func TestAstray(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("lesson", "lesson", "first")
	answer := p.do("create configmap pant --from-literal color=red")
	is.Equal(at(answer, "lesson.step"), 0.0)
	is.Equal(at(answer, "lesson.unasked.0.n"), 1.0)
	is.Equal(at(answer, "lesson.unasked.0.effects.0"), map[string]any{"kind": "created", "of": "configmaps default/pant"})
	is.Equal(p.data("broken")["broken"], nil) // an object more does no harm
	answer = p.do("create configmap paint --from-literal color=red")
	is.Equal(at(answer, "lesson.begun"), 2.0)
	is.True(strings.Contains(at(answer, "lesson.text").(string), "paint is at revision 4009.")) // one more than without pant
	is.Equal(at(answer, "lesson.options.1"), "4010: one more than before")
	p.do("delete configmap paint")
	broken := p.data("broken")["broken"].(map[string]any)
	is.Equal(broken["n"], 3.0)
	is.Equal(broken["line"], "delete configmap paint")
	is.Equal(p.send("solve")["kind"], "error") // says so, and does nothing
	answer = p.must("seek", "n", at(answer, "lesson.begun"))
	is.Equal(at(answer, "lesson.step"), 1.0)
	is.Equal(p.data("broken")["broken"], nil)
}

// TestGraded checks that the page gets an explanation of a wrong prediction, and that a link restores the answers.
func TestGraded(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("lesson", "lesson", "first")
	p.must("solve")
	p.must("predict", "answer", 1)
	answer := p.must("solve")
	is.Equal(at(answer, "lesson.graded.right"), false)
	is.Equal(at(answer, "lesson.graded.why"), "Alice's Secret took 4009. Every write takes the next revision, whatever it is about.")
	kept := p.data("log")
	is.Equal(at(answer, "log"), kept["log"]) // the page learns the operations of the solution with its effect, and not later
	other := newPage(t)
	answer = other.must("boot", "lesson", kept["lesson"], "log", kept["log"], "answers", kept["answers"])
	is.Equal(at(answer, "lesson.graded.correct"), "More than 4009: the next revision of the store")
	answer = other.must("boot", "lesson", "first", "answers", map[string]int{"0": 1, "1": 7, "-3": 0}) // of a stranger
	is.Equal(at(answer, "lesson.state"), "do")
}
