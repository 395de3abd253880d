package engine

import (
	"testing"

	"github.com/matryer/is"
)

// TestLesson goes through a lesson as a learner does.
func TestLesson(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	answer := p.must("lesson", "lesson", "first")
	is.Equal(at(answer, "lesson.state"), "do")
	steps := p.data("lesson", "lesson", "first")["steps"].([]any)
	is.Equal(float64(len(steps)), at(answer, "lesson.steps"))
	answer = p.do("get configmaps")
	is.Equal(at(answer, "lesson.step"), 0.0) // that was not what was asked for
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
