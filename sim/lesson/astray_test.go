package lesson

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/sim/scenario"
)

// leastWrong is the minimum number of wrong commands for each step. mostWrong is the number of commands to try, drawn
// from a seed, and mostWrongShort is that number with -short; with -every, all are tried.
const (
	leastWrong     = 30
	mostWrong      = 40
	mostWrongShort = 2
)

var every = flag.Bool("every", false, "try every wrong command, some hundreds at every step")

// TestAstray makes typical mistakes of learners at every step of every lesson: mistyped words, other names, missing and
// changed flags, repeated commands, a later step first, the passage of time, unrelated commands. After each mistake,
// either the lesson can be finished and its texts are true, or Broken names the command that prevents this and the
// lesson can be finished without that command.
func TestAstray(t *testing.T) {
	eachLesson(t, func(t *testing.T, l *Lesson) {
		s := mustStart(t, l)
		draw := rand.New(rand.NewPCG(3, 4))
		most := mostWrong
		if testing.Short() {
			most = mostWrongShort
		}
		var told, tried int
		for !s.Done() {
			wrong := wrongLines(s)
			if len(wrong) < leastWrong {
				t.Errorf("step %s: only %d wrong commands are tried", s.Step().ID, len(wrong))
			}
			if !*every {
				draw.Shuffle(len(wrong), func(i, j int) { wrong[i], wrong[j] = wrong[j], wrong[i] })
				wrong = wrong[:min(len(wrong), most)]
			}
			for _, line := range wrong {
				tried++
				if astray(t, s, line) {
					told++
				}
			}
			if why := s.Solve(nil); why != "" {
				t.Fatalf("step %s: %s", s.Step().ID, why)
			}
		}
		t.Logf("%d wrong commands; of %d it was said that they are in the way", tried, told)
		if told > tried/2 && !testing.Short() {
			t.Errorf("%d of %d wrong commands are in the way: the lesson is too easily broken", told, tried)
		}
	})
}

// TestLost is like TestAstray, but with three wrong commands in a row, drawn from a seed.
func TestLost(t *testing.T) {
	eachLesson(t, func(t *testing.T, l *Lesson) {
		draw := rand.New(rand.NewPCG(1, 2))
		s, times := mustStart(t, l), 5
		if testing.Short() {
			times = 1
		}
		for !s.Done() {
			wrong := wrongLines(s)
			for range times {
				astray(t, s, wrong[draw.IntN(len(wrong))], wrong[draw.IntN(len(wrong))], wrong[draw.IntN(len(wrong))])
			}
			if why := s.Solve(nil); why != "" {
				t.Fatalf("step %s: %s", s.Step().ID, why)
			}
		}
	})
}

// astray runs some wrong commands in a copy of a session. It reports whether Broken names one of them.
func astray(t *testing.T, from *Session, wrong ...string) (told bool) {
	t.Helper()
	s := again(t, from, len(from.did))
	changed := false
	for _, line := range wrong {
		op, err := scenario.Parse(line)
		if err != nil {
			continue // an invalid line has no effect
		}
		rv := s.World().Cluster().Revision()
		_, err = s.Do(op)
		changed = changed || err == nil && (op.Name != "get" && op.Name != "list" || rv != s.World().Cluster().Revision())
	}
	if len(s.did) == len(from.did) {
		return false // the command was rejected
	}
	at := fmt.Sprintf("step %s: after %q", from.Step().ID, wrong)
	b := s.Broken()
	if b == nil {
		finish(t, s, at, true)
		return false
	}
	if b.Stale {
		finish(t, again(t, s, len(s.did)), at, false)
	}
	switch {
	case b.N <= len(from.did) || b.N > len(s.did) || b.Line != s.did[b.N-1].op.String():
		t.Fatalf("%s: operation %d, %q, is said to be in the way: %s", at, b.N, b.Line, b.Why)
	case b.Why == "":
		t.Errorf("%s: it is not said what is in the way", at)
	case !changed:
		t.Errorf("%s: nothing was changed, and it is in the way: %s", at, b.Why)
	}
	undone := again(t, s, b.N-1)
	before := undone.Broken()
	if before != nil && (b.Stale || !before.Stale) {
		t.Fatalf("%s and undo: %s", at, before.Why)
	}
	finish(t, undone, at+" and undo", before == nil)
	return true
}

