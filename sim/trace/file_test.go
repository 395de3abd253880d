package trace

import (
	"bytes"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestParse checks that Parse accepts the output of JSONL and returns the same Log.
func TestParse(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	tr := New(Options{Keep: 5, Hash: true})
	update(tr, start)
	l := tr.Log()
	l.Seed, l.Versions, l.Go, l.Module, l.Level, l.Semantic = 7, []string{"v1.36.3", "v1.35.4"}, "go1.26", "v0.1.0", "legal", "abc"
	l.Decisions = [][]byte{[]byte(`{"fault":"on * * do compact","fired":true}`)}
	back, err := Parse(l.JSONL())
	is.NoErr(err)
	is.Equal(back, l)
	is.Equal(back.Dropped, uint64(2))
	is.Equal(back.Timeline(), l.Timeline())
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                 "the file is empty",
		"{}\n":                             `line 1: want a header with "trace":1`,
		"{\"trace\":2}\n":                  "not 2: record the run again",
		"{\"n\":1}\n":                      "line 1: want a header",
		"x\n":                              "line 1: no header",
		"{\"trace\":1}\n\n{\"n\":1}\n":     "line 3: neither a record",
		"{\"trace\":1}\n{\"n\":\"one\"}\n": "line 2: ",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %q", text, err, want)
		}
	}
}

// TestState checks that a loaded Trace continues like the saved one.
func TestState(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for _, o := range []Options{{}, {Keep: 3}, {Keep: 100, Hash: true}} {
		tr := New(o)
		update(tr, start)
		again, err := Load(o, tr.State())
		is.NoErr(err)
		update(tr, start.Add(minClockRecord))
		update(again, start.Add(minClockRecord))
		is.Equal(again.Log(), tr.Log())
		is.Equal(again.State(), tr.State())
	}
	_, err := Load(Options{Keep: 3, Hash: true}, New(Options{Keep: 3}).State())
	is.True(err != nil) // the hash is missing
}

func FuzzParse(f *testing.F) {
	tr := New(Options{Keep: 10})
	update(tr, start)
	f.Add(tr.Log().JSONL())
	f.Add([]byte("{\"trace\":1}\n{\"decision\":{}}\n{\"n\":1,\"site\":\"x\",\"t\":\"2026-01-01T00:00:00+01:00\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse(data)
		if err != nil {
			return
		}
		printed := l.JSONL()
		back, err := Parse(printed)
		if err != nil {
			t.Fatalf("%v in what was printed:\n%s", err, printed)
		}
		if again := back.JSONL(); !bytes.Equal(again, printed) {
			t.Errorf("printed anew:\n%s\nbefore:\n%s", again, printed)
		}
	})
}
