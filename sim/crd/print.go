package crd

import (
	"maps"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// printVersions returns spec.versions in the form that errors use: the JSON encoding of the real server's internal Go structs.
func printVersions(s *spec) any {
	if s.List("versions") == nil {
		return nil
	}
	out := make([]any, len(s.versions))
	for i, m := range s.Objects("versions") {
		x, own := s.versions[i], maps.Clone(map[string]any(m))
		hoisted := map[string]bool{"schema": x.schema == nil, "subresources": x.sub == nil,
			"additionalPrinterColumns": x.columns == nil, "selectableFields": x.fields == nil}
		maps.DeleteFunc(own, func(name string, _ any) bool { return hoisted[name] })
		out[i] = own
	}
	return field.Raw(printField(nil, "versions", out))
}

// printed is a field of a Go struct: its Go name, its JSON name, and its encoded zero value.
type printed struct{ name, json, zero string }

var (
	versionFields = []printed{{"Name", "name", `""`}, {"Served", "served", "false"}, {"Storage", "storage", "false"},
		{"Deprecated", "deprecated", "false"}, {"DeprecationWarning", "deprecationWarning", "null"}, {"Schema", "schema", "null"},
		{"Subresources", "subresources", "null"}, {"AdditionalPrinterColumns", "additionalPrinterColumns", "null"},
		{"SelectableFields", "selectableFields", "null"}}
	columnFields = []printed{{"Name", "name", `""`}, {"Type", "type", `""`}, {"Format", "format", `""`},
		{"Description", "description", `""`}, {"Priority", "priority", "0"}, {"JSONPath", "jsonPath", `""`}}
	selectableFields  = []printed{{"JSONPath", "jsonPath", `""`}}
	subresourceFields = []printed{{"Status", "status", "null"}, {"Scale", "scale", "null"}}
	scaleFields       = []printed{{"SpecReplicasPath", "specReplicasPath", `""`}, {"StatusReplicasPath", "statusReplicasPath", `""`},
		{"LabelSelectorPath", "labelSelectorPath", "null"}}
	ruleFields = []printed{{"Rule", "rule", `""`}, {"Message", "message", `""`}, {"MessageExpression", "messageExpression", `""`},
		{"Reason", "reason", "null"}, {"FieldPath", "fieldPath", `""`}, {"OptionalOldSelf", "optionalOldSelf", "null"}}
	docFields = []printed{{"Description", "description", `""`}, {"URL", "url", `""`}}

	schemaFields = []printed{
		{"ID", "id", `""`}, {"Schema", "$schema", `""`}, {"Ref", "$ref", "null"}, {"Description", "description", `""`},
		{"Type", "type", `""`}, {"Nullable", "nullable", "false"}, {"Format", "format", `""`}, {"Title", "title", `""`},
		{"Default", "default", "null"}, {"Maximum", "maximum", "null"}, {"ExclusiveMaximum", "exclusiveMaximum", "false"},
		{"Minimum", "minimum", "null"}, {"ExclusiveMinimum", "exclusiveMinimum", "false"}, {"MaxLength", "maxLength", "null"},
		{"MinLength", "minLength", "null"}, {"Pattern", "pattern", `""`}, {"MaxItems", "maxItems", "null"},
		{"MinItems", "minItems", "null"}, {"UniqueItems", "uniqueItems", "false"}, {"MultipleOf", "multipleOf", "null"},
		{"Enum", "enum", "null"}, {"MaxProperties", "maxProperties", "null"}, {"MinProperties", "minProperties", "null"},
		{"Required", "required", "null"}, {"Items", "items", "null"}, {"AllOf", "allOf", "null"}, {"OneOf", "oneOf", "null"},
		{"AnyOf", "anyOf", "null"}, {"Not", "not", "null"}, {"Properties", "properties", "null"},
		{"AdditionalProperties", "additionalProperties", "null"}, {"PatternProperties", "patternProperties", "null"},
		{"Dependencies", "dependencies", "null"}, {"AdditionalItems", "additionalItems", "null"},
		{"Definitions", "definitions", "null"}, {"ExternalDocs", "externalDocs", "null"}, {"Example", "example", "null"},
		{"XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", "null"},
		{"XEmbeddedResource", "x-kubernetes-embedded-resource", "false"}, {"XIntOrString", "x-kubernetes-int-or-string", "false"},
		{"XListMapKeys", "x-kubernetes-list-map-keys", "null"}, {"XListType", "x-kubernetes-list-type", "null"},
		{"XMapType", "x-kubernetes-map-type", "null"}, {"XValidations", "x-kubernetes-validations", "null"},
	}
)

// structs are the fields that are structs, by JSON name, and lists are the fields that are lists of structs. printField
// handles schemas separately.
var (
	structs = map[string][]printed{"subresources": subresourceFields, "status": nil, "scale": scaleFields, "externalDocs": docFields}
	lists   = map[string][]printed{"versions": versionFields, "additionalPrinterColumns": columnFields,
		"selectableFields": selectableFields, "x-kubernetes-validations": ruleFields}
)

func printStruct(b []byte, m map[string]any, fields []printed) []byte {
	b = append(b, '{')
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), f.name...), `":`...)
		if v := m[f.json]; v != nil {
			b = printField(b, f.json, v)
		} else {
			b = append(b, f.zero...)
		}
	}
	return append(b, '}')
}

