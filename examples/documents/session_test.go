package documents

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// separator separates the outputs of two commands.
const separator = "----- the next command -----\n"

// TestSessions runs the commands of each document's console blocks one after another in one bash, and compares their output with
// the document.
func TestSessions(t *testing.T) {
	t.Parallel()
	found := 0
	for _, d := range all(t) {
		if steps := session(d); len(steps) > 0 {
			found++
			t.Run(d.Name, func(t *testing.T) {
				t.Parallel()
				runSession(t, newTools(t), d, steps)
			})
		}
	}
	if found < 1 {
		t.Errorf("found %d documents with console blocks: the test looks in the wrong place", found)
	}
}

// step is a line after "$ " and the output below it.
type step struct {
	number        int
	line, printed string
}

// session returns the lines of a document's console blocks.
func session(d Document) (steps []step) {
	for _, b := range d.Blocks {
		if b.Kind != "console" {
			continue
		}
		for i, text := range strings.SplitAfter(strings.TrimSuffix(b.Text, "\n"), "\n") {
			if line, ok := strings.CutPrefix(text, "$ "); ok {
				steps = append(steps, step{number: b.Line + i, line: strings.TrimSuffix(line, "\n")})
			} else if len(steps) > 0 {
				steps[len(steps)-1].printed += strings.TrimSuffix(text, "\n") + "\n"
			}
		}
	}
	return steps
}

func runSession(t *testing.T, tools tools, d Document, steps []step) {
	for _, tool := range []string{"curl", "grep", "base64"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the sessions need %s", tool)
		}
	}
	var script strings.Builder
	shown, real := "\x00", "" // URLs of the server in the document and in this run
	var asked []step
	for _, s := range steps {
		if args, ok := strings.CutPrefix(ownProgram.ReplaceAllString(s.line, "kubesim "), "kubesim serve "); ok {
			shown = strings.TrimSpace(strings.TrimPrefix(s.printed, "serving "))
			real = tools.serve(t, strings.Fields(args))
			continue
		}
		asked = append(asked, s)
		fmt.Fprintf(&script, "%s\nprintf '%%s' '%s'\n", strings.ReplaceAll(s.line, shown, real), separator)
	}
	bash := tools.bash(t, d, script.String())
	var stderr bytes.Buffer
	bash.Stderr = &stderr
	out, err := bash.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	for i, got := range strings.Split(strings.TrimSuffix(string(out), separator), separator) {
		if want := asked[i].printed; got != want {
			t.Errorf("%s:%d: $ %s\nprints\n%sthe document says\n%s\n%s", d.Name, asked[i].number, asked[i].line, got, want, &stderr)
		}
	}
}
