package kubectl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// template is a text with paths in braces (Kubernetes documentation, "JSONPath Support").
type template struct {
	nodes []node
}

// node is a part of a template: a text, a path, or a range with what is printed for each of its values.
type node struct {
	text  string
	steps []step // nil: a text
	body  []node // of a range
	loop  bool
}

// step is one step of a path: from a list of values to the next one.
type step struct {
	kind   byte // f: field, i: index or slice, *: all, r: all below, u: several steps side by side, ?: a filter, v: a literal
	field  string
	bounds [3]string // of i: from, to, by; to is "-" for a single index
	union  []step
	left   []step // of a filter
	right  []step
	op     string // of a filter; "": that left exists
	value  any    // of v
}

// parseTemplate reads the argument of -o jsonpath; a path without braces is one, too.
func parseTemplate(text string) (*template, error) {
	p := &pathParser{whole: text, rest: text}
	nodes, _, err := p.nodes(false)
	if err != nil {
		return nil, fmt.Errorf("error parsing jsonpath %s, %w", text, err)
	}
	return &template{nodes}, nil
}

// relaxed puts the braces and the dot around a path that flags such as --sort-by take: .a, {.a}, a.
func relaxed(path string) (*template, error) {
	inner := strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}")
	if inner == "" {
		return &template{[]node{{steps: []step{}}}}, nil
	}
	if strings.Contains(inner, "{") || strings.Contains(inner, "}") {
		return nil, fmt.Errorf("unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'")
	}
	return parseTemplate("{." + strings.TrimPrefix(inner, ".") + "}")
}

type pathParser struct{ whole, rest string }

// nodes reads up to the end of the text, or of a range.
func (p *pathParser) nodes(inside bool) (out []node, ended bool, err error) {
	for p.rest != "" {
		open := strings.IndexByte(p.rest, '{')
		if open < 0 {
			return append(out, node{text: p.rest}), false, nil
		}
		if open > 0 {
			out = append(out, node{text: p.rest[:open]})
		}
		action, rest, ok := cutAction(p.rest[open+1:])
		if !ok {
			return nil, false, fmt.Errorf("unclosed action")
		}
		p.rest = rest
		action = strings.TrimSpace(action)
		switch {
		case action == "end":
			if !inside {
				return nil, false, fmt.Errorf("not in range, nothing to end")
			}
			return out, true, nil
		case action == "range" || strings.HasPrefix(action, "range "):
			n := node{loop: true}
			if n.steps, err = parseSteps(strings.TrimSpace(action[len("range"):])); err != nil {
				return nil, false, err
			}
			if n.body, _, err = p.nodes(true); err != nil {
				return nil, false, err
			}
			out = append(out, n)
		case len(action) > 1 && (action[0] == '"' || action[0] == '\''):
			text, err := unquoted(action)
			if err != nil {
				return nil, false, err
			}
			out = append(out, node{text: text})
		default:
			steps, err := parseSteps(action)
			if err != nil {
				return nil, false, err
			}
			out = append(out, node{steps: steps})
		}
	}
	return out, false, nil
}

// cutAction cuts at the brace that ends an action.
func cutAction(text string) (action, rest string, ok bool) {
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '}':
			return text[:i], text[i+1:], true
		}
	}
	return "", "", false
}

// unquoted reads a text in quotes, with \n and \t.
func unquoted(text string) (string, error) {
	quote := text[0]
	if text[len(text)-1] != quote || len(text) < 2 {
		return "", fmt.Errorf("unterminated quoted string")
	}
	inner := text[1 : len(text)-1]
	if quote == '\'' {
		inner = strings.ReplaceAll(strings.ReplaceAll(inner, `\'`, `'`), `"`, `\"`)
	}
	out, err := strconv.Unquote(`"` + inner + `"`)
	if err != nil {
		return inner, nil
	}
	return out, nil
}

