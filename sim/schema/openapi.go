package schema

import "slices"

// OpenAPI returns the type as an OpenAPI schema without references. It has types, formats, properties and items only. A field of
// any type has no type, nor has a Quantity. A struct inside itself has no properties there.
func (t *Type) OpenAPI() map[string]any { return t.openAPI(nil) }

func (t *Type) openAPI(within []*Type) map[string]any {
	switch t.Kind {
	case Struct:
		s := map[string]any{"type": "object"}
		if slices.Contains(within, t) {
			return s
		}
		properties := map[string]any{}
		for i := range t.Fields {
			f := &t.Fields[i]
			properties[f.Name] = f.Type.openAPI(append(within, t))
		}
		s["properties"] = properties
		return s
	case Map:
		return map[string]any{"type": "object", "additionalProperties": t.Elem.openAPI(within)}
	case List:
		return map[string]any{"type": "array", "items": t.Elem.openAPI(within)}
	case Bool:
		return map[string]any{"type": "boolean"}
	case Int:
		return map[string]any{"type": "integer"}
	case Float:
		return map[string]any{"type": "number"}
	case Bytes:
		return map[string]any{"type": "string", "format": "byte"}
	case Time, MicroTime:
		return map[string]any{"type": "string", "format": "date-time"}
	case String, Duration:
		return map[string]any{"type": "string"}
	case IntOrString:
		return map[string]any{"x-kubernetes-int-or-string": true}
	case RawExtension, FieldsV1:
		return map[string]any{"type": "object"}
	}
	return map[string]any{} // Quantity, Any
}
