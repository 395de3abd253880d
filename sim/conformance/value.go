package conformance

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

var (
	placeholder = regexp.MustCompile(`\{\{([^}]+)\}\}`)
	repeatForm  = regexp.MustCompile(`^repeat:(\d+):(.*)`)
	plusForm    = regexp.MustCompile(`^rv\+(\d+):(.*)`)
)

// maxRepeat is larger than the largest request body that a server reads.
const maxRepeat = 1 << 24

// values holds the responses that a later step may refer to: step name -> JSON value, and "ns".
type values map[string]any

// subst replaces every {{expression}} in text with its value. It returns an error if a value does not exist.
func (vs values) subst(text string) (string, error) {
	var failed error
	out := placeholder.ReplaceAllStringFunc(text, func(m string) string {
		v, err := vs.lookup(strings.TrimSpace(m[2 : len(m)-2]))
		if err != nil && failed == nil {
			failed = err
		}
		return v
	})
	return out, failed
}

// lookup returns the value of one expression as text: repeat:N:text, rv+N:path or path. It returns an error if the path does not
// exist or N is too large.
func (vs values) lookup(expr string) (string, error) {
	if m := repeatForm.FindStringSubmatch(expr); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil || n > maxRepeat {
			return "", fmt.Errorf("{{repeat:%s}}: at most %d times", m[1], maxRepeat)
		}
		return strings.Repeat(m[2], n), nil
	}
	add := new(big.Int)
	if m := plusForm.FindStringSubmatch(expr); m != nil {
		add.SetString(m[1], 10)
		expr = m[2]
	}
	v, err := vs.at(expr)
	if err != nil {
		return "", err
	}
	text, isString := v.(string)
	if !isString {
		text = Encode(v, true)
	}
	if add.Sign() == 0 {
		return text, nil
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return "", fmt.Errorf("{{%s}}: %q is not a number", expr, text)
	}
	return n.Add(n, add).String(), nil
}

// at returns the value at step.path. Step names and JSON keys may contain dots: the longest matching prefix is used. It returns an
// error if there is no such value.
func (vs values) at(expr string) (any, error) {
	parts := strings.Split(expr, ".")
	for i := len(parts); i > 0; i-- {
		if v, ok := vs[strings.Join(parts[:i], ".")]; ok {
			return descend(v, parts[i:], expr)
		}
	}
	return nil, fmt.Errorf("{{%s}}: no earlier step has that name", expr)
}

func descend(v any, parts []string, expr string) (any, error) {
	for len(parts) > 0 {
		switch x := v.(type) {
		case *List:
			i, err := strconv.Atoi(parts[0])
			if err != nil || i < 0 || i >= len(x.Items) {
				return nil, fmt.Errorf("{{%s}}: no item %s", expr, parts[0])
			}
			v, parts = x.Items[i], parts[1:]
		case *Object:
			n := longestKey(x, parts)
			if n == 0 {
				return nil, fmt.Errorf("{{%s}}: no member %s", expr, parts[0])
			}
			v, parts = x.Members[strings.Join(parts[:n], ".")], parts[n:]
		default:
			return nil, fmt.Errorf("{{%s}}: nothing below %s", expr, Encode(v, false))
		}
	}
	return v, nil
}

// longestKey returns the number of parts in the longest key of o that is a prefix of parts.
func longestKey(o *Object, parts []string) int {
	for n := len(parts); n > 0; n-- {
		if o.Has(strings.Join(parts[:n], ".")) {
			return n
		}
	}
	return 0
}
