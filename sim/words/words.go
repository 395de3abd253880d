// Package words splits a line into words as a shell does.
//
//	line ─ Rules.Split ─▶ Word "kubectl"  Word "get"  Sign "|"  Word "grep"  Word "a b"
//
// '…' is always literal, "…" may have escapes, and a # where a word would begin ends the line. The differences between the prompt
// of a shell and a line of a scenario are in Rules.
package words

import (
	"fmt"
	"strings"
)

// Rules are the syntax of a line.
type Rules struct {
	Signs     []string // words that need no space around them, a longer one before its beginnings: << before <
	Escapes   string   // the characters that a backslash in double quotes escapes
	Backslash bool     // a backslash outside of quotes escapes, too
}

// Shell are the rules of a prompt.
var Shell = Rules{Signs: []string{"<<-", "<<", ">>", "&&", "||", "2>&1", "|", "<", ">", ";"}, Escapes: "\"\\$`", Backslash: true}

// Line are the rules of a line of a scenario. It has no pipes, and a backslash outside of quotes is text: it stands in paths of fields.
var Line = Rules{Escapes: `"\`}

// Word is one word of a line.
type Word struct {
	Text     string
	From, To int  // where it is in the line
	Quoted   bool // a part of it was in quotes or escaped
	Sign     bool // it is one of Rules.Signs
}

// UnclosedError is the error of a line with a quote that has no end.
type UnclosedError struct {
	At    int // where the quote is
	Quote byte
}

// Error implements error.
func (e *UnclosedError) Error() string { return fmt.Sprintf("the quote %c has no end", e.Quote) }

// Split returns the words of a line, without its comment. Its error is an *UnclosedError; the words before the quote come with it.
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

// sign returns the length of the sign at the beginning of a text, 0 without one.
func (r Rules) sign(text string) int {
	for _, s := range r.Signs {
		if strings.HasPrefix(text, s) {
			return len(s)
		}
	}
	return 0
}

// word reads the word at line[i] and returns its end.
func (r Rules) word(w *Word, line string, i int) (end int, err error) {
	var b strings.Builder
	for i < len(line) && line[i] != ' ' && line[i] != '\t' && r.sign(line[i:]) == 0 {
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

// Quoted writes the text of the quotes at line[at] and returns their end. Its error is an *UnclosedError.
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

// Quote returns a text in quotes, so that Split returns it as one word. A text that is a word without quotes stays as it is unless
// always is set.
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
