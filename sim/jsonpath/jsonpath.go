// Package jsonpath parses and evaluates the templates of kubectl's output format and the paths in printer columns of custom
// resources (Kubernetes documentation, "JSONPath Support"; client-go's util/jsonpath).
//
//	{range .items[*]}{.metadata.name}{"\n"}{end}
//	└─────┬─────────┘└──────┬───────┘└──┬──┘
//	     loop ──▶ body:    path         text
//
//	.status.conditions[?(@.type=="Ready")].status      a path: steps, each of which maps values to values
//	└field┘└──field──┘└─────filter──────┘└─field─┘
//
// Missing fields are ignored, as with --allow-missing-template-keys. A key in brackets is parsed like a field: ['a.b'] selects b in
// a, and ['a\.b'] selects "a.b". A string literal discards the result of the path before it in the same braces.
package jsonpath

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/object"
)

// Template is text that contains paths in braces.
type Template struct{ nodes []node }

// node is a part of a template: text, a path, or a range with the nodes that are evaluated for each of its values.
type node struct {
	text string
	path path // nil for text
	loop bool
	body []node
}

// Find evaluates the template for a decoded JSON value. It returns a list of values for each part of the template. The parts in a
// range are repeated for each iteration. Find returns an error in the same cases and with the same messages as client-go: for an
// index out of range, for values that cannot be compared, and for an end without a range.
func (t *Template) Find(value any) ([][]any, error) { return find(nil, t.nodes, value) }

func find(out [][]any, nodes []node, value any) ([][]any, error) {
	for _, n := range nodes {
		if n.path == nil {
			out = append(out, []any{n.text})
			continue
		}
		found, err := n.path.follow([]any{value})
		if err != nil {
			return nil, err
		}
		if !n.loop {
			out = append(out, found)
			continue
		}
		for _, v := range found {
			if out, err = find(out, n.body, v); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// Values evaluates a template that consists of a single path. If the evaluation fails, it returns nil.
func (t *Template) Values(value any) []any {
	parts, err := t.Find(value)
	if err != nil || len(parts) == 0 {
		return nil
	}
	return parts[0]
}

// Join formats the values of one part of a template, separated by spaces.
func Join(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = Text(v)
	}
	return strings.Join(texts, " ")
}

// Text formats a value: objects and lists as JSON, and all other values in Go's default format.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return v
	case map[string]any, []any:
		return string(object.JSON(v))
	}
	return fmt.Sprint(v)
}

// Parse parses a template. Its errors are those of client-go.
func Parse(text string) (*Template, error) {
	nodes, _, err := parseNodes(&scanner{rest: text}, false)
	return &Template{nodes}, err
}

// parseNodes parses nodes up to the end of the text or of the enclosing range.
func parseNodes(s *scanner, inRange bool) (nodes []node, ended bool, err error) {
	for s.rest != "" {
		open := strings.IndexByte(s.rest, '{')
		if open < 0 {
			open = len(s.rest)
		}
		if open > 0 {
			nodes = append(nodes, node{text: s.cut(open)})
			continue
		}
		s.cut(1)
		p, err := s.action()
		if err != nil {
			return nil, false, err
		}
		switch {
		case inRange && slices.Contains(p, step(word("end"))):
			return nodes, true, nil
		case slices.Contains(p, step(word("range"))):
			loop := node{path: p, loop: true}
			body, ended, err := parseNodes(s, true)
			if err != nil {
				return nil, false, err
			}
			loop.body = body
			if nodes = append(nodes, loop); !ended { // without an end, the rest is also evaluated once outside the range
				nodes = append(nodes, body...)
			}
		default:
			nodes = append(nodes, node{path: p})
		}
	}
	return nodes, false, nil
}

// scanner reads a template from its beginning.
type scanner struct{ rest string }

// cut removes and returns the first n bytes.
func (s *scanner) cut(n int) string {
	text := s.rest[:n]
	s.rest = s.rest[n:]
	return text
}

// took removes a prefix if it is present, and reports whether it was.
func (s *scanner) took(text string) bool {
	rest, ok := strings.CutPrefix(s.rest, text)
	s.rest = rest
	return ok
}

// while removes and returns the longest prefix of accepted characters.
func (s *scanner) while(accepted func(rune) bool) string {
	n := strings.IndexFunc(s.rest, func(r rune) bool { return !accepted(r) })
	if n < 0 {
		n = len(s.rest)
	}
	return s.cut(n)
}

// action parses the contents of braces, including the closing brace.
func (s *scanner) action() (path, error) {
	p := path{}
	for {
		steps, ended, err := s.next(p)
		if err != nil || ended {
			return p, err
		}
		p = append(p, steps...)
	}
}

// next parses the next steps of a path. before are the steps so far; ended is true at the closing brace.
func (s *scanner) next(before path) (steps path, ended bool, err error) {
	one := func(st step, err error) (path, bool, error) { return path{st}, false, err }
	switch {
	case s.took("}"):
		return nil, true, nil
	case s.took("[?("):
		return one(s.filter())
	case s.took(".."):
		if len(before) > 0 && before[len(before)-1] == step(below{}) {
			return nil, false, errors.New("invalid multiple recursive descent")
		}
		if r, _ := utf8.DecodeRuneInString(s.rest); isWordRune(r) {
			return path{below{}, s.field()}, false, nil
		}
		return path{below{}}, false, nil
	case s.rest == "" || s.rest[0] == '\n' || s.rest[0] == '\r':
		return nil, false, errors.New("unclosed action")
	case s.took(" "), s.took("@"), s.took("$"):
		return nil, false, nil
	case s.took("["):
		steps, err = s.array()
		return steps, false, err
	case s.rest[0] == '"' || s.rest[0] == '\'':
		return one(s.quoted())
	case s.took("."):
		return one(s.field(), nil)
	}
	r, _ := utf8.DecodeRuneInString(s.rest)
	switch {
	case r == '+' || r == '-' || unicode.IsDigit(r):
		return one(s.number())
	case !isWordRune(r):
		return nil, false, fmt.Errorf("unrecognized character in action: %#U", r)
	}
	text := s.while(func(r rune) bool { return !terminates(r) })
	if text == "true" || text == "false" {
		return one(constant{text == "true"}, nil)
	}
	return one(word(text), nil)
}

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// terminates reports whether a character ends a field name.
func terminates(r rune) bool { return strings.ContainsRune(" \t\r\n.,[]$@{}", r) }

