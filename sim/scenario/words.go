package scenario

import (
	"strings"

	"github.com/kubesim/kubesim/sim/scenario/condition"
)

// SyntaxError says what is wrong with a line, where, and how to mend it.
type SyntaxError = condition.SyntaxError

func wrong(column int, format string, args ...any) error {
	return condition.Wrong(column, format, args...)
}

// word is one word of a line.
type word struct {
	text   string
	column int  // of its first character, counted from 1
	quoted bool // some of it was in quotes: it is no flag, no !, no &
}

// split splits a line into words as a shell does: '…' is taken as it is, "…" knows \" and \\, and a # where a word
// would begin ends the line.
func split(line string) ([]word, error) {
	var words []word
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			i++
			continue
		case c == '#':
			return words, nil
		}
		w := word{column: i + 1}
		var text strings.Builder
		for i < len(line) && line[i] != ' ' && line[i] != '\t' {
			if c := line[i]; c != '\'' && c != '"' {
				text.WriteByte(c)
				i++
				continue
			}
			w.quoted = true
			n, err := condition.Unquote(&text, line, i)
			if err != nil {
				return nil, err
			}
			i = n
		}
		w.text = text.String()
		words = append(words, w)
	}
	return words, nil
}

// quoteWord prints a word so that split reads it back.
func quoteWord(text string, always bool) string {
	plain := text != "" && !always && !strings.ContainsAny(text, " \t'\"") && text[0] != '#'
	switch {
	case plain:
		return text
	case !strings.Contains(text, "'"):
		return "'" + text + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// uncomment returns a line without its comment: a # outside of quotes that begins a word.
func uncomment(line string) string {
	var quote byte
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return strings.TrimSpace(line[:i])
		}
	}
	return strings.TrimSpace(line)
}
