// Package condition implements the language of conditions. The operations expect, never, eventually and once and the
// rules of controllers use it.
//
//	text ─ Parse ─▶ Condition ─ Holds(Scope) ─▶ holds or not, and why
//	                               │
//	                               ├─ World      the last response, watches, actors, frames, promises
//	                               ├─ Objects    objects in the store or in a cache
//	                               └─ Self       the object whose fields, such as .spec.replicas, are read
//
// The package does not depend on scenario.World; it uses the interfaces World and Reader.
//
// Three reasons speak against replacing the language by CEL:
//
//	size     The engine that a page loads first does not include CEL. Its compressed size is 2.34 MB, and would be 3.45 MB with CEL;
//	         the limit is 2.4 MB.
//	files    Users' scenarios use this language. This repository contains 368 different conditions: 270 of them are errors in CEL, and
//	         98 have another meaning: pods/db-0 .spec.nodeName == node-1 is a division and a subtraction. A translator would need
//	         the parser and the subjects, two thirds of the package.
//	why      A condition explains why it does not hold, in the words of its text. CEL does not.
package condition

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/words"
)

// Condition is a parsed condition:
//
//	status 409 Conflict                        the last response; also: status == 200, reason, message, header Retry-After
//	method, path, client, replica              its request: path contains resourceVersion=0; replica is the server
//	.metadata.name == a                        a field of the last response, or of the object that a rule handles
//	.items[0].metadata.labels["a.io/b"] exists
//	.items[*].metadata.name contains a         [*] collects the field of all elements in a list
//	len .items == 2
//	pods/a .spec.nodeName != n1                a field of a stored object; pods/kube-system/a in another namespace
//	pods/a exists, pods/a absent               whether a stored object exists
//	count pods -l app=x == 2                   the number of stored objects; also: -n NAMESPACE, where CONDITION for each object
//	every pods where .metadata.name != a .status.phase == Running
//	unique pods .spec.nodeName                 no two objects have the same value
//	leases/l .spec.renewTime older 15s         more than 15s ago, on the clock of the client
//	informer/x sees pods/a                     the object is in the cache of an informer or a controller
//	informer/x count pods == 2, informer/x pods/a .spec.nodeName == n1, informer/x synced
//	watch/w saw DELETED a, watch/w count ADDED == 2, watch/w open, watch/w closed, watch/w error 410
//	watch/w rv == 4008, watch/w path contains allowWatchBookmarks    the revision of its last event; its request
//	seen http.res 410 by alice                 there was such a frame since the World began:
//	                                           KIND [CODE] [REASON or VERB] [by CLIENT] [on LANE]
//	seen watch.event DELETED on watch/w >= 2
//	waiting                                    a request is waiting for its response
//	revision > 4005                            the newest revision of the store
//	promises kept                              promises of package checker, since record; after heal, also that all events are delivered
//
// The comparisons are ==, !=, <, <=, >, >= and contains. The right side may also be a field: count pods ==
// .spec.replicas. Conditions can be combined with not, and, or and parentheses. A missing field does not equal any
// value except null.
type Condition struct {
	text string
	root test
}

// test evaluates part of a condition. It reports whether that part holds, and explains the result.
type test func(s *Scope) (bool, string)

// operand is a part of a condition with a value. The value may be nil.
type operand struct {
	text  string
	value func(s *Scope) any
	fixed bool // the value is a literal
}

// String returns the text that was parsed.
func (c *Condition) String() string { return c.text }

// Holds evaluates the condition. why explains the result. It returns an error if the condition cannot be evaluated, for example
// because a resource does not exist.
func (c *Condition) Holds(s Scope) (ok bool, why string, err error) {
	s.err = new(error)
	ok, why = c.root(&s)
	if *s.err != nil {
		return false, "", *s.err
	}
	return ok, why, nil
}

// Value is a single side of a comparison: a field, a count, or a literal.
type Value struct{ operand }

// String returns the text that was parsed.
func (v Value) String() string { return v.text }

// Of returns the value, or nil if there is none.
func (v Value) Of(s Scope) (any, error) {
	s.err = new(error)
	out := v.value(&s)
	return out, *s.err
}

// SyntaxError is a syntax error in a line or a condition, with its column and a suggested correction.
type SyntaxError struct {
	Column int // the column of the first invalid character, counted from 1
	Text   string
}

// Error implements error. The message contains the column.
func (e *SyntaxError) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Text) }

// Wrong returns a SyntaxError with a formatted message.
func Wrong(column int, format string, args ...any) error {
	return &SyntaxError{Column: column, Text: fmt.Sprintf(format, args...)}
}

// token is one word of a condition.
type token struct {
	text   string
	column int
	quoted bool
}

// Parse parses a condition. columns is the number of columns that precede it in its line. The error is a *SyntaxError.
func Parse(text string, columns int) (*Condition, error) {
	root, err := parse(text, columns, (*parser).or, "the condition ends before %q; join conditions with and, or")
	if err != nil {
		return nil, err
	}
	return &Condition{text: strings.TrimSpace(text), root: root}, nil
}

// ParseValue is like Parse, but for one side of a comparison.
func ParseValue(text string, columns int) (Value, error) {
	o, err := parse(text, columns, func(p *parser) operand { return p.operand(false) }, "the value ends before %q")
	return Value{o}, err
}

// parse uses part to parse text. If part does not consume all of text, parse returns an error with the message tooLong.
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

// tokenize splits a condition into words, quoted strings, comparisons and parentheses.
func tokenize(text string, columns int) ([]token, error) {
	var out []token
	raw := false // the previous word was -l: a selector is one word
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

// Shift adds columns to the column of a *SyntaxError. Other errors are unchanged.
func Shift(err error, columns int) error {
	if e, ok := err.(*SyntaxError); ok {
		e.Column += columns
	}
	return err
}

// wordEnd returns the end of a word. Brackets and braces may contain spaces and quotes.
func wordEnd(text string, at int, raw bool) (int, error) {
	for i := at; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == ')' && !raw || c == '(' && !raw:
			return i, nil
		case c == '=' && text[at] != '.' && i+1 < len(text) && strings.IndexByte("= ", text[i+1]) < 0: // = is not a separator here: limit=2 is one word
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

// Unclosed converts the error for an unclosed quote to a SyntaxError with its column. Other errors are unchanged.
func Unclosed(err error) error {
	if e, ok := err.(*words.UnclosedError); ok {
		return Wrong(e.At+1, "the quote %c has no end; put another one where the text ends", e.Quote)
	}
	return err
}

// IsVariable reports whether text contains a variable or a placeholder, so that its value is known only when the
// operation runs.
func IsVariable(text string) bool { return strings.Contains(text, "$") || strings.Contains(text, "{{") }
