package scenario

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/words"
)

// SyntaxError says what is wrong with a line, where, and how to mend it.
type SyntaxError struct {
	Column int // of the character, counted from 1
	Text   string
}

// Error returns the text with its column.
func (e *SyntaxError) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Text) }

func wrong(column int, format string, args ...any) error {
	return &SyntaxError{Column: column, Text: fmt.Sprintf(format, args...)}
}

// lineRules are the rules of a line. It has no pipes, and a backslash outside of quotes is text: it stands in paths of fields.
var lineRules = words.Rules{Escapes: `"\`}

// word is one word of a line.
type word struct {
	text   string
	column int  // of its first character, counted from 1
	quoted bool // some of it was in quotes: it is no flag, no !, no &
}

// split splits a line into words.
func split(line string) ([]word, error) {
	list, err := lineRules.Split(line)
	if err != nil {
		return nil, unclosed(err)
	}
	out := make([]word, len(list))
	for i, w := range list {
		out[i] = word{w.Text, w.From + 1, w.Quoted}
	}
	return out, nil
}

// unclosed returns the error of a quote that has no end with its column.
func unclosed(err error) error {
	if e, ok := err.(*words.UnclosedError); ok {
		return wrong(e.At+1, "%s; put another one where the text ends", e)
	}
	return err
}

// unquote reads the quoted text that begins at line[at] and returns where it ends.
func unquote(to *strings.Builder, line string, at int) (end int, err error) {
	end, err = lineRules.Quoted(to, line, at)
	return end, unclosed(err)
}

// quoteWord prints a word so that split reads it back.
func quoteWord(text string, always bool) string { return lineRules.Quote(text, always) }

// uncomment returns a line without its comment: a # outside of quotes that begins a word.
func uncomment(line string) string {
	list, err := lineRules.Split(line)
	switch {
	case err != nil:
		return strings.TrimSpace(line)
	case len(list) == 0:
		return ""
	}
	return strings.TrimSpace(line[:list[len(list)-1].To])
}
