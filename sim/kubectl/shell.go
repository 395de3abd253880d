package kubectl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/kubesim/kubesim/sim/spelling"
)

// token is a word of a line, or one of the signs of a shell.
type token struct {
	text   string
	sign   bool // |, <, >, >>, <<, &&, ||, ;
	quoted bool
}

// stage is one command of a pipe.
type stage struct {
	env   map[string]string
	words []string
	in    string // file that it reads, "" for the stage before it
	out   string // file that it writes, "" for the next stage
	more  bool   // it writes behind what the file has
	doc   *string
}

// Line carries out what somebody typed at a prompt, with pipes, files and here-documents, as a shell does, and returns the
// exit code. Lines after the first are here-documents, or further commands.
func (s *Session) Line(text string, out, errors io.Writer) int {
	s.Out, s.Err = out, errors
	code := 0
	lines := strings.Split(text, "\n")
	for len(lines) > 0 {
		line := lines[0]
		lines = lines[1:]
		for strings.HasSuffix(line, "\\") && len(lines) > 0 {
			line, lines = strings.TrimSuffix(line, "\\")+lines[0], lines[1:]
		}
		tokens, err := tokenize(line)
		if err != nil {
			fmt.Fprintf(errors, "bash: line 1: %s\n", err)
			return 2
		}
		if len(tokens) == 0 {
			continue
		}
		var docs []*string
		if docs, lines, err = hereDocuments(tokens, lines); err != nil {
			fmt.Fprintf(errors, "bash: line 1: %s\n", err)
			return 2
		}
		code = s.sequence(tokens, docs)
	}
	return code
}

// tokenize splits a line into words and signs.
func tokenize(line string) (out []token, err error) {
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			i++
			continue
		case c == '#':
			return out, nil
		}
		if n := signAt(line[i:]); n > 0 {
			out = append(out, token{text: line[i : i+n], sign: true})
			i += n
			continue
		}
		var b strings.Builder
		t := token{}
		for i < len(line) && line[i] != ' ' && line[i] != '\t' && signAt(line[i:]) == 0 {
			n, quoted, err := piece(&b, line[i:])
			if err != nil {
				return nil, err
			}
			t.quoted = t.quoted || quoted
			i += n
		}
		t.text = b.String()
		out = append(out, t)
	}
	return out, nil
}

// signAt returns how long the sign is that a text begins with, 0 without one.
func signAt(text string) int {
	for _, sign := range []string{"<<-", "<<", ">>", "&&", "||", "2>&1", "|", "<", ">", ";"} {
		if strings.HasPrefix(text, sign) {
			return len(sign)
		}
	}
	return 0
}

// piece reads one character or one quoted part of a word.
func piece(to *strings.Builder, text string) (n int, quoted bool, err error) {
	switch c := text[0]; c {
	case '\'':
		end := strings.IndexByte(text[1:], '\'')
		if end < 0 {
			return 0, false, fmt.Errorf("unexpected EOF while looking for matching `''")
		}
		to.WriteString(text[1 : 1+end])
		return end + 2, true, nil
	case '"':
		for i := 1; i < len(text); i++ {
			switch {
			case text[i] == '"':
				return i + 1, true, nil
			case text[i] == '\\' && i+1 < len(text) && strings.IndexByte("\"\\$`", text[i+1]) >= 0:
				i++
			}
			to.WriteByte(text[i])
		}
		return 0, false, fmt.Errorf("unexpected EOF while looking for matching `\"'")
	case '\\':
		if len(text) > 1 {
			to.WriteByte(text[1])
			return 2, true, nil
		}
		return 1, false, nil
	default:
		to.WriteByte(c)
		return 1, false, nil
	}
}

// hereDocuments reads the documents that << asks for from the lines below.
func hereDocuments(tokens []token, lines []string) (docs []*string, rest []string, err error) {
	for i, t := range tokens {
		if !t.sign || !strings.HasPrefix(t.text, "<<") {
			continue
		}
		if i+1 == len(tokens) {
			return nil, nil, fmt.Errorf("syntax error near unexpected token `newline'")
		}
		end := tokens[i+1].text
		var b strings.Builder
		for {
			if len(lines) == 0 {
				break
			}
			line := lines[0]
			lines = lines[1:]
			if t.text == "<<-" {
				line = strings.TrimLeft(line, "\t")
			}
			if line == end {
				break
			}
			b.WriteString(line + "\n")
		}
		text := b.String()
		docs = append(docs, &text)
	}
	return docs, lines, nil
}