// field parses the name of a field. A backslash escapes the next character.
func (s *scanner) field() step {
	escaped := false
	name := s.while(func(r rune) bool {
		wasEscaped := escaped
		escaped = r == '\\' && !wasEscaped
		return wasEscaped || !terminates(r)
	})
	if name == "*" {
		return all{}
	}
	return field(strings.ReplaceAll(name, `\`, ""))
}

// quoted parses a string literal in single or double quotes. It returns an error if the literal has no end or an invalid escape
// sequence.
func (s *scanner) quoted() (step, error) {
	quote := s.rest[0]
	for i := 1; i < len(s.rest) && s.rest[i] != '\n'; i++ {
		if s.rest[i] == quote && s.rest[i-1] != '\\' {
			text := s.cut(i + 1)
			value, err := unquote(text[1:i], quote)
			if err != nil {
				return nil, fmt.Errorf("unquote string %s error %w", text, err)
			}
			return constant{value}, nil
		}
	}
	return nil, errors.New("unterminated quoted string")
}

func unquote(text string, quote byte) (string, error) {
	var b strings.Builder
	for text != "" {
		r, multibyte, rest, err := strconv.UnquoteChar(text, quote)
		if err != nil {
			return "", err
		}
		if text = rest; r < utf8.RuneSelf || !multibyte {
			b.WriteByte(byte(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String(), nil
}

func (s *scanner) number() (step, error) {
	sign := ""
	if s.rest[0] == '+' || s.rest[0] == '-' {
		sign = s.cut(1)
	}
	text := sign + s.while(func(r rune) bool { return r == '.' || unicode.IsDigit(r) })
	if n, err := strconv.Atoi(text); err == nil {
		return constant{int64(n)}, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("cannot parse number %s", text)
	}
	return constant{n}, nil
}

// inner parses text as if it were enclosed in braces.
func inner(text string) (path, error) {
	t, err := Parse("{" + text + "}")
	if err != nil {
		return nil, err
	}
	return t.nodes[0].path, nil
}

// array parses the contents of brackets: an index, a slice, a key, a list of them, or *.
func (s *scanner) array() (path, error) {
	end := strings.IndexAny(s.rest, "]\n")
	if end < 0 || s.rest[end] == '\n' {
		return nil, errors.New("unterminated array")
	}
	text := s.cut(end + 1)[:end]
	if parts := strings.Split(text, ","); len(parts) > 1 {
		u := union{}
		for _, part := range parts {
			p, err := inner("[" + strings.Trim(part, " ") + "]")
			if err != nil {
				return nil, err
			}
			u = append(u, p)
		}
		return path{u}, nil
	}
	if key := strings.TrimSuffix(strings.TrimPrefix(text, "'"), "'"); len(key) == len(text)-2 && !strings.Contains(key, "'") {
		return inner("." + key)
	}
	if text == "*" {
		text = ":"
	}
	return parseSlice(text)
}

// parseSlice parses a slice FROM:TO:STEP or a single index. Each number of a slice may be missing.
func parseSlice(text string) (path, error) {
	parts := strings.Split(text, ":")
	for _, part := range parts {
		if strings.Trim(strings.TrimPrefix(part, "-"), "0123456789") != "" || len(parts) > 3 {
			return nil, fmt.Errorf("invalid array index %s", text)
		}
	}
	var bounds [3]bound
	for i, part := range parts {
		if part == "" {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("array index %s is not a number", part)
		}
		bounds[i] = bound{n, true}
	}
	return path{slice{bounds[0], bounds[1], bounds[2], len(parts) == 1}}, nil
}

// filter parses a condition, including its closing bracket. The condition is LEFT OP RIGHT, or a path alone, which selects the
// elements in which it exists.
func (s *scanner) filter() (step, error) {
	end, err := filterEnd(s.rest)
	if err != nil {
		return nil, err
	}
	text := s.cut(end)
	if s.cut(1); !s.took("]") {
		return nil, errors.New("unclosed array expect ]")
	}
	left, op, right := text, "", ""
	if at := strings.IndexAny(text, "!<>="); at > 0 {
		length := len(text) - at - len(strings.TrimLeft(text[at:], "!<>="))
		if at+length == len(text) { // there must be a right operand
			length--
		}
		if length > 0 {
			left, op, right = text[:at], text[at:at+length], text[at+length:]
		}
	}
	f := filter{op: op}
	if f.left, err = inner(left); err == nil && op != "" {
		f.right, err = inner(right)
	}
	return f, err
}

// filterEnd returns the index of the parenthesis that closes a filter. It ignores parentheses in the first string literal.
func filterEnd(text string) (int, error) {
	begun, ended, quote := false, false, byte(0)
	for i := 0; i < len(text) && text[i] != '\n'; i++ {
		switch c := text[i]; {
		case (c == '"' || c == '\'') && !begun:
			begun, quote = true, c
		case c == quote && text[i-1] != '\\':
			ended = true
		case c == ')' && begun == ended:
			return i, nil
		}
	}
	return 0, errors.New("unterminated filter")
}
