package openapi

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// toV2 converts an OpenAPI 3 schema to OpenAPI 2, which has no oneOf, anyOf, not or nullable, but allows siblings of a reference.
// Like the real server, it omits defaults.
func toV2(s map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range object.SortedKeys(s) {
		switch key {
		case "default", "nullable", "oneOf", "anyOf", "not":
		case "allOf":
			if all, ok := s[key].([]any); ok && len(all) == 1 {
				if one, ok := all[0].(map[string]any); ok && one["$ref"] != nil {
					out["$ref"] = refToV2(one["$ref"])
				}
			}
		case "$ref":
			out[key] = refToV2(s[key])
		case "properties":
			out[key] = eachToV2(s[key])
		case "items", "additionalProperties":
			out[key] = anyToV2(s[key])
		default:
			out[key] = s[key]
		}
	}
	if s["nullable"] == true { // a nullable value has no type in OpenAPI 2
		delete(out, "type")
		delete(out, "items")
		delete(out, "properties")
	}
	if s[preserves] == true { // otherwise kubectl would reject unknown fields
		delete(out, "items")
		delete(out, "properties")
	}
	if out["type"] == "array" && out["items"] == nil || out["type"] == "object" && s[preserves] == true {
		delete(out, "type")
	}
	if list := asList(s["required"]); list != nil {
		list = slices.DeleteFunc(slices.Clone(list), func(name any) bool {
			text, _ := name.(string)
			return object.As(object.As(s["properties"])[text])["nullable"] == true
		})
		if out["required"] = list; len(list) == 0 {
			delete(out, "required")
		}
	}
	if s["oneOf"] != nil && s["type"] == nil && s["x-kubernetes-int-or-string"] == nil { // IntOrString, Quantity
		out["type"] = "string"
	}
	return out
}

func anyToV2(v any) any {
	if m, ok := v.(map[string]any); ok {
		return toV2(m)
	}
	return v // additionalProperties: true
}

func eachToV2(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for _, name := range object.SortedKeys(m) {
		out[name] = anyToV2(m[name])
	}
	return out
}

func refToV2(ref any) any {
	text, ok := ref.(string)
	if !ok {
		return ref
	}
	return refV2 + strings.TrimPrefix(text, refV3)
}
