package scenario

import (
	"strings"

	"github.com/kubesim/kubesim/sim/scenario/condition"
	"github.com/kubesim/kubesim/sim/words"
)

// SyntaxError describes an error in a line, with its column and a correction.
type SyntaxError = condition.SyntaxError

func wrong(column int, format string, args ...any) error {
	return condition.Wrong(column, format, args...)
}

// word is one word of a line.
type word struct {
	text   string
	column int  // of its first character, counted from 1
	quoted bool // a part of it was in quotes, so it is not a flag, ! or &
}

// split splits a line into words.
func split(line string) ([]word, error) {
	list, err := words.Line.Split(line)
	if err != nil {
		return nil, condition.Unclosed(err)
	}
	out := make([]word, len(list))
	for i, w := range list {
		out[i] = word{w.Text, w.From + 1, w.Quoted}
	}
	return out, nil
}

// quoteWord prints a word so that split reads it back.
func quoteWord(text string, always bool) string { return words.Line.Quote(text, always) }

// uncomment returns a line without its comment: a # outside of quotes that begins a word.
func uncomment(line string) string {
	list, err := words.Line.Split(line)
	switch {
	case err != nil:
		return strings.TrimSpace(line)
	case len(list) == 0:
		return ""
	}
	return strings.TrimSpace(line[:list[len(list)-1].To])
}
