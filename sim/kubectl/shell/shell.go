// Package shell runs the lines of a prompt. It supports pipes, files, here-documents, and tools that are commonly used with
// kubectl.
//
//	line ─ words ─▶ stage | stage | stage > file      each is a Command, which runs as a Process
//
// It implements only the shell features that people use with kubectl. Package sim/kubelet/shell runs the scripts of containers,
// which may contain loops and variables.
package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/spelling"
	"github.com/kubesim/kubesim/sim/words"
)

// Files provides the files that a command line can name.
type Files interface {
	ReadFile(name string) ([]byte, error) // returns fs.ErrNotExist if there is no such file
	WriteFile(name string, data []byte) error
	Names(folder string) []string // returns the files in a folder, all files if folder is "", or nil if it is not a folder
}

// Command runs a command and returns its exit code.
type Command func(p *Process) int

// Process is a running Command: its arguments, environment, streams and files.
type Process struct {
	Argv     []string
	Env      map[string]string // from the NAME=VALUE words before the command
	Stdin    []byte
	Out, Err io.Writer
	Files    Files // if nil, there are no files
}

// Printf prints to stdout.
func (p *Process) Printf(format string, args ...any) { fmt.Fprintf(p.Out, format, args...) }

// Complain prints a line to stderr.
func (p *Process) Complain(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	io.WriteString(p.Err, text)
}

// Names returns the names of the files in a folder.
func (p *Process) Names(folder string) []string {
	if p.Files == nil {
		return nil
	}
	return p.Files.Names(folder)
}

// ReadFile reads a file, or stdin if the name is "-". It returns fs.ErrNotExist if there is no such file.
func (p *Process) ReadFile(name string) ([]byte, error) {
	if name == "-" || name == "/dev/stdin" {
		return p.Stdin, nil
	}
	if p.Files == nil {
		return nil, fs.ErrNotExist
	}
	return p.Files.ReadFile(name)
}

// Shell runs command lines.
type Shell struct {
	Files    Files
	Commands map[string]Command // the commands in addition to this package's tools
}

// Names returns the names of this package's tools.
func Names() []string { return object.SortedKeys(tools) }

// stage is a command in a pipe.
type stage struct {
	env   map[string]string
	words []string
	in    string // the input file, or "" for the output of the previous stage
	out   string // the output file, or "" for the input of the next stage
	more  bool   // append to the output file
	err   string // the file for errors, or ""
	join  bool   // errors go where the output goes
	doc   []byte // the here-document that is the input, or nil without one
}

// Line runs a command line and returns the exit code. Lines after the first are here-documents or further commands.
func (s *Shell) Line(text string, out, errors io.Writer) int {
	code := 0
	r := &reader{strings.Split(text, "\n")}
	for len(r.lines) > 0 {
		l, err := r.next(func(line string) string { return line })
		if err != nil {
			fmt.Fprintf(errors, "bash: line 1: %s\n", err)
			return 2
		}
		if len(l.words) > 0 {
			code = s.sequence(l, out, errors)
		}
	}
	return code
}

// reader reads command lines with their continuation lines and here-documents.
type reader struct{ lines []string }

// line is a command line, split into words, and its here-documents.
type line struct {
	text  string
	words []words.Word
	docs  []string
}

// next reads a command line, including continuation lines after a backslash, and its here-documents. It applies clean to each
// line of the command, but not to here-documents.
func (r *reader) next(clean func(line string) string) (l line, err error) {
	l.text, r.lines = clean(r.lines[0]), r.lines[1:]
	for strings.HasSuffix(l.text, "\\") && len(r.lines) > 0 {
		l.text, r.lines = strings.TrimSuffix(l.text, "\\")+clean(r.lines[0]), r.lines[1:]
	}
	if l.words, err = words.Shell.Split(l.text); err != nil {
		if e, ok := err.(*words.UnclosedError); ok {
			err = fmt.Errorf("unexpected EOF while looking for matching `%c'", e.Quote)
		}
		return l, err
	}
	for i, w := range l.words {
		if !isDocument(w) {
			continue
		}
		if i+1 == len(l.words) {
			return l, errNewline
		}
		l.docs = append(l.docs, r.document(l.words[i+1].Text, w.Text == "<<-"))
	}
	return l, nil
}

// errNewline is the error for a missing word after an operator.
var errNewline = errors.New("syntax error near unexpected token `newline'")

func isDocument(w words.Word) bool { return w.Sign && strings.HasPrefix(w.Text, "<<") }

