package lesson

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/scenario"
)

// gone stands for a value that no longer exists.
const gone = "…"

// fill replaces each {{…}} in text with its current value:
//
//	{{listed}}          the value that a line "let listed = …" has stored; {{revision}} is the newest revision of the store
//	{{listed+1}}        a number plus one
//	{{cm/paint.rv}}     the resourceVersion of a stored object
//	{{cm/paint .data.color}}, {{count pods}}, {{.metadata.name}}    any other value of sim/scenario
//
// The text is complete even if fill returns an error: values that cannot be evaluated are replaced with "…".
func fill(w *scenario.World, text string) (string, error) {
	var out strings.Builder
	var first error
	for {
		before, rest, begins := strings.Cut(text, "{{")
		out.WriteString(before)
		if !begins {
			return out.String(), first
		}
		value, after, ends := strings.Cut(rest, "}}")
		if !ends {
			return out.String(), fmt.Errorf("{{%s has no end", rest)
		}
		text = after
		v, err := liveValue(w, value)
		if err != nil {
			v = gone
			if first == nil {
				first = err
			}
		}
		out.WriteString(v)
	}
}

// liveValue evaluates one placeholder: the name of a variable, OBJECT.rv (its resourceVersion), or an expression of World.Value.
// The first two may be followed by +NUMBER.
func liveValue(w *scenario.World, text string) (string, error) {
	text = strings.TrimSpace(text)
	name, plus, added := strings.Cut(text, "+")
	switch {
	case isName(name):
		name = "$" + name
	case strings.HasSuffix(name, ".rv"):
		name = strings.TrimSuffix(name, ".rv") + " .metadata.resourceVersion"
	default:
		return w.Value(text)
	}
	v, err := w.Value(name)
	if err != nil || !added {
		return v, err
	}
	a, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return "", fmt.Errorf("{{%s}}: %s is not a number", text, v)
	}
	b, err := strconv.ParseInt(plus, 10, 64)
	if err != nil {
		return "", fmt.Errorf("{{%s}}: %s is not a number", text, plus)
	}
	return strconv.FormatInt(a+b, 10), nil
}

// isName reports whether text is a valid variable name.
func isName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
}

// pretend replaces each {{…}} with a number, so that a line or a condition can be parsed before there is a World.
func pretend(text string) string {
	for {
		before, rest, begins := strings.Cut(text, "{{")
		_, after, ends := strings.Cut(rest, "}}")
		if !begins || !ends {
			return text
		}
		text = before + "1" + after
	}
}
