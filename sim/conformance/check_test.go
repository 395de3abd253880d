package conformance

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

// spy is a TB that records the messages of a test.
type spy struct {
	name string
	out  *[]string
}

func (s spy) Helper()                           {}
func (s spy) Logf(format string, args ...any)   { s.note("log", format, args) }
func (s spy) Errorf(format string, args ...any) { s.note("fail", format, args) }
func (s spy) Fatalf(format string, args ...any) { s.note("fatal", format, args); panic("fatal") }
func (s spy) Skipf(format string, args ...any)  { s.note("skip", format, args) }

func (s spy) note(level, format string, args []any) {
	*s.out = append(*s.out, fmt.Sprintf("%s%s: %s", level, s.name, fmt.Sprintf(format, args...)))
}

func (s spy) Run(name string, f func(spy)) bool {
	f(spy{s.name + "/" + name, s.out})
	return true
}

// twoSteps is a case with one step that agrees with a server that returns {"a":1}, and one step that does not.
var twoSteps = fstest.MapFS{
	"area/case.http": {Data: []byte("# @no-namespace\n### good\nGET /good\n\n### bad\nGET /api/v1/pods\n")},
	"area/case.res": {Data: []byte("### good\n" + `{"status": 200, "headers": {}, "body": {"a": 1}}` + "\n\n" +
		"### bad\n" + `{"status": 200, "headers": {}, "body": {"a": 2, "metadata": {"managedFields": []}}}` + "\n")},
}

func TestCheckKnownDifferences(t *testing.T) {
	t.Parallel()
	const table = "log: \narea                        1 /    2 steps agree"
	tests := []struct {
		name, known string
		change      func(*Options[spy])
		want        []string // prefixes of the messages
	}{
		{"an unlisted difference fails", "#", nil,
			[]string{"fail/area/case: area/case bad differs:\n\t.body.a: want 2, got 1\n\t.body.metadata: missing", table}},
		{"a listed one does not", "area/case bad — why", nil,
			[]string{"log/area/case: area/case bad differs, which is known: why", table}},
		{"a listed case may differ", "area/case  * — why", nil, []string{"log/area/case: area/case bad", table}},
		{"a listed area may differ", "area/* — why", nil, []string{"log/area/case: area/case bad", table}},
		{"a listed step that agrees fails", "area/case good — why\narea/* — y", nil,
			[]string{"fail/area/case: area/case good agrees: remove it", "log/area/case: area/case bad", table}},
		{"a listed case that agrees whole fails", "area/case * — why", withoutLast,
			[]string{"fail/area/case: every step of area/case * agrees", "log: \narea                        1 /    1 steps agree"}},
		{"a listed area that agrees whole fails", "area/* — why", withoutLast,
			[]string{"fail/area: every step of area/* agrees", "log: \narea                        1 /    1 steps agree"}},
		{"an entry without a reason", "area/case bad", nil, []string{"fatal: known differences, line 1: no reason"}},
		{"an entry for nothing", "\narea/case none — why", nil, []string{"fatal: known differences, line 2: there is no step area/case none"}},
		{"an entry twice", "area/* — a\narea/* — b", nil, []string{"fatal: known differences, line 2: area/* is listed twice"}},
		{"workers say the same", "#", func(o *Options[spy]) { o.Workers = 2 },
			[]string{"fail/area/case: area/case bad differs:", table}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			cases, err := Load(twoSteps, ".")
			is.NoErr(err)
			opts := Options[spy]{Cases: cases, Known: tt.known}
			if tt.change != nil {
				tt.change(&opts)
			}
			said := said(opts)
			is.Equal(len(said), len(tt.want)) // as many lines as expected
			for i := range said {
				is.True(strings.HasPrefix(said[i], tt.want[i])) // the message is as expected
			}
		})
	}
}

// TestLoneCases checks that cases that disturb others never run concurrently with other cases on their server, but may
// run concurrently with cases on another server.
func TestLoneCases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var cases []Case
		for i := range 40 {
			cases = append(cases, Case{Area: fmt.Sprint("area", i%2), Name: fmt.Sprint(i), Disturbs: i%4 < 2})
		}
		var mu sync.Mutex
		running, played, wrong := map[string][]bool{}, 0, 0
		play := func(_ context.Context, target Target, x Case) []StepResult {
			mu.Lock()
			beside := running[target.URL]
			if len(beside) > 0 && (x.RunsAlone() || slices.Contains(beside, true)) {
				wrong++
			}
			running[target.URL] = append(beside, x.RunsAlone())
			played++
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			at := slices.Index(running[target.URL], x.RunsAlone())
			running[target.URL] = slices.Delete(running[target.URL], at, at+1)
			return nil
		}
		var out []string
		Check(spy{out: &out}, func(_ spy, x Case) Target { return Target{URL: x.Area} },
			Options[spy]{Cases: cases, Known: "#", Workers: 8, Play: play})
		is.Equal(played, len(cases))
		is.Equal(wrong, 0)
	})
}

// withoutLast removes the step that differs.
func withoutLast(o *Options[spy]) { o.Cases[0].Steps = o.Cases[0].Steps[:1] }

// said runs Check against a server that returns {"a":1}, and returns the messages.
func said(opts Options[spy]) (out []string) {
	server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"a":1}`) })
	defer func() {
		if p := recover(); p != nil && p != "fatal" {
			panic(p)
		}
	}()
	Check(spy{out: &out}, func(spy, Case) Target {
		return Target{URL: "http://x", Transport: inProcess{server}}
	}, opts)
	return out
}
