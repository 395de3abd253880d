// Package condition implements the language of conditions, which expect, never, eventually, once and the rules of controllers use.
//
//	text ─ Parse ─▶ Condition ─ Holds(Scope) ─▶ holds or not, and why
//	                               │
//	                               ├─ World      the last answer, watches, actors, frames, promises
//	                               ├─ Objects    stored objects, or those of a cache
//	                               └─ Self       the object that has a field such as .spec.replicas
//
// The package does not depend on scenario.World; it uses the interfaces World and Reader.
//
// CEL cannot replace the language, for three reasons:
//
//	size     the engine that a page loads first does not include CEL. It has 2.34 MB on the wire, and would have 3.45 MB with CEL; its
//	         limit is 2.4 MB.
//	files    users' scenarios are in this language. There are 368 different conditions in this repository: 270 of them are errors in
//	         CEL, and 98 mean something else: pods/db-0 .spec.nodeName == node-1 is a division and a subtraction. A translation
//	         would need the parser and the subjects, two thirds of the package.
//	why      a condition explains why it does not hold, in the words of its text. A result of CEL does not.
package condition

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/words"
)

// Condition is a parsed condition:
//
//	status 409 Conflict                        the last answer; also: status == 200, reason, message, header Retry-After
//	method, path, client, replica              of its request: path contains resourceVersion=0; replica is the server
//	.metadata.name == a                        a field of the last answer, or of the object that a rule is about
//	.items[0].metadata.labels["a.io/b"] exists
//	.items[*].metadata.name contains a         [*] is the list of the field in every element
//	len .items == 2
//	pods/a .spec.nodeName != n1                a field of a stored object; pods/kube-system/a in another namespace
//	pods/a exists, pods/a absent
//	count pods -l app=x == 2                   stored objects; -n NAMESPACE, where CONDITION about each
//	every pods where .metadata.name != a .status.phase == Running
//	unique pods .spec.nodeName                 no two have the same value
//	leases/l .spec.renewTime older 15s         more than 15s ago, on the clock of the client
//	informer/x sees pods/a                     the cache of an informer or of a controller, like the store
//	informer/x count pods == 2, informer/x pods/a .spec.nodeName == n1, informer/x synced
//	watch/w saw DELETED a, watch/w count ADDED == 2, watch/w open, watch/w closed, watch/w error 410
//	watch/w rv == 4008, watch/w path contains allowWatchBookmarks    the revision of its last event, and its request
//	seen http.res 410 by alice                 a frame since the World began:
//	                                           KIND [CODE] [REASON or VERB] [by CLIENT] [on LANE]
//	seen watch.event DELETED on watch/w >= 2
//	waiting                                    a request waits for its answer
//	revision > 4005                            the store's
//	promises kept                              promises of package checker, since record; after heal, also that of delivery
//
// The comparisons are ==, !=, <, <=, >, >= and contains. The right side may also be a field:
// count pods == .spec.replicas. not, and, or and parentheses join conditions. A missing field equals nothing.
type Condition struct {
	text string
	root test
}

// test evaluates a part of a condition: it reports whether it holds, and the reason.
type test func(s *Scope) (bool, string)

// operand is a part of a condition with a value, which may be nil.
type operand struct {
	text  string
	value func(s *Scope) any
	fixed bool // the value is the one that the text says
}

// String returns the text that was parsed.
func (c *Condition) String() string { return c.text }

// Holds reports whether the condition holds, and why not, or why.
func (c *Condition) Holds(s Scope) (ok bool, why string, err error) {
	s.err = new(error)
	ok, why = c.root(&s)
	if *s.err != nil {
		return false, "", *s.err
	}
	return ok, why, nil
}

// Value is one side of a comparison by itself: a field, a count, or a literal.
type Value struct{ operand }

// String returns the text that was parsed.
func (v Value) String() string { return v.text }

// Of returns the value, or nil if there is none.
func (v Value) Of(s Scope) (any, error) {
	s.err = new(error)
	out := v.value(&s)
	return out, *s.err
}

// SyntaxError describes an error in a text, with its column and a correction.
type SyntaxError struct {
	Column int // of the character, counted from 1
	Text   string
}

// Error implements error: the text with its column.
func (e *SyntaxError) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Text) }

