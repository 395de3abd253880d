package scenario

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl"
	"github.com/kubesim/kubesim/sim/object"
)

// typed runs a shell command line of the prompt.
func (w *World) typed(op *Op) error {
	w.used = true
	if w.shell == nil {
		w.shell = &kubectl.Session{Conn: &conn{w: w}, Files: &promptFiles{w}, Config: &kubectl.Config{Server: "https://kubesim", Cluster: "kubesim",
			User: "admin", Current: "kubesim", Contexts: []kubectl.Context{{Name: "kubesim", Cluster: "kubesim", User: "admin"}}}}
	}
	line := op.Name + " " + op.Text
	out := &sayer{w: w}
	code := w.shell.Line(line, out, out)
	out.end()
	failed := code != 0
	switch {
	case w.options.Lenient:
	case op.Fails && !failed:
		w.fail("%s succeeded, but the ! before it requires a failure", op.Name)
	case failed && !op.Fails && !op.May && w.options.Strict:
		w.fail("%s failed with exit code %d; put a ! before it if this is expected", op.Name, code)
	}
	return nil
}

// sayer is an io.Writer that adds each line to the transcript.
type sayer struct {
	w    *World
	rest string
}

// Write implements io.Writer.
func (s *sayer) Write(p []byte) (int, error) {
	s.rest += string(p)
	for {
		line, rest, whole := strings.Cut(s.rest, "\n")
		if !whole {
			return len(p), nil
		}
		s.rest = rest
		s.w.say("%s", line)
	}
}

// end adds the last line if it does not end in a line break.
func (s *sayer) end() {
	if s.rest != "" {
		s.w.say("%s", s.rest)
		s.rest = ""
	}
}

// promptFiles provides the files of a World to the shell.
type promptFiles struct{ w *World }

func (f *promptFiles) ReadFile(name string) ([]byte, error) {
	text, ok := f.w.files[strings.TrimPrefix(name, "./")]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func (f *promptFiles) WriteFile(name string, data []byte) error {
	f.w.files = cloned(f.w.files)
	f.w.files[strings.TrimPrefix(name, "./")] = string(data)
	return nil
}

func (f *promptFiles) Names(folder string) (out []string) {
	for _, name := range object.SortedKeys(f.w.files) {
		if folder == "" || strings.HasPrefix(name, folder+"/") {
			out = append(out, name)
		}
	}
	return out
}

// errStill returns the error for a wait that timed out.
func errStill(command string) error {
	return fmt.Errorf("%s: nothing came in %v of the world's time, and nothing will by itself; kubectl would wait on", command, patience)
}
