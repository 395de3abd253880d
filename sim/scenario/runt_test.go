package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// complaints implements TB and only records its messages.
type complaints struct{ said []string }

func (c *complaints) Helper() {}
func (c *complaints) Errorf(format string, args ...any) {
	c.said = append(c.said, fmt.Sprintf(format, args...))
}
func (c *complaints) Fatalf(format string, args ...any) { c.Errorf(format, args...) }

// TestRunT checks that a scenario test fails if the run fails, if the transcript is missing, or if it differs.
func TestRunT(t *testing.T) {
	t.Parallel()
	if updating() {
		t.Skip("it would rewrite what is wrong on purpose")
	}
	const script = "# A ConfigMap.\n\ncreate cm a\n"
	f, err := ParseFile([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	out, err := Run(f, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{ // order does not matter
		script + "-- transcript --\n" + out.Transcript: "",
		script: " has no transcript; run the test with -update to write it, and read it",
		script + "-- transcript --\n" + strings.Replace(out.Transcript, "rv 4005", "rv 1", 1):   ": the transcript differs from line 2 on",
		script + "-- transcript --\n" + strings.Replace(out.Transcript, "hash: ", "hash: 0", 1): ": the transcript differs from line 4 on",
		script + "expect cm/b exists\n": ", line 4: expected cm/b exists: cm/b is not there",
		"creat cm a\n":                  `: line 1, column 1: there is no command "creat"; did you mean create?`,
	} {
		is := is.New(t)
		path := filepath.Join(t.TempDir(), "a.txtar")
		is.NoErr(os.WriteFile(path, []byte(text), 0o600))
		var c complaints
		RunT(&c, path)
		if want == "" {
			is.Equal(c.said, nil) // same as recorded
			continue
		}
		is.Equal(len(c.said), 1)
		is.Equal(strings.TrimPrefix(c.said[0], "kubesim: "+path)[:min(len(want), len(c.said[0])-len(path)-9)], want)
	}
}
