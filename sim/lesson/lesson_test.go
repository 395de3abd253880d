package lesson

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"regexp"
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

// eachLesson runs a test for every lesson that this build supports.
func eachLesson(t *testing.T, test func(t *testing.T, l *Lesson)) {
	t.Helper()
	t.Parallel()
	for _, l := range mustAll(t) {
		t.Run(l.ID, func(t *testing.T) {
			t.Parallel()
			if l.Engine == "cel" && !cel.Supported {
				t.Skip("needs CEL")
			}
			test(t, l)
		})
	}
}

func mustStart(t *testing.T, l *Lesson) *Session {
	t.Helper()
	s, err := Start(l)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustParse(t *testing.T, line string) scenario.Op {
	t.Helper()
	op, err := scenario.Parse(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return op
}

// TestLessons runs every lesson with its solutions: a check must not hold before its solution and must hold after it,
// exactly one option of a question must be right, and the other options must explain why they are wrong.
func TestLessons(t *testing.T) {
	eachLesson(t, func(t *testing.T, l *Lesson) {
		s := mustStart(t, l)
		for !s.Done() {
			take(t, s)
		}
		if got := s.Requests(); got < l.Fewest {
			t.Errorf("the solutions send %d requests, and fewest is %d", got, l.Fewest)
		}
	})
}

// take runs one step.
func take(t *testing.T, s *Session) {
	t.Helper()
	step, at := s.Step(), s.Index()
	if s.Holds() {
		t.Fatalf("step %s: the check holds before anything was done", step.ID)
	}
	for i, line := range s.Step().Solution {
		if why := s.unmet(step.Needs); why != "" {
			t.Fatalf("step %s: what it needs is not so: %s", step.ID, why)
		}
		op := mustParse(t, s.Fill(line))
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
		t.Fatalf("step %s: the check does not hold after the solution: %s", step.ID, s.unmet(step.Check))
	}
	if step.Predict == nil {
		return
	}
	right := s.Graded(at).Right
	if right < 0 {
		t.Fatalf("step %s: none of the options of %q is right, or several are", step.ID, step.Predict.Ask)
	}
	for i, o := range step.Predict.Options {
		if i != right && o.Why == "" {
			t.Errorf("step %s: %q is wrong, and does not say why", step.ID, o.Say)
		}
	}
}

// TestLevels checks that every lesson is on the map and that the lessons of each level are contiguous, so that
// prerequisite lessons are above a lesson or before it.
func TestLevels(t *testing.T) {
	t.Parallel()
	var seen []string
	for _, l := range mustAll(t) {
		if len(seen) == 0 || seen[len(seen)-1] != l.Level {
			seen = append(seen, l.Level)
		}
	}
	if !slices.Equal(seen, Levels) {
		t.Errorf("the levels of data/order.txt are %q, and not %q", seen, Levels)
	}
}

// The maximum compressed sizes of a lesson and of all lessons, in bytes.
const (
	bytesMax    = 6 << 10
	allBytesMax = 100 << 10
)

// TestSize measures the gzip sizes, which are never smaller than the sizes that a page receives.
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

// TestTexts checks that each command in a text, which the page offers to run, is part of the solution, that every live
// value can be evaluated, and that no revision is hard-coded.
func TestTexts(t *testing.T) {
	byHand := regexp.MustCompile(`\b4[0-9]{3}\b`) // the first write of a world gets 4005
	eachLesson(t, func(t *testing.T, l *Lesson) {
		s := mustStart(t, l)
		for {
			step := s.Step()
			text, err := fill(s.World(), step.Text)
			if err != nil {
				t.Errorf("%s: %v", step.ID, err)
			}
			said := step.Text + strings.Join(step.Solution, " ") + strings.Join(step.Hints, " ") + strings.Join(step.Check, " ")
			if step.Predict != nil {
				for _, o := range step.Predict.Options {
					said += o.Say + o.If + o.Why
				}
			}
			if number := byHand.FindString(said); number != "" {
				t.Errorf("%s: %s is written by hand; {{…}} says what it is now", step.ID, number)
			}
			if s.Done() {
				return
			}
			sameCommands(t, step.ID, text, s.Solution())
			if why := s.Solve(nil); why != "" {
				t.Fatalf("%s: %s", step.ID, why)
			}
		}
	})
}

// sameCommands checks the commands of a text that are on separate lines.
func sameCommands(t *testing.T, step, text string, solution []string) {
	t.Helper()
	var known []string
	for _, line := range solution {
		known = append(known, mustParse(t, line).String())
	}
	for _, line := range lines(text) {
		command, begins := strings.CutPrefix(line, "`")
		command, ends := strings.CutSuffix(command, "`")
		if !begins || !ends || strings.Contains(command, "`") {
			continue
		}
		if op, err := scenario.Parse(command); err != nil || !slices.Contains(known, op.String()) {
			t.Errorf("%s: the text has %q, %v; the solution is %q", step, command, err, known)
		}
	}
}

// TestFewest computes the minimum number of requests that solve a lesson: at every step, with the necessary lines of
// the solution or of the second hint.
func TestFewest(t *testing.T) {
	eachLesson(t, func(t *testing.T, l *Lesson) {
		s, fewest := mustStart(t, l), 0
		for !s.Done() {
			ways := append(subsets(s.Solution()), []string{s.Fill(s.Step().Hints[1])})
			least := len(s.Step().Solution) + 1
			for _, way := range ways {
				if n := requests(way); n < least && passes(s, way) {
					least = n
				}
			}
			fewest += least
			if why := s.Solve(nil); why != "" {
				t.Fatal(why)
			}
		}
		if fewest != l.Fewest {
			t.Errorf("fewest: %d is what can be done; lesson.yaml says %d", fewest, l.Fewest)
		}
	})
}

// passes reports whether some lines pass the current step of a session and the rest of the lesson can still be solved.
func passes(s *Session, way []string) bool {
	t, err := Start(s.lesson)
	if err != nil {
		return false
	}
	for _, d := range s.did {
		if _, err := t.Do(d.op); err != nil {
			return false
		}
	}
	for _, line := range way {
		op, err := scenario.Parse(line)
		if err != nil {
			return false
		}
		if _, err = t.Do(op); err != nil {
			return false
		}
	}
	return t.Index() == s.Index()+1 && t.Broken() == nil
}

func requests(lines []string) int {
	n := 0
	for _, line := range lines {
		if op, err := scenario.Parse(line); err == nil && isRequest(op) {
			n++
		}
	}
	return n
}

// subsets returns all non-empty subsets of lines.
func subsets(lines []string) [][]string {
	var out [][]string
	for set := 1; set < 1<<len(lines); set++ {
		var some []string
		for i, line := range lines {
			if set&(1<<i) != 0 {
				some = append(some, line)
			}
		}
		out = append(out, some)
	}
	return out
}

// TestBrokenNotMonotone checks that a line that was repaired later is not blamed, and that the last line after which the solution
// works is found.
func TestBrokenNotMonotone(t *testing.T) {
	l, err := Find("first")
	if err != nil {
		t.Fatal(err)
	}
	s := mustStart(t, l)
	paint := func(color string) string { return `patch configmap paint -p '{"data":{"color":"` + color + `"}}'` }
	do := func(line string) *Broken {
		t.Helper()
		perform(t, s, line)
		return s.Broken()
	}
	b := do("create configmap paint")
	if b == nil || b.N != 1 || len(b.Check) == 0 {
		t.Fatalf("a ConfigMap without its color: %+v", b)
	}
	do("get configmap paint")
	do("get configmap paint")
	for _, color := range []string{"red", "blue"} {
		if b := do(paint(color)); b != nil {
			t.Fatalf("%s repairs it: %+v", color, b)
		}
	}
	if b := do(paint("green")); b == nil || b.N != 6 || b.Step != 2 {
		t.Fatalf("green: %+v", b)
	}
}

// TestStale checks that a changed object that the text of a step describes is not reported as a failure of the solution if the
// solution still works, and that only the writes of the learner's own requests are effects of a line.
func TestStale(t *testing.T) {
	l, err := Find("heal")
	if err != nil {
		t.Fatal(err)
	}
	s := mustStart(t, l)
	do := func(line string) { t.Helper(); perform(t, s, line) }
	do("kubectl create deployment web --image=nginx")
	if got := fmt.Sprint(s.Unasked()); got != "[{1 kubectl create deployment web --image=nginx [{created deployments.apps default/web}]}]" {
		t.Errorf("effects of a Deployment: %s", got)
	}
	for s.Index() < 2 {
		if why := s.Solve(nil); why != "" {
			t.Fatal(why)
		}
	}
	at := len(s.did)
	do("kubectl scale deployment shop --replicas=4")
	b := s.Broken()
	if b == nil || !b.Stale || b.N != at+1 || b.Step != 2 || b.Why != "deployments/shop .spec.replicas == 2: deployments/shop .spec.replicas is 4" {
		t.Errorf("four pods in place of two: %+v", b)
	}
	if why := s.Solve(nil); why != "" || !s.Done() {
		t.Errorf("the solution does not work: %s", why)
	}
}

// TestLook checks that the step that looks at a pod is passed by an answer with the running pod, and not by the passage of time after
// an earlier answer.
func TestLook(t *testing.T) {
	l, err := Find("pod")
	if err != nil {
		t.Fatal(err)
	}
	for _, look := range []string{"kubectl get pods", "kubectl get pod web -o yaml", "kubectl get po -o json"} {
		s := mustStart(t, l)
		for i, line := range []string{"kubectl run web --image=nginx", "kubectl get pods", "tick settled", look} {
			perform(t, s, line)
			if want := []int{1, 1, 1, 2}[i]; s.Index() != want {
				t.Errorf("%s: step %d after %s, not %d", look, s.Index(), line, want)
			}
		}
	}
}

// perform runs a line of a learner.
func perform(t *testing.T, s *Session, line string) {
	t.Helper()
	op, err := scenario.Parse(line)
	if err == nil {
		_, err = s.Do(op)
	}
	if err != nil {
		t.Fatal(err)
	}
}
