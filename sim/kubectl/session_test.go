package kubectl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// session is a file of testdata/sessions: commands, and the output of the real kubectl.
//
//	# server: plain          or nodes: the server that the session requires
//	# a comment
//	$ kubectl get pod nope   a command; lines with > continue it, as at a shell's second prompt
//	Error from server …      its output on stdout and stderr
//	[exit 1]                 its exit code, if it is not 0
//
// The marker [no newline] follows output that does not end in a line break.
type session struct {
	name  string
	nodes bool
	head  []string
	steps []*step
}

// step is one command line of a session.
type step struct {
	number int // the line number in the file
	input  []string
	output string
	code   int
}

// line returns the input for a shell.
func (s *step) line() string { return strings.Join(s.input, "\n") }

const folder = "testdata/sessions"

// sessions returns the sessions in all files.
func sessions(t *testing.T) []*session {
	t.Helper()
	names, err := filepath.Glob(folder + "/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal("there are no sessions", err)
	}
	var out []*session
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, parseSession(strings.TrimSuffix(filepath.Base(name), ".txt"), string(data)))
	}
	return out
}

func parseSession(name, text string) *session {
	s := &session{name: name}
	var at *step
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		typed, isTyped := strings.CutPrefix(line, "$ ")
		more, isMore := strings.CutPrefix(line, "> ")
		switch {
		case isTyped:
			at = &step{number: i + 1, input: []string{typed}}
			s.steps = append(s.steps, at)
		case at == nil:
			s.head = append(s.head, line)
			s.nodes = s.nodes || line == "# server: nodes"
		case isMore && at.output == "":
			at.input = append(at.input, more)
		case line == "[no newline]":
			at.output = strings.TrimSuffix(at.output, "\n")
		case strings.HasPrefix(line, "[exit "):
			at.code, _ = strconv.Atoi(strings.Trim(line, "[exit ]"))
		default:
			at.output += line + "\n"
		}
	}
	return s
}

// String returns the content of the session's file.
func (s *session) String() string {
	var b strings.Builder
	for _, line := range s.head {
		b.WriteString(line + "\n")
	}
	for _, at := range s.steps {
		b.WriteString("$ " + strings.Join(at.input, "\n> ") + "\n" + at.output)
		if at.output != "" && !strings.HasSuffix(at.output, "\n") {
			b.WriteString("\n[no newline]\n")
		}
		if at.code != 0 {
			fmt.Fprintf(&b, "[exit %d]\n", at.code)
		}
	}
	return b.String()
}

// TestSessionsReadBack checks that a parsed session prints as the original file, so that recordings change only outputs.
func TestSessionsReadBack(t *testing.T) {
	for _, s := range sessions(t) {
		data, err := os.ReadFile(filepath.Join(folder, s.name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if string(data) != s.String() {
			t.Errorf("%s: a line of an output looks like a line of the file's own", s.name)
		}
		if !slices.ContainsFunc(s.head, func(line string) bool { return strings.HasPrefix(line, "# server: ") }) {
			t.Errorf("%s: there is no line # server: plain or # server: nodes", s.name)
		}
	}
}
