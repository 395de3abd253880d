package scenario

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

const small = `# One ConfigMap is made.
# It stays.

seed 3

# Now.
create -f a.yaml   # done
expect status 201
-- a.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
-- transcript --
old
`

func TestParseFile(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	f, err := ParseFile([]byte(small))
	is.NoErr(err)
	is.Equal(f.Story, "One ConfigMap is made.\nIt stays.")
	is.Equal(len(f.Lines), 3)
	is.Equal(f.Lines[1].Number, 7)
	is.Equal(f.Lines[1].Phase, "Now.")
	is.Equal(f.Transcript, "old\n")
	is.Equal(string(f.Format()), small) // the text is unchanged
	_, err = ParseFile([]byte("seed 1\n\ncreate cm\n"))
	is.Equal(err.Error(), "line 3, column 10: create needs a file or a name: create -f FILE, or create RESOURCE NAME")
}

// TestFailure checks that a failure contains only the phase in which it occurs.
func TestFailure(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	f, err := ParseFile([]byte("# First.\ncreate cm a\n\n# Second.\ncreate cm b\nexpect cm/a absent\ncreate cm c\n"))
	is.NoErr(err)
	out, err := Run(f, RunOptions{})
	is.NoErr(err)
	is.Equal(out.Failure.Error(), `line 6: expected cm/a absent: cm/a is there

# Second.
> create cm b
   you POST /api/v1/namespaces/default/configmaps → 201 Created configmaps/b rv 4006
> expect cm/a absent
   FAILED: expected cm/a absent: cm/a is there
`)
	is.True(!strings.Contains(out.Transcript, "create cm c")) // the run ends at the failure
	f, err = ParseFile([]byte("create cm a\ncreate cm a\n"))
	is.NoErr(err)
	out, err = Run(f, RunOptions{})
	is.NoErr(err)
	is.True(strings.HasPrefix(out.Failure.Text, "POST /api/v1/namespaces/default/configmaps has failed; put a ! before it")) // errors are announced
}

// TestReplay checks that a trace contains all data for a replay, and that a replay detects a change in it.
func TestReplay(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	f, err := ParseFile([]byte("create cm a\nwatch cm --rv 0\ndelete cm a\n"))
	is.NoErr(err)
	o := RunOptions{Seed: 9, Faults: "on delete configmaps times=1 do delay-answer 2s\n"}
	out, err := Run(f, o)
	is.NoErr(err)
	text := out.Trace(f, o).JSONL()
	trace, err := ParseTrace(text)
	is.NoErr(err)
	is.Equal(len(trace.Decisions), 1) // it contains the decisions
	again, difference, err := trace.Replay()
	is.NoErr(err)
	is.Equal(difference, "")
	is.Equal(again.Hash, out.Hash)
	trace, err = ParseTrace([]byte(strings.Replace(string(text), "201 Created", "201 created", 1)))
	is.NoErr(err)
	_, difference, err = trace.Replay()
	is.NoErr(err)
	is.True(strings.HasPrefix(difference, "frame 5\nwas ")) // the first difference
	_, err = ParseTrace(text[:len(text)/2])
	is.True(err != nil) // a truncated file is invalid
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("-- a --\n-- transcript --\nhash: x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseFile(data)
		if err != nil {
			return
		}
		again, err := ParseFile(file.Format())
		if err != nil {
			t.Fatalf("%q is printed as %q, which is %v", data, file.Format(), err)
		}
		if string(again.Format()) != string(file.Format()) || len(again.Lines) != len(file.Lines) {
			t.Fatalf("%q is printed as %q, then as %q", data, file.Format(), again.Format())
		}
	})
}

func FuzzParseTrace(f *testing.F) {
	f.Add([]byte(`{"format":"kubesim scenario trace 1","seed":"1","scenario":"create cm a\n","frames":1}` + "\n" + `{"n":1}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		if trace, err := ParseTrace(data); err == nil {
			_ = trace.JSONL()
		}
	})
}
