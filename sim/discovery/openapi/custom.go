package openapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// customName returns the definition name of a custom kind. For example, CronTab in stable.example.com/v1 has the name
// com.example.stable.v1.CronTab.
func customName(k schema.GVK) string {
	parts := strings.Split(k.Group, ".")
	slices.Reverse(parts)
	return strings.Join(append(parts, k.Version, k.Kind), ".")
}

// custom adds the schemas of a custom resource's kind and list kind to out.
func (w *writer) custom(def *resource.Definition, out map[string]any) {
	name := customName(def.GVK)
	root := w.customSchema(def)
	const selectable = "x-kubernetes-selectable-fields"
	fields := root[selectable]
	v2 := w.part.Key == ""
	opaque := v2 && root[preserves] == true // otherwise kubectl would reject unknown fields
	w.complete(root, v2)
	props := map[string]any{}
	if have, ok := root["properties"].(map[string]any); ok {
		props = maps.Clone(have)
	}
	props["apiVersion"] = map[string]any{"type": "string", "description": apiVersionText}
	props["kind"] = map[string]any{"type": "string", "description": kindText}
	props["metadata"] = w.described(meta+"ObjectMeta", metadataText)
	root["properties"] = props
	if opaque {
		root = typed("object")
	}
	root["x-kubernetes-group-version-kind"] = kinds(def.GVK)
	out[name] = root

	list := def.GVK
	list.Kind = def.ListKind()
	listing := map[string]any{
		"type":        "object",
		"description": def.ListKind() + " is a list of " + def.Kind,
		"required":    []any{"items"},
		"properties": map[string]any{
			"apiVersion": props["apiVersion"],
			"kind":       props["kind"],
			"metadata":   w.described(meta+"ListMeta", listMetaText),
			"items": map[string]any{
				"type":        "array",
				"items":       map[string]any{"$ref": refV3 + name},
				"description": "List of " + def.Resource + ". More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md",
			},
		},
		"x-kubernetes-group-version-kind": kinds(list),
	}
	out[customName(list)] = listing
	if fields != nil {
		root[selectable], listing[selectable] = fields, fields
	}
}

const preserves = "x-kubernetes-preserve-unknown-fields"

// complete extends a schema and its subschemas with the constraints that their extensions imply: an IntOrString may have one of two
// types, and an embedded resource has a kind, an apiVersion and metadata.
func (w *writer) complete(s map[string]any, v2 bool) {
	props, _ := s["properties"].(map[string]any)
	for _, name := range object.SortedKeys(props) {
		w.complete(object.As(props[name]), v2)
	}
	for _, inner := range []any{s["items"], s["additionalProperties"]} {
		if m := object.As(inner); m != nil {
			w.complete(m, v2)
		}
	}
	if s["x-kubernetes-int-or-string"] == true && s["anyOf"] == nil {
		s["anyOf"] = []any{typed("integer"), typed("string")}
	}
	if s["x-kubernetes-embedded-resource"] != true || v2 && s[preserves] == true {
		return
	}
	if props == nil {
		props = map[string]any{}
		s["properties"] = props
	}
	props["apiVersion"] = map[string]any{"type": "string", "description": embeddedVersionText}
	props["kind"] = map[string]any{"type": "string", "description": embeddedKindText}
	props["metadata"] = w.described(meta+"ObjectMeta", metadataText)
	required := slices.Clone(asList(s["required"]))
	for _, name := range []string{"kind", "apiVersion"} {
		if !slices.Contains(required, any(name)) {
			required = append(required, name)
		}
	}
	s["required"] = required
}

// The descriptions of the fields of an embedded resource.
const (
	embeddedVersionText = "apiVersion defines the versioned schema of this representation of an object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
	embeddedKindText    = "kind is a string value representing the type of this object. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
)

// described returns a reference with a description.
func (w *writer) described(name, text string) map[string]any {
	return map[string]any{"allOf": []any{w.ref(name)}, "description": text}
}

// customSchema returns the schema of a custom kind. Its top level is a copy that the caller may modify.
func (w *writer) customSchema(def *resource.Definition) map[string]any {
	if w.Custom != nil {
		if root := w.Custom(def); root != nil {
			return maps.Clone(map[string]any(root))
		}
	}
	var t *schema.Type
	if def.Type != nil {
		t = def.Type()
	}
	if t == nil || t.Kind != schema.Struct {
		return map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	}
	return w.structure(t)
}