// parseSteps reads a path: .items[*].metadata.name, ..image, @.x, ['a','b'], [?(@.a==1)].
func parseSteps(text string) ([]step, error) {
	out := []step{}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "$"), "@")
	for text != "" {
		switch {
		case strings.HasPrefix(text, ".."):
			out = append(out, step{kind: 'r'})
			if text = text[1:]; strings.HasPrefix(text, ".[") {
				text = text[1:]
			}
		case text[0] == '.':
			name, rest := cutField(text[1:])
			text = rest
			switch name {
			case "":
			case "*":
				out = append(out, step{kind: '*'})
			default:
				out = append(out, step{kind: 'f', field: name})
			}
		case text[0] == '[':
			end := closing(text)
			if end < 0 {
				return nil, fmt.Errorf("unterminated array")
			}
			s, err := parseBracket(strings.TrimSpace(text[1:end]))
			if err != nil {
				return nil, err
			}
			out, text = append(out, s), text[end+1:]
		case text[0] == '*':
			out, text = append(out, step{kind: '*'}), text[1:]
		default:
			name, rest := cutField(text)
			if name == "" || len(out) > 0 {
				return nil, fmt.Errorf("unrecognized character in action: U+%04X '%c'", text[0], text[0])
			}
			out, text = append(out, step{kind: 'f', field: name}), rest
		}
	}
	return out, nil
}

// cutField reads the name of a field; a backslash lets a dot be part of it.
func cutField(text string) (name, rest string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case strings.IndexByte(".[ )=<>!", c) >= 0:
			return b.String(), text[i:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

// closing returns where the bracket that text begins with is closed, -1 if it is not.
func closing(text string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func parseBracket(text string) (step, error) {
	switch {
	case text == "*":
		return step{kind: '*'}, nil
	case strings.HasPrefix(text, "?("):
		return parseFilter(strings.TrimSuffix(text[2:], ")"))
	case strings.Contains(text, ",") && closing("["+text+"]") == len(text)+1:
		u := step{kind: 'u'}
		for _, part := range strings.Split(text, ",") {
			s, err := parseBracket(strings.TrimSpace(part))
			if err != nil {
				return s, err
			}
			u.union = append(u.union, s)
		}
		return u, nil
	case len(text) > 1 && (text[0] == '\'' || text[0] == '"'):
		name, err := unquoted(text)
		return step{kind: 'f', field: name}, err
	}
	s := step{kind: 'i'}
	parts := strings.Split(text, ":")
	if len(parts) > 3 {
		return s, fmt.Errorf("invalid array index %s", text)
	}
	for i, part := range parts {
		if _, err := strconv.Atoi(part); err != nil && (part != "" || len(parts) == 1) {
			return s, fmt.Errorf("invalid array index %s", text)
		}
		s.bounds[i] = part
	}
	if len(parts) == 1 {
		s.bounds[1] = "-"
	}
	return s, nil
}

// parseFilter reads what stands between ?( and ).
func parseFilter(text string) (s step, err error) {
	s.kind = '?'
	quote := byte(0)
	for i := 0; i < len(text) && s.op == ""; i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
			continue
		case c == '"' || c == '\'':
			quote = c
			continue
		}
		for _, op := range []string{"==", "!=", "<=", ">=", "<", ">"} {
			if !strings.HasPrefix(text[i:], op) {
				continue
			}
			if s.right, err = operand(text[i+len(op):]); err != nil {
				return s, err
			}
			s.op, text = op, text[:i]
			break
		}
	}
	s.left, err = operand(text)
	return s, err
}

// operand reads a side of a comparison: a path or a literal.
func operand(text string) ([]step, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, fmt.Errorf("unrecognized character in action: U+0028 '('")
	}
	if text[0] == '"' || text[0] == '\'' {
		value, err := unquoted(text)
		return []step{{kind: 'v', value: value}}, err
	}
	if value, err := object.ParseValue([]byte(text)); err == nil {
		return []step{{kind: 'v', value: value}}, nil
	}
	return parseSteps(text)
}
