package crd

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// jsonPath is the path of a printer column: a list of steps, each of which turns values into values below them
// (Kubernetes documentation, "JSONPath Support").
//
//	.spec.list[0].name   .status.conditions[?(@.type=="Ready")].status   .metadata.annotations.a\.b/c   ..name   [*]   [1:3]
type jsonPath []step

type step func(values []any) []any

// valuesMax bounds how many values a step may lead to.
const valuesMax = 10_000

// first returns the first value of the path.
func (p jsonPath) first(v any) (any, bool) {
	values := []any{v}
	for _, s := range p {
		if values = s(values); len(values) == 0 {
			return nil, false
		}
		if len(values) > valuesMax {
			values = values[:valuesMax]
		}
	}
	return values[0], true
}

// parsePath reads a path. ok is false where the real server cannot read it either.
func parsePath(text string) (p jsonPath, ok bool) {
	for text != "" {
		var s step
		switch {
		case strings.HasPrefix(text, ".."):
			p = append(p, descend)
			text = text[1:]
			continue
		case text == ".":
			return p, true
		case strings.HasPrefix(text, ".["):
			text = text[1:]
			continue
		case text[0] == '.':
			name, rest := pathName(text[1:])
			if name == "" {
				return nil, false
			}
			s, text = member(name), rest
			if name == "*" {
				s = wildcard
			}
		case text[0] == '[':
			end := closing(text)
			if end < 0 {
				return nil, false
			}
			if s = bracket(text[1:end]); s == nil {
				return nil, false
			}
			text = text[end+1:]
		default:
			return nil, false
		}
		p = append(p, s)
	}
	return p, true
}

