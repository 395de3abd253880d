package openapi

import (
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

const (
	refV3 = "#/components/schemas/"
	refV2 = "#/definitions/"
	meta  = "io.k8s.apimachinery.pkg.apis.meta.v1."
)

// The descriptions of fields that all kinds have.
const (
	apiVersionText = "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
	kindText       = "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
	metadataText   = "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
	listMetaText   = "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
)

// writer generates schemas and collects the names of the definitions that they refer to.
type writer struct {
	*Source
	part Part     // of the document; the zero value stands for the document of all groups
	todo []string // definition names, without duplicates
	seen map[string]bool
}

// schemas returns the component schemas of the operations, including indirect references.
func (s *Source) schemas(ops []operation, defs []*resource.Definition, p Part) map[string]any {
	w := &writer{Source: s, part: p, seen: map[string]bool{}}
	for i := range ops {
		w.ref(ops[i].body)
		w.ref(ops[i].result)
	}
	out := map[string]any{}
	for _, def := range defs {
		if def.Custom {
			w.custom(def, out)
		}
	}
	for i := 0; i < len(w.todo); i++ {
		name := w.todo[i]
		if t := s.Schema.Named(name); t != nil && out[name] == nil {
			out[name] = w.definition(t)
		}
	}
	return out
}

// ref returns a reference to a definition, and records that the document needs the definition.
func (w *writer) ref(name string) map[string]any {
	if name != "" && !w.seen[name] {
		w.seen[name] = true
		w.todo = append(w.todo, name)
	}
	return map[string]any{"$ref": refV3 + name}
}

// definition returns the schema of a named type, including its description.
func (w *writer) definition(t *schema.Type) map[string]any {
	out := w.undescribed(t)
	set(out, "description", w.Schema.Description(t.Name, ""))
	return out
}

// undescribed returns the schema of a named type without its description.
func (w *writer) undescribed(t *schema.Type) map[string]any {
	switch t.Kind {
	case schema.Struct:
		return w.structure(t)
	case schema.IntOrString:
		return map[string]any{"format": "int-or-string", "oneOf": []any{typed("integer"), typed("string")}}
	case schema.Quantity:
		return map[string]any{"oneOf": []any{typed("string"), typed("number")}}
	case schema.Time, schema.MicroTime:
		return map[string]any{"format": "date-time", "type": "string"}
	case schema.FieldsV1, schema.RawExtension:
		return typed("object")
	case schema.Any:
		return map[string]any{}
	}
	return w.shape(&schema.Type{Kind: t.Kind, Bits: t.Bits, Elem: t.Elem})
}

func typed(name string) map[string]any { return map[string]any{"type": name} }

func (w *writer) structure(t *schema.Type) map[string]any {
	out := typed("object")
	props, required := map[string]any{}, []any{}
	for i := range t.Fields {
		f := &t.Fields[i]
		props[f.Name] = w.property(t, f)
		if f.Required {
			required = append(required, f.Name)
		}
	}
	if len(props) > 0 {
		out["properties"] = props
	}
	if len(required) > 0 {
		out["required"] = required
	}
	set(out, "x-kubernetes-map-type", t.MapType)
	if unions, err := object.ParseValue([]byte(t.Unions)); err == nil {
		out["x-kubernetes-unions"] = unions
	}
	if list := w.kindsOf(t); len(list) > 0 {
		out["x-kubernetes-group-version-kind"] = kinds(list...)
	}
	return out
}

// kinds returns the x-kubernetes-group-version-kind extension of a definition.
func kinds(list ...schema.GVK) []any {
	out := make([]any, len(list))
	for i, k := range list {
		out[i] = kindObject(k)
	}
	return out
}

func kindObject(k schema.GVK) map[string]any {
	return map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind}
}

func set(m map[string]any, key, value string) {
	if value != "" {
		m[key] = value
	}
}

// property returns the schema of a field. Because a reference may not have siblings, it is wrapped in an allOf.
func (w *writer) property(t *schema.Type, f *schema.Field) map[string]any {
	out := w.shape(f.Type)
	if out["$ref"] != nil && !f.PlainRef {
		out = map[string]any{"allOf": []any{out}}
	}
	if !f.PlainRef {
		set(out, "description", w.describe(t, f.Name))
	}
	set(out, "format", f.Format)
	set(out, "x-kubernetes-list-type", f.ListType)
	set(out, "x-kubernetes-map-type", f.MapType)
	set(out, "x-kubernetes-patch-merge-key", f.PatchMergeKey)
	set(out, "x-kubernetes-patch-strategy", strings.Join(f.PatchStrategy, ","))
	if len(f.MapKeys) > 0 {
		out["x-kubernetes-list-map-keys"] = object.FromStrings(f.MapKeys)
	}
	if len(f.Enum) > 0 {
		value(out)["enum"] = object.FromStrings(f.Enum)
	} else {
		lateEnum(t, f.Name, out)
	}
	if f.Default != nil {
		out["default"] = f.Default
	}
	return out
}

func (w *writer) describe(t *schema.Type, field string) string {
	if len(t.GVKs) > 0 && field == "kind" {
		return kindText
	}
	if len(t.GVKs) > 0 && field == "apiVersion" {
		return apiVersionText
	}
	return w.Schema.Description(t.Name, field)
}

// value returns the schema of the scalars in a property: of the property itself or, for a list or map, of its innermost elements.
func value(property map[string]any) map[string]any {
	for {
		inner, ok := property["items"].(map[string]any)
		if !ok {
			inner, ok = property["additionalProperties"].(map[string]any)
		}
		if !ok {
			return property
		}
		property = inner
	}
}

// shape returns the schema of a type for use in a property.
func (w *writer) shape(t *schema.Type) map[string]any {
	if t.Name != "" && t.Published {
		return w.ref(t.Name)
	}
	switch t.Kind {
	case schema.Struct:
		return w.structure(t)
	case schema.List:
		return map[string]any{"type": "array", "items": w.element(t.Elem)}
	case schema.Map:
		return map[string]any{"type": "object", "additionalProperties": w.element(t.Elem)}
	case schema.Bool:
		return typed("boolean")
	case schema.Int:
		if t.Bits == 32 {
			return map[string]any{"type": "integer", "format": "int32"}
		}
		return map[string]any{"type": "integer", "format": "int64"}
	case schema.Float:
		return map[string]any{"type": "number", "format": "double"}
	case schema.Bytes:
		return map[string]any{"type": "string", "format": "byte"}
	case schema.String, schema.Duration:
		return typed("string")
	}
	return w.undescribed(&schema.Type{Kind: t.Kind})
}

// element returns the schema of the elements of a list or map. In older releases it has the zero value of the Go type as its
// default, unless the type has its own JSON encoding.
func (w *writer) element(t *schema.Type) map[string]any {
	out := w.shape(t)
	if w.Schema.Release().PlainElements {
		return out
	}
	switch t.Kind {
	case schema.Struct:
		if out["$ref"] != nil {
			return map[string]any{"allOf": []any{out}, "default": map[string]any{}}
		}
	case schema.String:
		out["default"] = ""
	case schema.Bool:
		out["default"] = false
	case schema.Int, schema.Float:
		out["default"] = int64(0)
	}
	return out
}