// Wrong returns a SyntaxError.
func Wrong(column int, format string, args ...any) error {
	return &SyntaxError{Column: column, Text: fmt.Sprintf(format, args...)}
}

// token is one word of a condition.
type token struct {
	text   string
	column int
	quoted bool
}

// Parse reads a condition that begins after the first columns of a line. Its error is a *SyntaxError.
func Parse(text string, columns int) (*Condition, error) {
	root, err := parse(text, columns, (*parser).or, "the condition ends before %q; join conditions with and, or")
	if err != nil {
		return nil, err
	}
	return &Condition{text: strings.TrimSpace(text), root: root}, nil
}

// ParseValue parses one side of a comparison. Its error is a *SyntaxError.
func ParseValue(text string, columns int) (Value, error) {
	o, err := parse(text, columns, func(p *parser) operand { return p.operand(false) }, "the value ends before %q")
	return Value{o}, err
}

// parse reads a whole text as one part of a condition. tooLong is the error when something follows it.
func parse[T any](text string, columns int, part func(*parser) T, tooLong string) (out T, err error) {
	tokens, err := tokenize(text, columns)
	if err != nil {
		return out, err
	}
	p := &parser{tokens: tokens, end: columns + len(text) + 1}
	out = part(p)
	if p.at < len(tokens) {
		p.fail(p.peek(), tooLong, p.peek().text)
	}
	return out, p.err
}

const operators = "=!<>"

// tokenize splits a condition: words, quoted texts, comparisons and parentheses.
func tokenize(text string, columns int) ([]token, error) {
	var out []token
	raw := false // the word before was -l: a selector is one word
	for i := 0; i < len(text); {
		c := text[i]
		start := i
		switch {
		case c == ' ' || c == '\t':
			i++
			continue
		case c == '#':
			return out, nil
		case c == '(' || c == ')':
			i++
		case c == '\'' || c == '"':
			var b strings.Builder
			end, err := words.Line.Quoted(&b, text, i)
			if err != nil {
				return nil, Shift(Unclosed(err), columns)
			}
			out = append(out, token{b.String(), columns + start + 1, true})
			i, raw = end, false
			continue
		case !raw && strings.IndexByte(operators, c) >= 0:
			for i < len(text) && strings.IndexByte(operators, text[i]) >= 0 {
				i++
			}
		default:
			end, err := wordEnd(text, i, raw)
			if err != nil {
				return nil, Shift(err, columns)
			}
			i = end
		}
		out = append(out, token{text[start:i], columns + start + 1, false})
		raw = text[start:i] == "-l"
	}
	return out, nil
}

// Shift moves the column of a *SyntaxError.
func Shift(err error, columns int) error {
	if e, ok := err.(*SyntaxError); ok {
		e.Column += columns
	}
	return err
}

// wordEnd returns where a word ends. Brackets and braces hold spaces and quotes.
func wordEnd(text string, at int, raw bool) (int, error) {
	for i := at; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == ')' && !raw || c == '(' && !raw:
			return i, nil
		case c == '=' && text[at] != '.' && i+1 < len(text) && strings.IndexByte("= ", text[i+1]) < 0: // limit=2 is one word
		case !raw && strings.IndexByte(operators, c) >= 0 || c == '\'' || c == '"':
			return i, nil
		case c == '[' && text[at] == '.':
			end := strings.IndexByte(text[i:], ']')
			if end < 0 {
				return 0, Wrong(i+1, "the bracket has no end; put a ] after it")
			}
			i += end
		case strings.HasPrefix(text[i:], "{{"):
			end := strings.Index(text[i:], "}}")
			if end < 0 {
				return 0, Wrong(i+1, "{{ has no end; put }} after it")
			}
			i += end + 1
		}
	}
	return len(text), nil
}

// Unclosed returns the error of a quote without an end as a SyntaxError with its column, and any other error unchanged.
func Unclosed(err error) error {
	if e, ok := err.(*words.UnclosedError); ok {
		return Wrong(e.At+1, "the quote %c has no end; put another one where the text ends", e.Quote)
	}
	return err
}

// IsVariable reports whether a text is known only when an operation is carried out.
func IsVariable(text string) bool { return strings.Contains(text, "$") || strings.Contains(text, "{{") }