// document reads a here-document up to the line end or to the last line. If untab is set, it removes leading tabs.
func (r *reader) document(end string, untab bool) string {
	var b strings.Builder
	for len(r.lines) > 0 {
		line := r.lines[0]
		r.lines = r.lines[1:]
		if untab {
			line = strings.TrimLeft(line, "\t")
		}
		if line == end {
			break
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// sequence runs pipes that are separated by ;, && and ||.
func (s *Shell) sequence(l line, out, errors io.Writer) (code int) {
	join := ";"
	for len(l.words) > 0 {
		n := slices.IndexFunc(l.words, func(w words.Word) bool {
			return w.Sign && (w.Text == ";" || w.Text == "&&" || w.Text == "||")
		})
		if n < 0 {
			n = len(l.words)
		}
		stages, left, err := stagesOf(l.words[:n], l.docs)
		l.docs = left
		skip := join == "&&" && code != 0 || join == "||" && code == 0
		switch {
		case err != nil:
			fmt.Fprintf(errors, "bash: line 1: %s\n", err)
			return 2
		case !skip && len(stages) > 0:
			code = s.pipe(stages, out, errors)
		}
		if n == len(l.words) {
			return code
		}
		join, l.words = l.words[n].Text, l.words[n+1:]
	}
	return code
}

// stagesOf splits a pipe into its stages. It returns the here-documents that they do not use.
func stagesOf(tokens []words.Word, docs []string) (out []stage, left []string, err error) {
	at := stage{env: map[string]string{}}
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case !t.Sign:
			name, value, ok := strings.Cut(t.Text, "=")
			if ok && len(at.words) == 0 && isName(name) {
				at.env[name] = value
				continue
			}
			at.words = append(at.words, t.Text)
		case t.Text == "2>&1":
			at.join = true
		case t.Text == "|":
			if len(at.words) == 0 {
				return nil, docs, fmt.Errorf("syntax error near unexpected token `|'")
			}
			out, at = append(out, at), stage{env: map[string]string{}}
		case i+1 == len(tokens):
			return nil, docs, errNewline
		default:
			i++
			switch t.Text {
			case "<":
				at.in = tokens[i].Text
			case "2>":
				at.err = tokens[i].Text
			case ">", ">>":
				at.out, at.more = tokens[i].Text, t.Text == ">>"
			default:
				if len(docs) > 0 {
					at.doc, docs = []byte(docs[0]), docs[1:]
				}
			}
		}
	}
	if len(at.words) > 0 {
		out = append(out, at)
	}
	return out, docs, nil
}

// isName reports whether text can be the name of an environment variable.
func isName(text string) bool {
	for _, r := range text {
		if !(r >= 'A' && r <= 'Z' || r == '_' || r >= '0' && r <= '9') {
			return false
		}
	}
	return text != ""
}

// pipe runs the stages of a pipe. The output of each stage is the input of the next. The exit code is that of the last stage, or 1
// if a file of a redirection cannot be read or written.
func (s *Shell) pipe(stages []stage, out, errors io.Writer) (code int) {
	var input []byte
	for i, at := range stages {
		if at.in != "" {
			data, err := (&Process{Stdin: input, Files: s.Files}).ReadFile(at.in)
			if err != nil {
				fmt.Fprintf(errors, "bash: line 1: %s: %s\n", at.in, fileError(err))
				return 1
			}
			input = data
		}
		if at.doc != nil {
			input = at.doc
		}
		var printed bytes.Buffer
		p := &Process{Argv: at.words[1:], Env: at.env, Stdin: input, Out: &printed, Err: errors, Files: s.Files}
		if i+1 == len(stages) && at.out == "" {
			p.Out = out
		}
		var complaints bytes.Buffer
		if at.err != "" {
			p.Err = &complaints
		}
		if at.join {
			p.Err = p.Out
		}
		code = s.run(at.words[0], p)
		if at.err != "" {
			_ = p.Save(at.err, complaints.Bytes(), false) // a session without files drops errors, too
		}
		if at.out != "" {
			if err := p.Save(at.out, printed.Bytes(), at.more); err != nil {
				fmt.Fprintf(errors, "bash: line 1: %s: %s\n", at.out, fileError(err))
				return 1
			}
			printed.Reset()
		}
		input = printed.Bytes()
	}
	return code
}

// Save writes a file. If more is set, it appends to the file. It returns fs.ErrPermission if the shell has no files.
func (p *Process) Save(name string, data []byte, more bool) error {
	if name == "/dev/null" {
		return nil
	}
	if p.Files == nil {
		return fs.ErrPermission
	}
	if more {
		before, err := p.Files.ReadFile(name)
		if err == nil {
			data = append(before, data...)
		}
	}
	return p.Files.WriteFile(name, data)
}

// fileError returns the shell's message for a file error.
func fileError(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "No such file or directory"
	}
	return err.Error()
}

// run runs a single command.
func (s *Shell) run(name string, p *Process) int {
	for _, commands := range []map[string]Command{s.Commands, tools} {
		if c := commands[name]; c != nil {
			return c(p)
		}
	}
	fmt.Fprintf(p.Err, "bash: line 1: %s: command not found\n", name)
	if near := spelling.Nearest(name, slices.Sorted(slices.Values(append(Names(), object.SortedKeys(s.Commands)...)))); near != "" {
		fmt.Fprintf(p.Err, "did you mean %s?\n", near)
	}
	return 127
}