func printList(b []byte, v any, each func([]byte, any) []byte) []byte {
	list, _ := v.([]any)
	b = append(b, '[')
	for i, x := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = each(b, x)
	}
	return append(b, ']')
}

// printMap appends a map to b. each appends a value.
func printMap(b []byte, v any, each func([]byte, any) []byte) []byte {
	m := object.As(v)
	b = append(b, '{')
	for i, name := range object.SortedKeys(m) {
		if i > 0 {
			b = append(b, ',')
		}
		b = each(append(object.AppendString(b, name), ':'), m[name])
	}
	return append(b, '}')
}

// printDependency appends a dependency to b: a schema or a list of properties.
func printDependency(b []byte, v any) []byte {
	list, _ := v.([]any)
	b = append(printSchema(append(b, `{"Schema":`...), v), `,"Property":`...)
	if list == nil {
		return append(b, "null}"...)
	}
	return append(object.AppendJSON(b, list), '}')
}

// printSchema appends a schema to b. A missing schema is printed as null.
func printSchema(b []byte, schema any) []byte {
	m := object.As(schema)
	if m == nil {
		return append(b, "null"...)
	}
	return printStruct(b, m, schemaFields)
}

// printField appends the field with the given JSON name to b. The field must be set.
func printField(b []byte, name string, v any) []byte {
	if fields, ok := structs[name]; ok {
		return printStruct(b, object.As(v), fields)
	}
	if fields, ok := lists[name]; ok {
		return printList(b, v, func(b []byte, v any) []byte { return printStruct(b, object.As(v), fields) })
	}
	switch name {
	case "schema":
		return append(printSchema(append(b, `{"OpenAPIV3Schema":`...), object.As(v)["openAPIV3Schema"]), '}')
	case "not":
		return printSchema(b, v)
	case "allOf", "oneOf", "anyOf":
		return printList(b, v, printSchema)
	case "properties", "patternProperties", "definitions":
		return printMap(b, v, printSchema)
	case "dependencies":
		return printMap(b, v, printDependency)
	case "items":
		if list, ok := v.([]any); ok {
			return append(printList(append(b, `{"Schema":null,"JSONSchemas":`...), list, printSchema), '}')
		}
		return append(printSchema(append(b, `{"Schema":`...), v), `,"JSONSchemas":null}`...)
	case "additionalProperties", "additionalItems":
		if allows, ok := v.(bool); ok {
			return append(object.AppendJSON(append(b, `{"Allows":`...), allows), `,"Schema":null}`...)
		}
		return append(printSchema(append(b, `{"Allows":true,"Schema":`...), v), '}')
	}
	return object.AppendJSON(b, v)
}
