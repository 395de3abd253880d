// Package words splits a line into words like a shell.
//
//	line ─ Rules.Split ─▶ Word "kubectl"  Word "get"  Sign "|"  Word "grep"  Word "a b"
//
// '…' is always literal, "…" may contain escapes, and a # at the beginning of a word starts a comment. Rules contains the
// differences between a shell prompt and a line of a scenario.
package words

import (
	"fmt"
	"strings"
)

// Rules describes the syntax of a line.
type Rules struct {
	Signs     []string // words that need no surrounding space; longer ones precede their prefixes: << before <
	Escapes   string   // characters that a backslash escapes in double quotes
	Backslash bool     // whether a backslash outside of quotes escapes, too
}

// Shell is the syntax of a shell prompt.
var Shell = Rules{Signs: []string{"<<-", "<<", ">>", "&&", "||", "2>&1", "2>", "|", "<", ">", ";"}, Escapes: "\"\\$`", Backslash: true}

// Line is the syntax of a line of a scenario. It has no pipes, and a backslash outside of quotes is literal, because field paths
// may contain one.
var Line = Rules{Escapes: `"\`}

// Word is a word in a line, with its position.
type Word struct {
	Text     string
	From, To int  // position in the line
	Quoted   bool // whether a part of it was quoted or escaped
	Sign     bool // whether it is one of Rules.Signs
}

// UnclosedError reports a quote that is not closed.
type UnclosedError struct {
	At    int // position of the quote
	Quote byte
}

// Error implements error.
func (e *UnclosedError) Error() string { return fmt.Sprintf("the quote %c has no end", e.Quote) }

// Split returns the words of a line, without its comment. If a quote is not closed, it returns an *UnclosedError, and the words
// before the quote.
func (r Rules) Split(line string) (out []Word, err error) {
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			i++
			continue
		case c == '#':
			return out, nil
		}
		w := Word{From: i}
		if n := r.sign(line[i:]); n > 0 {
			w.Text, w.Sign = line[i:i+n], true
			i += n
		} else if i, err = r.word(&w, line, i); err != nil {
			return out, err
		}
		w.To = i
		out = append(out, w)
	}
	return out, nil
}

// sign returns the length of the sign at the beginning of text, or 0 if there is none.
func (r Rules) sign(text string) int {
	for _, s := range r.Signs {
		if strings.HasPrefix(text, s) {
			return len(s)
		}
	}
	return 0
}

// word parses the word at position i of a line and returns the position after it.
func (r Rules) word(w *Word, line string, i int) (end int, err error) {
	var b strings.Builder
	for start := i; i < len(line) && line[i] != ' ' && line[i] != '\t' && (r.sign(line[i:]) == 0 || line[i] == '2' && i > start); {
		switch c := line[i]; {
		case c == '\'' || c == '"':
			w.Quoted = true
			if i, err = r.Quoted(&b, line, i); err != nil {
				return 0, err
			}
		case c == '\\' && r.Backslash:
			if i+1 < len(line) {
				w.Quoted = true
				b.WriteByte(line[i+1])
			}
			i += 2
		default:
			b.WriteByte(c)
			i++
		}
	}
	w.Text = b.String()
	return min(i, len(line)), nil
}

// Quoted writes the contents of the quotes that begin at line[at], and returns the position after them. If the quote is not
// closed, it returns an *UnclosedError.
func (r Rules) Quoted(to *strings.Builder, line string, at int) (end int, err error) {
	quote := line[at]
	for i := at + 1; i < len(line); i++ {
		switch c := line[i]; {
		case c == quote:
			return i + 1, nil
		case c == '\\' && quote == '"' && i+1 < len(line) && strings.IndexByte(r.Escapes, line[i+1]) >= 0:
			i++
			to.WriteByte(line[i])
		default:
			to.WriteByte(c)
		}
	}
	return 0, &UnclosedError{at, quote}
}

// Quote returns text in quotes, so that Split returns it as one word. If always is false and text needs no quotes, Quote returns it
// unchanged.
func (r Rules) Quote(text string, always bool) string {
	split, err := r.Split(text)
	plain := err == nil && len(split) == 1 && split[0] == Word{Text: text, To: len(text)}
	switch {
	case plain && !always:
		return text
	case !strings.Contains(text, "'"):
		return "'" + text + "'"
	}
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(r.Escapes, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return `"` + b.String() + `"`
}
