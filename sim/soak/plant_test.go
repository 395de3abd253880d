package soak

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/scenario"
)

// calm configures a run without other disturbances, with enough watches to detect an injected bug.
func calm(seed uint64) Config {
	return Config{Seed: seed, Ops: 250, Clients: 2, Replicas: 2, Names: 3, Work: []string{"create", "update", "delete", "patch", "watch", "get", "list"},
		Trouble: []string{"advance"}, Calm: 6}
}

// tamper returns a function that creates a Tamper. The Tamper calls f for frames of one type, with the previous frame
// of the stream, which is nil for the first one.
func tamper(kind string, f func(before, frame []byte) [][]byte) func() func(int, []byte) [][]byte {
	return func() func(int, []byte) [][]byte {
		last := map[int][]byte{}
		return func(s int, frame []byte) [][]byte {
			before := last[s]
			last[s] = frame
			if !bytes.HasPrefix(frame, []byte(`{"type":"`+kind)) {
				return [][]byte{frame}
			}
			return f(before, frame)
		}
	}
}

func one(frame []byte) [][]byte { return [][]byte{frame} }

var (
	revision = regexp.MustCompile(`"resourceVersion":"\d+"`)
	uid      = regexp.MustCompile(`"uid":"[0-9a-f]{4}`)
	end      = regexp.MustCompile(`,"annotations":\{"k8s.io/initial-events-end":"true"\}`)
)

// TestServerBugs injects behaviour that only a bug in a server can cause, by Illegal faults and by changing events on
// the wire, and checks that the broken promise is found.
func TestServerBugs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bug     string
		promise string
		faults  []string
		tamper  func() func(int, []byte) [][]byte
	}{
		{"a lost event", "Delivered", []string{"on watch * event=MODIFIED do drop"}, nil},
		{"an event lost between others", "Reliable", []string{"on watch * event=DELETED every=2 do drop"}, nil},
		{"a gap where a watch takes up", "Resumable", []string{"on watch configmaps event=ADDED every=2 do drop"}, nil},
		{"a bookmark that lies", "Bookmarkable", []string{"on watch * event=ADDED every=3 do drop"}, nil},
		{"no end of the initial events", "InitialEventsEnd", []string{"on watch * event=BOOKMARK do drop"}, nil},
		{"two ends of the initial events", "InitialEventsEnd", nil, tamper("BOOKMARK", func(_, f []byte) [][]byte { return [][]byte{f, f} })},
		{"bookmarks that lost their annotation", "InitialEventsEnd", nil, tamper("BOOKMARK", func(_, f []byte) [][]byte { return one(end.ReplaceAll(f, nil)) })},
		{"an event told twice", "Unique", nil, tamper("MODIFIED", func(_, f []byte) [][]byte { return [][]byte{f, f} })},
		{"old events told again", "Ordered", nil, tamper("MODIFIED", func(b, f []byte) [][]byte {
			if b == nil {
				return one(f)
			}
			return [][]byte{f, b}
		})},
		{"bookmarks far ahead", "Bookmarkable", nil, tamper("BOOKMARK", func(_, f []byte) [][]byte {
			return one(revision.ReplaceAll(f, []byte(`"resourceVersion":"9999"`)))
		})},
		{"every change told as an addition", "Filtered", nil, tamper("MODIFIED", func(_, f []byte) [][]byte {
			return one(bytes.Replace(f, []byte("MODIFIED"), []byte("ADDED"), 1))
		})},
		{"another uid", "UIDConsistent", nil, tamper("MODIFIED", func(_, f []byte) [][]byte { return one(uid.ReplaceAll(f, []byte(`"uid":"ffff`))) })},
		{"objects of an older content", "Faithful", nil, tamper("MODIFIED", func(_, f []byte) [][]byte {
			return one(bytes.Replace(f, []byte(`"metadata":{`), []byte(`"stale":true,"metadata":{`), 1))
		})},
	} {
		t.Run(c.bug, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			found := false
			for seed := uint64(1); seed <= 5 && !found; seed++ {
				config := calm(seed)
				r, err := Run(Options{Config: config})
				is.NoErr(err)
				is.Equal(len(r.Violations), 0) // without the bug there are no violations
				config.Extra = c.faults
				o := Options{Config: config}
				if c.tamper != nil {
					o.Tamper = c.tamper()
				}
				r, err = Run(o)
				is.NoErr(err)
				found = slices.ContainsFunc(r.Violations, func(v checker.Violation) bool { return v.Promise == c.promise })
			}
			is.True(found) // the check of this promise finds the bug
		})
	}
}

// lost returns a run with a bug that makes bookmarks wrong.
func lost() Options {
	c := calm(1)
	c.Extra = []string{"on watch * event=MODIFIED do drop"}
	return Options{Config: c}
}

// TestScenario checks that a run can be repeated as a scenario, with the same resulting objects.
func TestScenario(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 6; seed++ {
		is := is.New(t)
		r, err := Run(Options{Config: Swarm(seed, 250)})
		is.NoErr(err)
		out := opened(t, r.Scenario().Format())
		is.Equal(out.Failure, nil)
		is.Equal(out.Semantic, r.Semantic)
	}
}

func opened(t *testing.T, text []byte) *scenario.Outcome {
	t.Helper()
	f, err := scenario.ParseFile(text)
	if err != nil {
		t.Fatal(err)
	}
	out, err := scenario.Run(f, scenario.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const lostFile = "testdata/lost.txtar"

// TestShrink checks that Shrink reduces a failing run of hundreds of ops to the few ops that show the bug, as a
// scenario that fails in the same way. kubesim run and the engine of the page open the same file in their tests;
// -update rewrites it.
func TestShrink(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r, err := Shrink(lost(), Run)
	is.NoErr(err)
	is.True(len(r.Violations) > 0) // the run still fails
	is.True(r.Ops <= 8)            // fault, create, watch, change, and little more
	text := r.Scenario().Format()
	if *update {
		is.NoErr(os.WriteFile(lostFile, text, 0o600))
	}
	want, err := os.ReadFile(lostFile)
	is.NoErr(err)
	is.Equal(string(text), string(want))
	failure := opened(t, text).Failure
	is.True(failure != nil)
	is.Equal(failure.Text, "expected promises kept: "+r.Violations[0].Error()) // the same failure
}
