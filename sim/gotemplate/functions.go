package gotemplate

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"text/template/parse"
	"unicode"
)

// function is a function of templates. It has at least least arguments, and at most most, unless that is negative.
type function struct {
	least, most int
	run         func(args []any) (any, error)
	text        bool // the first argument must be a string
}

// functions are those of text/template that are meaningful for JSON, and exists and base64decode of kubectl.
var functions map[string]function

func init() {
	functions = map[string]function{
		"and": {least: 1, most: -1}, "or": {least: 1, most: -1}, // evaluated by state.shortCircuit
		"not":          {least: 1, most: 1, run: func(a []any) (any, error) { return !truth(a[0]), nil }},
		"len":          {least: 1, most: 1, run: length},
		"index":        {least: 1, most: -1, run: index},
		"slice":        {least: 1, most: 4, run: slice},
		"print":        {least: 0, most: -1, run: func(a []any) (any, error) { return fmt.Sprint(plain(a)...), nil }},
		"println":      {least: 0, most: -1, run: func(a []any) (any, error) { return fmt.Sprintln(plain(a)...), nil }},
		"printf":       {least: 1, most: -1, run: format, text: true},
		"html":         {least: 0, most: -1, run: func(a []any) (any, error) { return escapeHTML.Replace(joined(a)), nil }},
		"js":           {least: 0, most: -1, run: func(a []any) (any, error) { return escapeJS(joined(a)), nil }},
		"urlquery":     {least: 0, most: -1, run: func(a []any) (any, error) { return url.QueryEscape(joined(a)), nil }},
		"eq":           {least: 1, most: -1, run: equal},
		"ne":           {least: 2, most: 2, run: func(a []any) (any, error) { same, err := equal(a); return same == false, err }},
		"lt":           {least: 2, most: 2, run: order(func(c int) bool { return c < 0 })},
		"le":           {least: 2, most: 2, run: order(func(c int) bool { return c <= 0 })},
		"gt":           {least: 2, most: 2, run: order(func(c int) bool { return c > 0 })},
		"ge":           {least: 2, most: 2, run: order(func(c int) bool { return c >= 0 })},
		"exists":       {least: 1, most: -1, run: exists},
		"base64decode": {least: 1, most: 1, run: decode, text: true},
	}
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
	if f.run == nil {
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
	out, err := f.run(args)
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

func format(args []any) (any, error) {
	pattern, _ := args[0].(string)
	return fmt.Sprintf(pattern, plain(args[1:])...), nil
}

func length(args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		return len(v), nil
	case []any:
		return len(v), nil
	case map[string]any:
		return len(v), nil
	case nil:
		return nil, errors.New("len of nil pointer")
	case missing:
		return nil, errors.New("reflect: call of reflect.Value.Type on zero Value")
	}
	return nil, fmt.Errorf("len of type %T", args[0])
}

// index returns an element of nested lists and maps.
func index(args []any) (any, error) {
	value := args[0]
	if _, ok := value.(missing); ok || value == nil {
		return nil, errors.New("index of untyped nil")
	}
	for _, key := range args[1:] {
		switch v := value.(type) {
		case map[string]any:
			name, ok := key.(string)
			if !ok {
				return nil, fmt.Errorf("value has type %T; should be string", key)
			}
			if value, ok = v[name]; !ok {
				value = nil
			}
		case []any:
			i, err := position(key, len(v))
			if err != nil {
				return nil, err
			}
			if i == len(v) {
				return nil, errors.New("reflect: slice index out of range")
			}
			value = v[i]
		case string:
			i, err := position(key, len(v))
			if err != nil {
				return nil, err
			}
			if i == len(v) {
				return nil, errors.New("reflect: string index out of range")
			}
			value = int(v[i])
		case nil:
			return nil, errors.New("index of nil pointer")
		default:
			return nil, fmt.Errorf("can't index item of type %T", value)
		}
	}
	return value, nil
}

// position returns the value of an index, which is from 0 to n.
func position(key any, n int) (int, error) {
	i, ok := key.(int)
	switch {
	case !ok && (key == nil || key == any(missing{})):
		return 0, errors.New("cannot index slice/array with nil")
	case !ok:
		return 0, fmt.Errorf("cannot index slice/array with type %T", key)
	case i < 0 || i > n:
		return 0, fmt.Errorf("index out of range: %d", i)
	}
	return i, nil
}

// slice returns a part of a list or a string.
func slice(args []any) (any, error) {
	n := 0
	switch v := args[0].(type) {
	case string:
		if n = len(v); len(args) == 4 {
			return nil, errors.New("cannot 3-index slice a string")
		}
	case []any:
		n = len(v)
	case nil, missing:
		return nil, errors.New("slice of untyped nil")
	default:
		return nil, fmt.Errorf("can't slice item of type %T", args[0])
	}
	bounds := []int{0, n, n}
	for i, a := range args[1:] {
		at, err := position(a, n)
		if err != nil {
			return nil, err
		}
		bounds[i] = at
	}
	if bounds[0] > bounds[1] || bounds[1] > bounds[2] {
		return nil, fmt.Errorf("invalid slice index: %d > %d", bounds[0], bounds[1])
	}
	if v, ok := args[0].(string); ok {
		return v[bounds[0]:bounds[1]], nil
	}
	return args[0].([]any)[bounds[0]:bounds[1]:bounds[2]], nil
}

// kind returns the kind by which text/template compares values; "" for a missing value.
func kind(value any) string {
	switch value.(type) {
	case nil, missing:
		return ""
	case bool, string, int, float64:
		return fmt.Sprintf("%T", value)
	}
	return "other"
}

var errType = errors.New("invalid type for comparison")

func incompatible(a, b any) error {
	return fmt.Errorf("incompatible types for comparison: %T and %T", a, b)
}

// equal reports whether the first argument equals one of the others.
func equal(args []any) (any, error) {
	if len(args) == 1 {
		return false, errors.New("missing argument for comparison")
	}
	first := kind(args[0])
	for _, a := range args[1:] {
		switch k := kind(a); {
		case first == "other" || k == "other":
			if first == k {
				return false, fmt.Errorf("non-comparable type %v: %T", args[0], args[0])
			}
			if first != "" && k != "" {
				return false, incompatible(args[0], a)
			}
		case first != k:
			if first != "" && k != "" {
				return false, incompatible(args[0], a)
			}
		case k == "" || args[0] == a:
			return true, nil
		}
	}
	return false, nil
}

// order returns a function that compares two values and passes the result of the comparison to holds.
func order(holds func(int) bool) func([]any) (any, error) {
	return func(args []any) (any, error) {
		switch a := args[0].(type) {
		case string:
			if b, ok := args[1].(string); ok {
				return holds(strings.Compare(a, b)), nil
			}
		case int:
			if b, ok := args[1].(int); ok {
				return holds(cmp.Compare(a, b)), nil
			}
		case float64:
			if b, ok := args[1].(float64); ok {
				return holds(cmp.Compare(a, b)), nil
			}
		default:
			return false, errType
		}
		if k := kind(args[1]); k == "" || k == "other" {
			return false, errType
		}
		return false, incompatible(args[0], args[1])
	}
}

// exists implements kubectl's function exists: it reports whether index would find a value.
func exists(args []any) (any, error) {
	value := args[0]
	for _, key := range args[1:] {
		switch v := value.(type) {
		case map[string]any:
			name, _ := key.(string)
			var ok bool
			if value, ok = v[name]; !ok {
				return false, nil
			}
		case []any:
			i, ok := key.(int)
			if !ok || i < 0 || i >= len(v) {
				return false, nil
			}
			value = v[i]
		default:
			return false, nil
		}
	}
	return true, nil
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
