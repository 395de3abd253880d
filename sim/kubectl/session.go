package kubectl

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/shell"
)

// The types of a Session's parameters.
type (
	Conn    = client.Conn
	Request = client.Request
	Answer  = client.Answer
	Files   = shell.Files
)

// Session is the state that command lines share: the server, the user, and the resources that the server serves.
type Session struct {
	Conn   Conn
	Files  Files
	Config *Config
	// Edit edits a text with the named editor, or the default one if editor is empty. If Edit is nil, there is no editor.
	Edit func(editor, text string) (string, error)

	Out, Err io.Writer // of Run

	discovery client.Discovery
}

// Run runs one command, given without the word kubectl in front, and returns its exit code.
func (s *Session) Run(args []string, stdin []byte) int {
	return s.kubectl(&shell.Process{Argv: args, Stdin: stdin, Out: s.Out, Err: s.Err, Files: s.Files})
}

// Line runs a command line of a prompt, with pipes, files and here-documents, and returns the exit code. Lines after the first are
// here-documents or further commands.
func (s *Session) Line(text string, out, errors io.Writer) int {
	sh := &shell.Shell{Files: s.Files, Commands: map[string]shell.Command{"kubectl": s.kubectl, "k": s.kubectl, "curl": s.curl, "sleep": s.sleep}}
	return sh.Line(text, out, errors)
}

// tools are the names of the commands at a prompt.
var tools = append([]string{"kubectl", "k"}, slices.Sorted(slices.Values(append(shell.Names(), "curl", "sleep")))...)

// kubectl runs a command of kubectl.
func (s *Session) kubectl(p *shell.Process) int {
	c, err := s.parse(p)
	if err == nil {
		err = c.do()
	}
	return report(p, err)
}

// sleep waits until as many seconds have passed as its arguments say.
func (s *Session) sleep(p *shell.Process) int {
	for _, a := range p.Argv {
		if _, err := strconv.ParseFloat(a, 64); err == nil {
			a += "s"
		}
		d, err := time.ParseDuration(a)
		if err != nil {
			p.Complain("sleep: invalid time interval '%s'", a)
			return 1
		}
		s.Conn.Sleep(d)
	}
	return 0
}

// exitCode is the error of a command that has already printed its error.
type exitCode int

func (e exitCode) Error() string { return "" }

// usageError is an error in how a command is used.
type usageError struct {
	text string
	see  string // where to read more
}

func (e *usageError) Error() string { return e.text }

// report prints an error as kubectl does and returns the exit code.
func report(p *shell.Process, err error) int {
	switch e := err.(type) {
	case nil:
		return 0
	case exitCode:
		return int(e)
	case interface{ Unwrap() []error }: // of errors.Join
		for _, one := range e.Unwrap() {
			report(p, one)
		}
	case *usageError:
		p.Complain("error: %s\n%s", e.text, e.see)
	case *client.StatusError:
		p.Complain("%s", e.Text())
	case client.PlainError:
		p.Complain("%s", string(e))
	default:
		text := err.Error()
		if text != "" && !strings.HasPrefix(text, "error: ") {
			text = "error: " + text
		}
		p.Complain("%s", text)
	}
	return 1
}
