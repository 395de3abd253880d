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

// These types occur in the fields and parameters of a Session.
type (
	Conn    = client.Conn
	Request = client.Request
	Answer  = client.Answer
	Files   = shell.Files
)

// Session is the state shared by successive command lines: the connection, the configuration, and the discovered resources.
type Session struct {
	Conn   Conn
	Files  Files
	Config *Config
	// Edit edits text with the named editor, or with the default editor if editor is empty. If Edit is nil, kubectl edit fails.
	Edit func(editor, text string) (string, error)

	Out, Err io.Writer // the output of Run

	discovery client.Discovery
	forwards  []forward // of kubectl port-forward
}

// Copy returns an independent Session with the same configuration, discovered resources and forwarded ports.
func (s *Session) Copy(conn Conn, files Files) *Session {
	c, config := *s, *s.Config
	config.Contexts = slices.Clone(config.Contexts)
	c.Conn, c.Files, c.Config, c.forwards = conn, files, &config, slices.Clone(s.forwards)
	return &c
}

// Run runs one kubectl command and returns its exit code. The arguments do not include the word kubectl.
func (s *Session) Run(args []string, stdin []byte) int {
	return s.kubectl(&shell.Process{Argv: args, Stdin: stdin, Out: s.Out, Err: s.Err, Files: s.Files})
}

// Line runs a command line from a prompt, with pipes, files and here-documents, and returns the exit code. Lines after the first
// are here-documents or further commands.
func (s *Session) Line(text string, out, errors io.Writer) int {
	sh := &shell.Shell{Files: s.Files, Commands: map[string]shell.Command{"kubectl": s.kubectl, "k": s.kubectl, "curl": s.curl, "sleep": s.sleep}}
	return sh.Line(text, out, errors)
}

// tools lists the names of the commands at a prompt.
var tools = append([]string{"kubectl", "k"}, slices.Sorted(slices.Values(append(shell.Names(), "curl", "sleep")))...)

// kubectl runs a kubectl command.
func (s *Session) kubectl(p *shell.Process) int {
	c, err := s.parse(p)
	if err == nil {
		err = c.do()
	}
	return report(p, err)
}

// sleep waits for the sum of its arguments. Numbers without a unit are seconds.
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

// exitCode is the error of a command that has already printed its error message.
type exitCode int

func (e exitCode) Error() string { return "" }

// usageError is an error about incorrect usage of a command.
type usageError struct {
	text string
	see  string // a reference to the command's help
}

func (e *usageError) Error() string { return e.text }

// report prints an error in kubectl's format and returns the exit code.
func report(p *shell.Process, err error) int {
	switch e := err.(type) {
	case nil:
		return 0
	case exitCode:
		return int(e)
	case interface{ Unwrap() []error }: // an error of errors.Join
		list := e.Unwrap()
		if len(list) == 1 {
			return report(p, list[0])
		}
		for _, one := range list { // several errors have no prefix (cmdutil.MultipleErrors)
			if s, ok := one.(*client.StatusError); ok {
				p.Complain("%s\n", s.Plain())
			} else {
				p.Complain("%s\n", one)
			}
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