// pathName reads a name up to the next step; a backslash takes the character after it as it is.
func pathName(text string) (name, rest string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '.', '[':
			return b.String(), text[i:]
		case '\\':
			if i++; i < len(text) {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

// closing returns where the bracket that text begins with is closed, or -1.
func closing(text string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '[':
			depth++
		case c == ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// bracket reads what stands between brackets; nil: it cannot be read.
func bracket(text string) step {
	text = strings.TrimSpace(text)
	switch {
	case text == "*":
		return wildcard
	case strings.HasPrefix(text, "?(") && strings.HasSuffix(text, ")"):
		return filter(text[2 : len(text)-1])
	case strings.Contains(text, ",") && strings.Count(text, "'") != 2 && strings.Count(text, `"`) != 2: // not in one name
		return union(strings.Split(text, ","))
	case len(text) > 1 && (text[0] == '\'' || text[0] == '"'):
		name, ok := literal(text)
		if s, isText := name.(string); ok && isText {
			return member(s)
		}
		return nil
	}
	return slice(text)
}

// union reads ['a','b'], [0,2] and the like: what each part leads to, in turn.
func union(parts []string) step {
	steps := make([]step, len(parts))
	for i, part := range parts {
		if steps[i] = bracket(part); steps[i] == nil {
			return nil
		}
	}
	return func(values []any) (out []any) {
		for _, s := range steps {
			out = append(out, s(values)...)
		}
		return out
	}
}

func member(name string) step {
	return func(values []any) (out []any) {
		for _, v := range values {
			if m, ok := v.(map[string]any); ok {
				if x, ok := m[name]; ok {
					out = append(out, x)
				}
			}
		}
		return out
	}
}

func wildcard(values []any) (out []any) {
	for _, v := range values {
		switch v := v.(type) {
		case []any:
			out = append(out, v...)
		case map[string]any:
			for _, name := range object.SortedKeys(v) {
				out = append(out, v[name])
			}
		}
	}
	return out
}

// descend returns the values and everything below them.
func descend(values []any) (out []any) {
	for _, v := range values {
		if len(out) > valuesMax {
			break
		}
		out = append(out, v)
		out = append(out, descend(wildcard([]any{v}))...)
	}
	return out
}

// slice reads an index or start:end:step of a list.
func slice(text string) step {
	parts := strings.Split(text, ":")
	if len(parts) > 3 {
		return nil
	}
	var n [3]int
	var given [3]bool
	for i, part := range parts {
		if part == "" && len(parts) > 1 {
			continue
		}
		x, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		n[i], given[i] = x, true
	}
	return func(values []any) (out []any) {
		for _, v := range values {
			list, ok := v.([]any)
			if !ok {
				continue
			}
			from, to, by := n[0], n[1], 1
			if from < 0 {
				from += len(list)
			}
			switch {
			case len(parts) == 1:
				to = from + 1
			case !given[1]:
				to = len(list)
			case to < 0:
				to += len(list)
			}
			if given[2] && n[2] > 0 {
				by = n[2]
			}
			for i := max(from, 0); i < min(to, len(list)) && from >= 0; i += by {
				out = append(out, list[i])
			}
		}
		return out
	}
}

// operators of a filter; longer ones first.
var operators = []string{"==", "!=", "<=", ">=", "<", ">"}

// filter reads a condition on the items of a list: @.a.b OP value, or @.a.b alone for items that have it.
func filter(text string) step {
	text = strings.TrimSpace(text)
	left, op, right := text, "", ""
	for _, o := range operators {
		if i := outside(text, o); i >= 0 {
			left, op, right = strings.TrimSpace(text[:i]), o, strings.TrimSpace(text[i+len(o):])
			break
		}
	}
	a, ok := operand(left)
	if !ok {
		return nil
	}
	b := func(any) (any, bool) { return nil, true }
	if op != "" {
		if b, ok = operand(right); !ok {
			return nil
		}
	}
	return func(values []any) (out []any) {
		for _, item := range wildcard(values) {
			x, ok := a(item)
			y, ok2 := b(item)
			if !ok || !ok2 {
				continue
			}
			isTrue, comparable := true, true
			if op != "" {
				isTrue, comparable = holds(x, op, y)
			}
			switch {
			case !comparable: // then the whole path leads to nothing
				return nil
			case isTrue:
				out = append(out, item)
			}
		}
		return out
	}
}

// outside finds op in text, not inside of quotes.
func outside(text, op string) int {
	quote := byte(0)
	for i := 0; i+len(op) <= len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.HasPrefix(text[i:], op):
			return i
		}
	}
	return -1
}

// operand reads one side of a condition.
func operand(text string) (value func(item any) (any, bool), ok bool) {
	if rest, isPath := strings.CutPrefix(text, "@"); isPath {
		p, ok := parsePath(rest)
		return p.first, ok
	}
	v, ok := literal(text)
	return func(any) (any, bool) { return v, true }, ok
}

func literal(text string) (any, bool) {
	if len(text) > 1 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0] {
		return strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\"`, `"`).Replace(text[1 : len(text)-1]), true
	}
	if text == "true" || text == "false" {
		return text == "true", true
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}

// holds reports whether a comparison is true, and ok whether the values can be compared: two strings, two whole numbers, two
// other numbers, or two booleans for equality.
func holds(a any, op string, b any) (holds, ok bool) {
	var order int
	switch x := a.(type) {
	case string:
		order, ok = orderOf(x, b)
	case int64:
		order, ok = orderOf(x, b)
	case float64:
		order, ok = orderOf(x, b)
	case bool:
		y, isBool := b.(bool)
		return (op == "==") == (x == y), isBool && (op == "==" || op == "!=")
	}
	switch op {
	case "==":
		return order == 0, ok
	case "!=":
		return order != 0, ok
	case "<=":
		return order <= 0, ok
	case ">=":
		return order >= 0, ok
	case "<":
		return order < 0, ok
	}
	return order > 0, ok
}

// orderOf compares a value with another of its type, ok false for one of another type.
func orderOf[T cmp.Ordered](a T, other any) (order int, ok bool) {
	b, ok := other.(T)
	return cmp.Compare(a, b), ok
}

// printValue prints a value as text: objects and lists as JSON, everything else as Go does.
func printValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "<no value>"
	case string:
		return v
	case map[string]any, []any:
		return string(object.JSON(v))
	}
	return fmt.Sprint(v)
}