// sequence carries out pipes that ;, && and || join.
func (s *Session) sequence(tokens []token, docs []*string) (code int) {
	join := ";"
	for len(tokens) > 0 {
		n := 0
		for n < len(tokens) && !(tokens[n].sign && (tokens[n].text == ";" || tokens[n].text == "&&" || tokens[n].text == "||")) {
			n++
		}
		stages, left, err := stagesOf(tokens[:n], docs)
		docs = left
		skip := join == "&&" && code != 0 || join == "||" && code == 0
		switch {
		case err != nil:
			fmt.Fprintf(s.Err, "bash: line 1: %s\n", err)
			return 2
		case !skip && len(stages) > 0:
			code = s.pipe(stages)
		}
		if n == len(tokens) {
			return code
		}
		join, tokens = tokens[n].text, tokens[n+1:]
	}
	return code
}

// stagesOf takes a pipe apart.
func stagesOf(tokens []token, docs []*string) (out []stage, left []*string, err error) {
	at := stage{env: map[string]string{}}
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case !t.sign:
			name, value, ok := strings.Cut(t.text, "=")
			if ok && len(at.words) == 0 && isName(name) {
				at.env[name] = value
				continue
			}
			at.words = append(at.words, t.text)
		case t.text == "2>&1":
		case t.text == "|":
			if len(at.words) == 0 {
				return nil, docs, fmt.Errorf("syntax error near unexpected token `|'")
			}
			out, at = append(out, at), stage{env: map[string]string{}}
		case i+1 == len(tokens):
			return nil, docs, fmt.Errorf("syntax error near unexpected token `newline'")
		default:
			i++
			switch t.text {
			case "<":
				at.in = tokens[i].text
			case ">", ">>":
				at.out, at.more = tokens[i].text, t.text == ">>"
			default:
				if len(docs) > 0 {
					at.doc, docs = docs[0], docs[1:]
				}
			}
		}
	}
	if len(at.words) > 0 {
		out = append(out, at)
	}
	return out, docs, nil
}

// isName reports whether a word can be the name of a variable.
func isName(text string) bool {
	for _, r := range text {
		if !(r >= 'A' && r <= 'Z' || r == '_' || r >= '0' && r <= '9') {
			return false
		}
	}
	return text != ""
}

// pipe carries out commands, each of which reads what the one before it has printed.
func (s *Session) pipe(stages []stage) (code int) {
	out := s.Out
	defer func() { s.Out, s.env = out, nil }()
	var input []byte
	for i, at := range stages {
		if at.in != "" {
			data, err := s.readFile(at.in)
			if err != nil {
				fmt.Fprintf(s.Err, "bash: line 1: %s: %s\n", at.in, fileError(err))
				return 1
			}
			input = data
		}
		if at.doc != nil {
			input = []byte(*at.doc)
		}
		var printed bytes.Buffer
		last := i+1 == len(stages)
		s.Out, s.env = &printed, at.env
		if last && at.out == "" {
			s.Out = out
		}
		code = s.command(at.words, input)
		if at.out != "" {
			if err := s.save(at, printed.Bytes()); err != nil {
				fmt.Fprintf(s.Err, "bash: line 1: %s: %s\n", at.out, fileError(err))
				return 1
			}
			printed.Reset()
		}
		input = printed.Bytes()
	}
	return code
}

func (s *Session) save(at stage, data []byte) error {
	if s.Files == nil {
		return fs.ErrPermission
	}
	if at.more {
		before, err := s.Files.ReadFile(at.out)
		if err == nil {
			data = append(before, data...)
		}
	}
	return s.Files.WriteFile(at.out, data)
}

// fileError is what a shell says of an error of a file.
func fileError(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "No such file or directory"
	}
	return err.Error()
}

// command carries out one command.
func (s *Session) command(words []string, input []byte) int {
	name, args := words[0], words[1:]
	if name == "kubectl" || name == "k" {
		return s.Run(args, input)
	}
	if t := tools[name]; t != nil {
		return t(s, args, input)
	}
	fmt.Fprintf(s.Err, "bash: line 1: %s: command not found\n", name)
	if near := spelling.Nearest(name, toolNames()); near != "" {
		fmt.Fprintf(s.Err, "did you mean %s?\n", near)
	}
	return 127
}