// again runs the first n operations of a session in a new one, like undo and restarting a step.
func again(t *testing.T, s *Session, n int) *Session {
	t.Helper()
	out := mustStart(t, s.lesson)
	for _, d := range s.did[:n] {
		if _, err := out.Do(d.op); err != nil {
			t.Fatalf("%s: %v", d.op, err)
		}
	}
	return out
}

// finish runs the rest of a lesson. It checks that exactly one answer to the question of every step is right and, if
// truthful is set, that the text of every step is true.
func finish(t *testing.T, s *Session, at string, truthful bool) {
	t.Helper()
	for !s.Done() {
		step, n := s.Step(), s.Index()
		if why := s.unmet(step.Needs); truthful && why != "" {
			t.Fatalf("%s: the text of step %s is not true: %s", at, step.ID, why)
		}
		for _, text := range append([]string{step.Text}, step.Hints...) {
			if text, err := fill(s.World(), text); err != nil || strings.Contains(text, gone) {
				t.Fatalf("%s: step %s: %v", at, step.ID, err)
			}
		}
		if why := s.Solve(nil); why != "" {
			t.Fatalf("%s: step %s cannot be finished: %s", at, step.ID, why)
		}
		if step.Predict != nil && s.Graded(n).Right < 0 {
			t.Fatalf("%s: step %s: no answer is right", at, step.ID)
		}
	}
}

// wrongLines returns plausible wrong commands for the current step of a session: variations of the solution, and unrelated commands.
func wrongLines(s *Session) []string {
	solution := s.Solution()
	var out []string
	for _, line := range solution {
		out = append(out, misspelled(line)...)
	}
	for _, line := range solution { // repeated, and as another client
		out = append(out, line, line+" --as alice", line+" --dry-run", line+" -n kube-system")
	}
	for i := range s.lesson.Steps { // out of order
		if i == s.Index() {
			continue
		}
		for _, line := range s.lesson.Steps[i].Solution {
			out = append(out, s.Fill(line))
		}
	}
	return append(out, anywhere...)
}

// anywhere contains commands that fit no step. The page's Play button runs tick next.
var anywhere = []string{
	"tick next", "tick 1s", "tick 1m", "tick 10m", "tick 1h", "settle", "compact", "expire",
	"list configmaps", "get configmaps", "get configmap paint", "list pods -A", "get secrets -A", "get namespaces",
	"watch configmaps", "watch configmaps --name mine", "watch configmaps --name fresh", "watch pods --name w",
	"create configmap a", "create configmap paint", "create configmap zebra --from-literal k=v", "create secret token -n kube-system",
	"create namespace shop", "delete configmap a", "delete configmap nothing", "deletecollection configmaps", "deletecollection secrets",
	"lag 1", "cut 1", "restart 1", "resume 1", "resume 2", "close 1", "stop mine", "hold you", "route you 1", "jump you 5m",
	"fault on create * times=1 do fail ServiceUnavailable", "fault clear", "let listed = 5", "expect status 200", "seed 7", "replicas 3",
	"informer cache configmaps", "pager reader configmaps --limit 2", "crash naive", "start naive", "step naive", "help", "kubectl get pods",
}

var word = regexp.MustCompile(`\S+`)

// misspelled returns variations of one line: one word less, letters omitted or doubled, other numbers and names.
func misspelled(line string) []string {
	var out []string
	for _, at := range word.FindAllStringIndex(line, -1) {
		before, text, after := line[:at[0]], line[at[0]:at[1]], line[at[1]:]
		out = append(out, strings.TrimSpace(before+strings.TrimLeft(after, " "))) // one word less
		if strings.ContainsAny(text, "'{\"") {                                    // in a patch, do not change letters
			continue
		}
		name, value, is := strings.Cut(text, "=")
		switch {
		case is && value != "":
			out = append(out, before+name+"=1"+after, before+name+"="+value+"9"+after, before+name+after)
		case len(text) > 1:
			out = append(out, before+text[:len(text)-1]+after, before+text+text[len(text)-1:]+after, before+text+"x"+after)
		default:
			out = append(out, before+text+text+after)
		}
	}
	for _, swap := range [][2]string{{"blue", "green"}, {"green", "blue"}, {"red", "blue"}, {"you", "me"}, {"server:", "servre:"}} {
		if other := strings.Replace(line, swap[0], swap[1], 1); other != line {
			out = append(out, other)
		}
	}
	return out
}
