package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

var (
	errNoField = errors.New("does not refer to a valid field")
	errEnd     = errors.New("unexpected end of JSON path")
)

// FieldPath parses a path such as .spec.ports['http'] and follows it in a schema. It returns the path in the form that errors
// use, and the schema of the field. If the schema does not describe the field, that result is nil. brackets reports whether
// brackets are allowed. The errors are those of schema/cel.ValidFieldPath.
func FieldPath(text string, schema object.Object, brackets bool) (p field.Path, at object.Object, err error) {
	for text != "" {
		var name string
		if name, text, err = nextName(text, brackets); err != nil {
			return field.Path{}, nil, err
		}
		properties, more := schema.Map("properties"), schema["additionalProperties"]
		switch next, known := properties[name].(map[string]any); {
		case known:
			p, schema = p.Child(name), next
		case len(properties) == 0 && more != nil: // even if it is a boolean
			schema, _ = more.(map[string]any)
			p = p.Key(name)
		default:
			return field.Path{}, nil, errNoField
		}
	}
	return p, schema, nil
}

// nextName splits .name or ['name'] off the beginning of a path. Without brackets, only .name is allowed.
func nextName(s string, brackets bool) (name, rest string, err error) {
	begin, rest := nextToken(s)
	switch {
	case begin != "." && begin != "[":
		return "", "", errors.New("expected [ or . but got: " + begin)
	case begin == "[" && !brackets:
		return "", "", errors.New("array notation is not allowed")
	case rest == "":
		return "", "", errEnd
	}
	name, rest = nextToken(rest)
	if begin == "." {
		return name, rest, nil
	}
	if len(name) < 2 || name[0] != '\'' || name[len(name)-1] != '\'' {
		return "", "", errors.New("expected single quoted string but got " + name)
	}
	if name, err = unescapeQuoted(name[1 : len(name)-1]); err != nil {
		return "", "", err
	}
	end, rest := nextToken(rest)
	switch end {
	case "]":
		return name, rest, nil
	case "":
		return "", "", errEnd
	}
	return "", "", errors.New("expected ] but got " + end)
}

// nextToken returns the first token of a path and the rest. A token is a delimiter, a quoted string with its quotes, or the text
// before the next delimiter.
func nextToken(s string) (token, rest string) {
	if strings.HasPrefix(s, "'") {
		for i := 1; i < len(s); i++ {
			if s[i] == '\'' && s[i-1] != '\\' {
				return s[:i+1], s[i+1:]
			}
		}
		return s, ""
	}
	end := strings.IndexAny(s, ".[]")
	switch end {
	case -1:
		end = len(s)
	case 0:
		end = 1
	}
	return s[:end], s[end:]
}

var quotedEscapes = map[byte]byte{'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\'': '\'', '\\': '\\'}

func unescapeQuoted(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		c, ok := quotedEscapes[s[i]]
		if !ok {
			return "", fmt.Errorf(`invalid string literal: invalid escape char \%c`, s[i])
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}
