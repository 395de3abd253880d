package documents

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// command is a program with its arguments in a shell line.
type command struct {
	env  []string // NAME=VALUE assignments before the program
	args []string // first the program; empty if the command only sets variables
}

func (c command) String() string { return strings.Join(append(c.env, c.args...), " ") }

var assignment = regexp.MustCompile(`^\w+=`)

// commands splits a line at pipes, at && and ;, and at parentheses. The commands in $(…) precede the one of which they are a part.
// It supports the quotes and comments of bash, but not loops: only sessions contain those, and bash itself runs sessions.
func commands(line string) (all []command, err error) {
	rest := &reader{text: line}
	if err := rest.list(&all); err != nil {
		return nil, fmt.Errorf("%w: %s", err, line)
	}
	if rest.text != "" {
		return nil, fmt.Errorf("a parenthesis too many: %s", line)
	}
	return all, nil
}

// reader parses a line. text is the part that it has not parsed yet.
type reader struct{ text string }

// list parses commands up to the end of the line, or to the closing parenthesis.
func (r *reader) list(all *[]command) error {
	var c command
	end := func() {
		if len(c.env)+len(c.args) > 0 {
			*all = append(*all, c)
		}
		c = command{}
	}
	for {
		r.text = strings.TrimLeft(r.text, " \t\n")
		if r.text == "" || r.text[0] == '#' || r.text[0] == ')' {
			end()
			if r.text != "" && r.text[0] == '#' {
				r.text = ""
			}
			return nil
		}
		switch r.text[0] {
		case '&', '|', ';':
			end()
			r.text = strings.TrimLeft(r.text, "&|;")
			continue
		case '(':
			r.text = r.text[1:]
			if err := r.closed(all); err != nil {
				return err
			}
			continue
		}
		word, err := r.word(all)
		switch {
		case err != nil:
			return err
		case len(c.args) == 0 && assignment.MatchString(word):
			c.env = append(c.env, word)
		default:
			c.args = append(c.args, word)
		}
	}
}

// closed parses commands and the closing parenthesis after them.
func (r *reader) closed(all *[]command) error {
	if err := r.list(all); err != nil {
		return err
	}
	if !strings.HasPrefix(r.text, ")") {
		return fmt.Errorf("a parenthesis is not closed")
	}
	r.text = r.text[1:]
	return nil
}

// word parses one word without its quotes. It replaces $(…) with "$()".
func (r *reader) word(all *[]command) (string, error) {
	var word strings.Builder
	for r.text != "" {
		switch c := r.text[0]; {
		case c == '\'' || c == '"':
			inside, rest, ok := strings.Cut(r.text[1:], string(c))
			if !ok {
				return "", fmt.Errorf("a quote is not closed")
			}
			word.WriteString(inside)
			r.text = rest
		case strings.HasPrefix(r.text, "$("):
			r.text = r.text[2:]
			if err := r.closed(all); err != nil {
				return "", err
			}
			word.WriteString("$()")
		case strings.ContainsRune(" \t\n&|;()", rune(c)):
			return word.String(), nil
		default:
			word.WriteByte(c)
			r.text = r.text[1:]
		}
	}
	return word.String(), nil
}

func TestCommands(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"make check  # before a push":                    "[make check]",
		"A=$(kubesim envtest) B='x y' go test ./...":     "[kubesim envtest] [A=$() B=x y go test ./...]",
		"(cd fake/ctrl && go mod edit -require=x@v1)":    "[cd fake/ctrl] [go mod edit -require=x@v1]",
		"kubesim sweep a --seeds 1:2 | kubectl apply -f": "[kubesim sweep a --seeds 1:2] [kubectl apply -f]",
		`go test -run '^$' -bench "." ./bench; x`:        "[go test -run ^$ -bench . ./bench] [x]",
		"# only a comment":                               "",
	} {
		is := is.New(t)
		all, err := commands(line)
		is.NoErr(err)
		var got []string
		for _, c := range all {
			got = append(got, "["+c.String()+"]")
		}
		is.Equal(strings.Join(got, " "), want)
	}
	for _, line := range []string{"go test '", "(cd x", "cd x)", "echo $(x"} {
		if all, err := commands(line); err == nil {
			t.Errorf("%s: %v, and no error", line, all)
		}
	}
}
