package gotemplate

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"text/template/parse"
	"unicode"
)

// signature describes a function of templates. It has at least least arguments, and at most most, unless that is negative.
type signature struct {
	least, most int
	text        bool // the first argument must be a string
}

// functions are those of text/template that are meaningful for JSON, and exists and base64decode of kubectl.
var functions = map[string]signature{
	"and": {least: 1, most: -1}, "or": {least: 1, most: -1}, "not": {least: 1, most: 1},
	"len": {least: 1, most: 1}, "index": {least: 1, most: -1}, "slice": {least: 1, most: 4},
	"print": {most: -1}, "println": {most: -1}, "printf": {least: 1, most: -1, text: true},
	"html": {most: -1}, "js": {most: -1}, "urlquery": {most: -1},
	"eq": {least: 1, most: -1}, "ne": {least: 2, most: 2},
	"lt": {least: 2, most: 2}, "le": {least: 2, most: 2}, "gt": {least: 2, most: 2}, "ge": {least: 2, most: 2},
	"exists": {least: 1, most: -1}, "base64decode": {least: 1, most: 1, text: true},
}

// result returns the result of a function, except and and or, which do not evaluate all their arguments.
func result(name string, args []any) (any, error) {
	switch name {
	case "not":
		return !truth(args[0]), nil
	case "len":
		return length(args[0])
	case "index":
		return index(args)
	case "slice":
		return slice(args)
	case "print":
		return fmt.Sprint(plain(args)...), nil
	case "println":
		return fmt.Sprintln(plain(args)...), nil
	case "printf":
		pattern, _ := args[0].(string)
		return fmt.Sprintf(pattern, plain(args[1:])...), nil
	case "html":
		return escapeHTML.Replace(joined(args)), nil
	case "js":
		return escapeJS(joined(args)), nil
	case "urlquery":
		return url.QueryEscape(joined(args)), nil
	case "eq":
		return equal(args)
	case "ne":
		same, err := equal(args)
		return !same, err
	case "exists":
		return exists(args), nil
	case "base64decode":
		return decode(args)
	}
	return order(name, args)
}

// function returns the result of a function. last is its last argument, if piped is set.
func (s *state) function(dot any, name *parse.IdentifierNode, c *parse.CommandNode, last any, piped bool) any {
	f := functions[name.Ident]
	n := len(c.Args) - 1
	if piped {
		n++
	}
	if n < f.least || f.most >= 0 && n > f.most {
		want := fmt.Sprint(f.least)
		if f.most < 0 {
			want = "at least " + want
		}
		s.fail("wrong number of args for %s: want %s got %d", name.Ident, want, n)
	}
	if name.Ident == "and" || name.Ident == "or" {
		return s.shortCircuit(dot, name.Ident == "or", c.Args[1:], last, piped)
	}
	var args []any
	for _, a := range c.Args[1:] {
		args = append(args, s.argument(dot, a))
	}
	if piped {
		args = append(args, last)
	}
	if f.text {
		s.requireText(c, args[0])
	}
	s.at = c
	out, err := result(name.Ident, args)
	if err != nil {
		s.fail("error calling %s: %s", name.Ident, err)
	}
	return out
}

// requireText fails unless the first argument of a call is a string.
func (s *state) requireText(c *parse.CommandNode, value any) {
	if len(c.Args) > 1 {
		s.at = c.Args[1]
	}
	switch value.(type) {
	case string:
	case nil, missing:
		s.fail("invalid value; expected string")
	default:
		s.fail("wrong type for value; expected string; got %T", value)
	}
}

// argument returns the value of an argument. Unlike a command, an argument may be nil.
func (s *state) argument(dot any, node parse.Node) any {
	if _, ok := node.(*parse.NilNode); ok {
		return missing{}
	}
	return s.value(dot, node)
}

// shortCircuit returns the first argument whose truth is until, or the last one.
func (s *state) shortCircuit(dot any, until bool, args []parse.Node, last any, piped bool) any {
	var value any
	for _, a := range args {
		if value = s.argument(dot, a); truth(value) == until {
			return value
		}
	}
	if piped {
		return last
	}
	return value
}

// truth reports whether a value is not the zero value of its type.
func truth(value any) bool {
	switch v := value.(type) {
	case nil, missing:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case int:
		return v != 0
	case float64:
		return v != 0
	case complex128:
		return v != 0
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// text returns the output of a value.
func text(value any) string {
	switch value.(type) {
	case nil, missing:
		return "<no value>"
	}
	return fmt.Sprint(value)
}

// plain returns arguments for the package fmt, where a missing value is nil.
func plain(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		if _, ok := a.(missing); !ok {
			out[i] = a
		}
	}
	return out
}

// joined returns the text of the arguments of html and urlquery.
func joined(args []any) string {
	if len(args) == 1 {
		if s, ok := args[0].(string); ok {
			return s
		}
	}
	out := plain(args)
	for i, a := range out {
		if a == nil {
			out[i] = "<no value>"
		}
	}
	return fmt.Sprint(out...)
}

var escapeHTML = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "'", "&#39;", "&", "&amp;", "<", "&lt;", ">", "&gt;")

// escapeJS escapes a text for a string of JavaScript.
func escapeJS(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\' || r == '\'' || r == '"':
			b.WriteString("\\" + string(r))
		case r < ' ' || strings.ContainsRune("<>&=", r) || r >= 0x7f && !unicode.IsPrint(r):
			fmt.Fprintf(&b, "\\u%04X", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// decode implements kubectl's function base64decode.
func decode(args []any) (any, error) {
	encoded, _ := args[0].(string)
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("base64 decode failed: %v", err)
	}
	return string(data), nil
}
