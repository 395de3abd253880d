package crd

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// printVersions prints spec.versions as errors show it: as JSON of the Go structs that the real server works with.
func printVersions(s *spec) any {
	if s.Object["versions"] == nil {
		return nil
	}
	b := []byte{'['}
	for i := range s.versions {
		v := &s.versions[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = object.AppendString(append(b, `{"Name":`...), v.name)
		b = object.AppendJSON(append(b, `,"Served":`...), v.served)
		b = object.AppendJSON(append(b, `,"Storage":`...), v.storage)
		b = object.AppendJSON(append(b, `,"Deprecated":`...), v.deprecated)
		b = append(b, `,"DeprecationWarning":`...)
		if v.warning != nil {
			b = object.AppendString(b, *v.warning)
		} else {
			b = append(b, "null"...)
		}
		b = append(b, `,"Schema":`...)
		if v.schema != nil {
			b = append(b, `{"OpenAPIV3Schema":`...)
			b = append(printSchema(b, v.openAPI()), '}')
		} else {
			b = append(b, "null"...)
		}
		b = printSubresources(append(b, `,"Subresources":`...), v.sub)
		b = printAll(append(b, `,"AdditionalPrinterColumns":`...), v.columns, columnFields)
		b = append(printAll(append(b, `,"SelectableFields":`...), v.fields, selectableFields), '}')
	}
	return field.Raw(append(b, ']'))
}

// printed is a field of a Go struct: its name, its name in JSON, and its zero value as printed.
type printed struct{ name, json, zero string }

var (
	columnFields = []printed{{"Name", "name", `""`}, {"Type", "type", `""`}, {"Format", "format", `""`},
		{"Description", "description", `""`}, {"Priority", "priority", "0"}, {"JSONPath", "jsonPath", `""`}}
	selectableFields = []printed{{"JSONPath", "jsonPath", `""`}}
	scaleFields      = []printed{{"SpecReplicasPath", "specReplicasPath", `""`}, {"StatusReplicasPath", "statusReplicasPath", `""`},
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

// printStruct prints the fields of a struct; values prints one that is there.
func printStruct(b []byte, m map[string]any, fields []printed, value func(b []byte, f printed, v any) []byte) []byte {
	b = append(b, '{')
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), f.name...), `":`...)
		if v, ok := m[f.json]; ok && v != nil {
			b = value(b, f, v)
		} else {
			b = append(b, f.zero...)
		}
	}
	return append(b, '}')
}

func printJSON(b []byte, _ printed, v any) []byte { return object.AppendJSON(b, v) }

func printSubresources(b []byte, sub map[string]any) []byte {
	if sub == nil {
		return append(b, "null"...)
	}
	return printStruct(b, sub, []printed{{"Status", "status", "null"}, {"Scale", "scale", "null"}}, func(b []byte, f printed, v any) []byte {
		m, _ := v.(map[string]any)
		if f.json == "scale" {
			return printStruct(b, m, scaleFields, printJSON)
		}
		return append(b, "{}"...)
	})
}

func printAll(b []byte, list []any, fields []printed) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	return printList(b, list, func(b []byte, v any) []byte {
		m, _ := v.(map[string]any)
		return printStruct(b, m, fields, printJSON)
	})
}

func printList(b []byte, list []any, each func([]byte, any) []byte) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = each(b, v)
	}
	return append(b, ']')
}

// printSchema prints a schema; nil is null.
func printSchema(b []byte, schema map[string]any) []byte {
	if schema == nil {
		return append(b, "null"...)
	}
	return printStruct(b, schema, schemaFields, printSchemaField)
}

func printSchemaField(b []byte, f printed, v any) []byte {
	one := func(b []byte, v any) []byte {
		m, _ := v.(map[string]any)
		return printSchema(b, m)
	}
	switch f.name {
	case "Not":
		return one(b, v)
	case "AllOf", "OneOf", "AnyOf":
		list, _ := v.([]any)
		return printList(b, list, one)
	case "Properties":
		m, _ := v.(map[string]any)
		b = append(b, '{')
		for i, name := range object.SortedKeys(m) {
			if i > 0 {
				b = append(b, ',')
			}
			b = one(append(object.AppendString(b, name), ':'), m[name])
		}
		return append(b, '}')
	case "Items":
		if list, ok := v.([]any); ok {
			return append(printList(append(b, `{"Schema":null,"JSONSchemas":`...), list, one), '}')
		}
		return append(one(append(b, `{"Schema":`...), v), `,"JSONSchemas":null}`...)
	case "AdditionalProperties":
		if allows, ok := v.(bool); ok {
			return append(object.AppendJSON(append(b, `{"Allows":`...), allows), `,"Schema":null}`...)
		}
		return append(one(append(b, `{"Allows":true,"Schema":`...), v), '}')
	case "XValidations":
		list, _ := v.([]any)
		return printAll(b, list, ruleFields)
	case "ExternalDocs":
		m, _ := v.(map[string]any)
		return printStruct(b, m, docFields, printJSON)
	}
	return object.AppendJSON(b, v)
}
