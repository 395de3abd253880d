// Package jsonpath reads and evaluates the templates that kubectl prints with and whose paths printer columns of custom
// resources have (Kubernetes documentation, "JSONPath Support"; client-go's util/jsonpath).
//
//	{range .items[*]}{.metadata.name}{"\n"}{end}
//	└─────┬─────────┘└──────┬───────┘└──┬──┘
//	     loop ──▶ body:    path         text
//
//	.status.conditions[?(@.type=="Ready")].status      a path: steps, each of which maps values to values
//	└field┘└──field──┘└─────filter──────┘└field─┘
//
// A missing field is left out, as with --allow-missing-template-keys. A key in brackets is parsed like a field: ['a.b'] leads to b
// in a, and ['a\.b'] to "a.b". A text ends every path before it in the same braces.
package jsonpath

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// Template is a text with paths in braces.
type Template struct{ nodes []node }

// node is a part of a template: a text, a path, or a range with the nodes to print for each of its values.
type node struct {
	text string
	path path // nil for a text
	loop bool
	body []node
}

// Find evaluates the template for a value as decoded from JSON: a list of values for each of its parts, those of a range for
// each time it is gone through. It fails where client-go's does, with the same words: an index outside of its list, values
// that cannot be compared, an end without a range.
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

// Values evaluates a template that is one path. There are none where the path cannot be followed.
func (t *Template) Values(value any) []any {
	parts, err := t.Find(value)
	if err != nil || len(parts) == 0 {
		return nil
	}
	return parts[0]
}

// Join prints the values of a part, with spaces between them.
func Join(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = Text(v)
	}
	return strings.Join(texts, " ")
}

// Text prints a value: objects and lists as JSON, everything else as Go does.
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
