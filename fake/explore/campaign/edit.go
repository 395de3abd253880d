package campaign

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// RandomPatch draws a merge patch for the spec of an object. It usually changes one field of the schema, at any depth,
// and sometimes several: it removes the field or sets it to a value that the schema allows. Numbers are within their
// bounds, and mostly close to a bound or to the current value.
func RandomPatch(r *rand.Rand, o Object) []byte {
	var s, spec map[string]any
	decode(o.Schema, &s)
	decode(o.Spec, &spec)
	patch := patchOf(r, s, spec)
	for r.IntN(3) == 0 {
		maps.Copy(patch, patchOf(r, s, spec))
	}
	data, _ := json.Marshal(map[string]any{"spec": patch}) // cannot fail: only maps, strings, numbers and lists
	return data
}

// decode decodes a JSON object with numbers as json.Number. If data is not an object, it sets *into to nil.
func decode(data []byte, into *map[string]any) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(into) != nil {
		*into = nil
	}
}

// patchOf draws a patch for an object with the schema s and the current value now.
func patchOf(r *rand.Rand, s, now map[string]any) map[string]any {
	properties, _ := s["properties"].(map[string]any)
	names := object.SortedKeys(properties)
	if len(names) == 0 {
		return map[string]any{}
	}
	name := names[r.IntN(len(names))]
	property, _ := properties[name].(map[string]any)
	required, _ := s["required"].([]any)
	_, there := now[name]
	if there && !slices.Contains(required, any(name)) && r.IntN(4) == 0 {
		return map[string]any{name: nil}
	}
	if inner, ok := property["properties"].(map[string]any); ok && len(inner) > 0 {
		below, _ := now[name].(map[string]any)
		patch := patchOf(r, property, below)
		if !there { // a new object must have its required fields
			for field, value := range objectOf(r, property) {
				if _, set := patch[field]; !set {
					patch[field] = value
				}
			}
		}
		return map[string]any{name: patch}
	}
	return map[string]any{name: valueOf(r, property, now[name])}
}

// editedList draws a list from the current one, with the schema of its items: it removes, adds or changes one item. Values in an item
// that is an object change like fields of a spec.
func editedList(r *rand.Rand, items map[string]any, now []any) []any {
	list := slices.Clone(now)
	at := r.IntN(len(list))
	switch r.IntN(4) {
	case 0:
		return slices.Delete(list, at, at+1)
	case 1:
		return append(list, valueOf(r, items, nil))
	}
	item, ok := list[at].(map[string]any)
	if patch := patchOf(r, items, item); ok && len(patch) > 0 {
		list[at] = merged(item, patch)
	} else {
		list[at] = valueOf(r, items, list[at])
	}
	return list
}

// merged applies a merge patch to an object, and returns the result.
func merged(obj, patch map[string]any) map[string]any {
	out := maps.Clone(obj)
	if out == nil {
		out = map[string]any{}
	}
	for name, value := range patch { // the order does not matter: the result is a map
		inner, ok := value.(map[string]any)
		switch current, _ := out[name].(map[string]any); {
		case value == nil:
			delete(out, name)
		case ok:
			out[name] = merged(current, inner)
		default:
			out[name] = value
		}
	}
	return out
}

// objectOf draws an object with the required fields of the schema s.
func objectOf(r *rand.Rand, s map[string]any) map[string]any {
	out := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range required {
		text, _ := name.(string)
		if property, ok := properties[text].(map[string]any); ok {
			out[text] = valueOf(r, property, nil)
		}
	}
	return out
}

// itemsMost limits the number of additional items in a generated list.
const itemsMost = 3

// valueOf draws a value for the schema s; now is the current value.
func valueOf(r *rand.Rand, s map[string]any, now any) any {
	if enum, ok := s["enum"].([]any); ok && len(enum) > 0 {
		return enum[r.IntN(len(enum))]
	}
	kind, _ := s["type"].(string)
	if kind == "" && s["x-kubernetes-int-or-string"] == true {
		kind = "integer"
	}
	switch kind {
	case "boolean":
		return r.IntN(2) == 0
	case "integer", "number":
		return numberOf(r, s, now)
	case "string":
		return textOf(r, s, now)
	case "array":
		items, _ := s["items"].(map[string]any)
		if current, _ := now.([]any); len(current) > 0 && r.IntN(4) > 0 {
			return editedList(r, items, current)
		}
		list := make([]any, length(s, "minItems")+r.IntN(itemsMost))
		for i := range list {
			list[i] = valueOf(r, items, nil)
		}
		return list
	case "object":
		if values, ok := s["additionalProperties"].(map[string]any); ok {
			return map[string]any{words[r.IntN(len(words))]: valueOf(r, values, nil)}
		}
		return objectOf(r, s)
	}
	return words[r.IntN(len(words))]
}

// numberOf draws an integer: a bound, the current value or a neighbour of it, or a small number.
func numberOf(r *rand.Rand, s map[string]any, now any) int64 {
	low, high := int64(bounded(s, "minimum", 0)), int64(bounded(s, "maximum", 1000))
	n := low + r.Int64N(6)
	switch current, ok := now.(json.Number); r.IntN(4) {
	case 0:
		n = low
	case 1:
		if _, has := s["maximum"]; has {
			n = high
		}
	case 2:
		if x, err := current.Int64(); ok && err == nil {
			n = x + r.Int64N(3) - 1
		}
	}
	return min(max(n, low), max(high, low))
}

// bounded returns the value of a numeric keyword of a schema. If the schema does not contain the keyword, it returns
// the given default.
func bounded(s map[string]any, name string, otherwise int) int {
	n, ok := s[name].(json.Number)
	if !ok {
		return otherwise
	}
	f, _ := n.Float64()
	return int(f)
}

// lengthMost limits the length of generated strings and lists, even if the schema requires more.
const lengthMost = 1000

// length returns a minimum length from a schema.
func length(s map[string]any, name string) int { return min(max(bounded(s, name, 0), 0), lengthMost) }

// words are strings that most fields allow.
var words = []string{"a", "b", "alpha", "beta", "x-1", "example.com"}

// textOf draws a string: a common word, or the current value with a digit appended, like another version.
func textOf(r *rand.Rand, s map[string]any, now any) string {
	text, _ := now.(string)
	switch format, _ := s["format"].(string); {
	case format == "date-time":
		return "2026-01-01T00:00:00Z"
	case format == "duration":
		return "10s"
	case text != "" && r.IntN(2) == 0:
		return text + string(rune('1'+r.IntN(9)))
	}
	text = words[r.IntN(len(words))]
	if missing := length(s, "minLength") - len(text); missing > 0 {
		text += strings.Repeat("a", missing)
	}
	return text
}
