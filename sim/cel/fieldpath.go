package cel

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

var errNoField = errors.New("does not refer to a valid field")

// FieldPath reads a path such as .spec.ports['http'] and follows it through a schema. It returns the path as errors
// print it and the schema at its end. brackets says whether the form in brackets is allowed.
func FieldPath(text string, schema map[string]any, brackets bool) (field.Path, map[string]any, error) {
	var p field.Path
	for rest := text; rest != ""; {
		var name string
		var err error
		switch {
		case rest[0] == '[' && !brackets:
			return field.Path{}, nil, errors.New("array notation is not allowed")
		case rest[0] == '[':
			name, rest, err = bracketed(rest[1:])
		case rest[0] == '.':
			name, rest = identifier(rest[1:])
			if name == "" {
				err = errors.New("unexpected end of JSON path")
			}
		default:
			name, _ = identifier(rest)
			err = fmt.Errorf("expected [ or . but got: %s", name)
		}
		if err != nil {
			return field.Path{}, nil, err
		}
		if p, schema, err = descend(p, schema, name); err != nil {
			return field.Path{}, nil, err
		}
	}
	return p, schema, nil
}

// identifier cuts off text up to the next delimiter; a delimiter at the front is a name of its own.
func identifier(s string) (name, rest string) {
	end := strings.IndexAny(s, ".[]")
	switch {
	case end < 0:
		return s, ""
	case end == 0:
		return s[:1], s[1:]
	}
	return s[:end], s[end:]
}

// bracketed cuts off 'name'].
func bracketed(s string) (name, rest string, err error) {
	if s == "" {
		return "", "", errors.New("unexpected end of JSON path")
	}
	if s[0] != '\'' {
		name, _ = identifier(s)
		return "", "", fmt.Errorf("expected single quoted string but got %s", name)
	}
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '\'':
			if name, err = unescapeQuoted(s[1:i]); err != nil {
				return "", "", err
			}
			if rest = s[i+1:]; rest == "" {
				return "", "", errors.New("unexpected end of JSON path")
			}
			if rest[0] != ']' {
				return "", "", fmt.Errorf("expected ] but got %s", rest[:1])
			}
			return name, rest[1:], nil
		}
	}
	return "", "", fmt.Errorf("expected single quoted string but got %s", s)
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

func descend(p field.Path, schema map[string]any, name string) (field.Path, map[string]any, error) {
	o := object.Object(schema)
	if properties := o.Map("properties"); properties != nil {
		child, ok := properties[name].(map[string]any)
		if !ok {
			return field.Path{}, nil, errNoField
		}
		return p.Child(name), child, nil
	}
	if child := o.Map("additionalProperties"); child != nil {
		return p.Key(name), child, nil
	}
	return field.Path{}, nil, errNoField
}
