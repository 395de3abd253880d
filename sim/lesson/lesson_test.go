package lesson

import (
	"bytes"
	"compress/gzip"
	"slices"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/scenario"
)

func mustAll(t *testing.T) []*Lesson {
	t.Helper()
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestLessons takes every lesson with its solutions: a check must not hold before its solution and must hold after it,
// and one of the options of a question, exactly one, must be right.
func TestLessons(t *testing.T) {
	t.Parallel()
	for _, l := range mustAll(t) {
		t.Run(l.ID, func(t *testing.T) {
			t.Parallel()
			if l.Engine == "cel" && !cel.Supported {
				t.Skip("needs CEL")
			}
			s, err := Start(l)
			if err != nil {
				t.Fatal(err)
			}
			for !s.Done() {
				take(t, s)
			}
			if got := s.Requests(); got != l.Par() {
				t.Errorf("the solutions send %d requests, par is %d", got, l.Par())
			}
		})
	}
}

// take takes one step.
func take(t *testing.T, s *Session) {
	t.Helper()
	step, at := s.Step(), s.Index()
	if s.Holds() {
		t.Fatalf("step %s: the check holds before anything was done", step.ID)
	}
	for i, op := range step.Solution {
		r, err := s.Do(op)
		if err != nil {
			t.Fatalf("step %s: solution: %s: %v", step.ID, op, err)
		}
		t.Logf("> %s\n%s", op, strings.Join(r.Lines, "\n"))
		if s.Index() != at && i < len(step.Solution)-1 {
			t.Fatalf("step %s: the check holds after %s already: the rest of the solution is not needed", step.ID, op)
		}
	}
	if s.Index() == at {
		for _, c := range step.Check {
			_, why, err := s.World().Holds(c)
			t.Logf("%s: %s, %v", c, why, err)
		}
		t.Fatalf("step %s: the check does not hold after the solution", step.ID)
	}
	if p := step.Predict; p != nil && s.Right(at) < 0 {
		t.Fatalf("step %s: none of the options of %q is right", step.ID, p.Ask)
	}
}

// TestOptions: a question has one right option.
func TestOptions(t *testing.T) {
	t.Parallel()
	for _, l := range mustAll(t) {
		if l.Engine == "cel" && !cel.Supported {
			continue
		}
		w, err := l.World()
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range l.Steps {
			for _, op := range append(append([]scenario.Op{}, step.Do...), step.Solution...) {
				if err := do(w, op); err != nil {
					t.Fatalf("%s: %s: %s: %v", l.ID, step.ID, op, err)
				}
			}
			if step.Predict == nil {
				continue
			}
			var right []string
			for _, o := range step.Predict.Options {
				holds, _, err := w.Holds(o.If)
				if err != nil {
					t.Errorf("%s: %s: %s: %v", l.ID, step.ID, o.If, err)
				}
				if holds {
					right = append(right, o.Say)
				}
			}
			if len(right) != 1 {
				t.Errorf("%s: %s: %q has the right answers %q; exactly one is wanted", l.ID, step.ID, step.Predict.Ask, right)
			}
		}
	}
}

// bytesMax is how large a lesson may be when it is sent, in bytes, and all of them together.
const (
	bytesMax    = 6 << 10
	allBytesMax = 100 << 10
)

// TestSize: gzip, which is never smaller than what a page gets, stands for it here.
func TestSize(t *testing.T) {
	t.Parallel()
	all := 0
	for _, l := range mustAll(t) {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		for _, name := range []string{"lesson.yaml", "text.en.md"} {
			b, err := data.ReadFile("data/" + l.ID + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			z.Write(b)
		}
		z.Close()
		all += packed.Len()
		if packed.Len() > bytesMax {
			t.Errorf("lesson %s has %d bytes, compressed; at most %d are wanted", l.ID, packed.Len(), bytesMax)
		}
	}
	if all > allBytesMax {
		t.Errorf("all lessons have %d bytes, compressed; at most %d are wanted", all, allBytesMax)
	}
}

// TestTexts: a command in a text, which a page offers to run, is one of the solution.
func TestTexts(t *testing.T) {
	t.Parallel()
	for _, l := range mustAll(t) {
		for _, step := range l.Steps {
			var solution []string
			for _, op := range step.Solution {
				solution = append(solution, op.String())
			}
			for _, line := range lines(step.Text) {
				command, begins := strings.CutPrefix(line, "`")
				command, ends := strings.CutSuffix(command, "`")
				if !begins || !ends || strings.Contains(command, "`") {
					continue
				}
				op, err := scenario.Parse(command)
				if err != nil || !slices.Contains(solution, op.String()) {
					t.Errorf("%s: %s: the text has %q, %v; the solution is %q", l.ID, step.ID, command, err, solution)
				}
			}
		}
	}
}
