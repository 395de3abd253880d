package openapi

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
)

// messages contains the rules for each message type, in the order of the field numbers. The names of version 3 messages end in 3.
var messages = map[string][]rule{
	"Document": {{1, "swagger", text, ""}, {2, "info", always, "Info"}, {8, "paths", always, "Paths"},
		{9, "definitions", always, "Definitions"},
		{10, "parameters", always, "Parameters"}, {12, "security", each, "SecurityRequirement"},
		{13, "securityDefinitions", always, "SecurityDefinitions"}},
	"Info":                {{1, "title", text, ""}, {2, "version", text, ""}},
	"Paths":               {{2, "", named, "PathItem"}},
	"Definitions":         {{1, "", named, "Schema"}},
	"Parameters":          {{1, "", named, "Parameter"}},
	"SecurityRequirement": {{1, "", named, "StringArray"}},
	"StringArray":         {{1, "", texts, ""}},
	"SecurityDefinitions": {{1, "", named, "SecurityDefinition"}},
	"SecurityDefinition":  {{2, "", always, "ApiKey"}},
	"ApiKey":              run(1, text, "", "type", "name", "in", "description"),

	"PathItem": append(run(2, optional, "Operation", methods...), rule{9, "parameters", each, "ParameterOrReference"}),
	"Operation": {{1, "tags", texts, ""}, {3, "description", text, ""}, {5, "operationId", text, ""}, {6, "produces", texts, ""},
		{7, "consumes", texts, ""}, {8, "parameters", each, "ParameterOrReference"}, {9, "responses", always, "Responses"},
		{10, "schemes", texts, ""}, {13, "", extensions, "Any"}},
	"Responses":      {{1, "", named, "ResponseValue"}},
	"ResponseValue":  {{1, "", always, "Response"}},
	"Response":       {{1, "description", text, ""}, {2, "schema", optional, "SchemaItem"}},
	"BodyParameter":  {{2, "name", text, ""}, {3, "in", text, ""}, {4, "required", flag, ""}, {5, "schema", always, "Schema"}},
	"NonBodyQuery":   {{3, "", always, "QueryParameter"}},
	"QueryParameter": append(slices.Clone(plainParameter), rule{6, "type", text, ""}, rule{20, "uniqueItems", flag, ""}),
	"NonBodyPath":    {{4, "", always, "PathParameter"}},
	"PathParameter":  append(slices.Clone(plainParameter), rule{5, "type", text, ""}, rule{19, "uniqueItems", flag, ""}),
	"Reference":      {{1, "$ref", text, ""}},
	"SchemaItem":     {{1, "", always, "Schema"}},
	"TypeItem":       {{1, "", text, ""}},
	"Properties":     {{1, "", named, "Schema"}},
	"Any":            {{2, "", document, ""}},

	"Schema": slices.Concat(run(1, text, "", "$ref", "format", "title", "description"),
		[]rule{{5, "default", optional, "Any"}}, limits(6), []rule{
			{19, "required", texts, ""}, {20, "enum", each, "Any"}, {21, "additionalProperties", optional, "AdditionalProperties"},
			{22, "type", optional, "TypeItem"}, {23, "items", optional, "SchemaItem"}, {24, "allOf", each, "Schema"},
			{25, "properties", optional, "Properties"}, {30, "example", optional, "Any"}, {31, "", extensions, "Any"}}),

	"Document3": {{1, "openapi", text, ""}, {2, "info", always, "Info3"}, {4, "paths", always, "Paths3"},
		{5, "components", optional, "Components3"}},
	"Info3":                      {{1, "title", text, ""}, {6, "version", text, ""}},
	"Paths3":                     {{1, "", named, "PathItem3"}},
	"Components3":                {{1, "schemas", optional, "Schemas3"}, {7, "securitySchemes", optional, "SecuritySchemes3"}},
	"Schemas3":                   {{1, "", named, "SchemaOrReference3"}},
	"SecuritySchemes3":           {{1, "", named, "SecuritySchemeOrReference3"}},
	"SecuritySchemeOrReference3": {{1, "", always, "SecurityScheme3"}},
	"SecurityScheme3":            run(1, text, "", "type", "description", "name", "in"),
	"PathItem3": append(run(4, optional, "Operation3", methods...),
		rule{13, "parameters", each, "ParameterOrReference3"}),
	"Operation3": {{1, "tags", texts, ""}, {3, "description", text, ""}, {5, "operationId", text, ""},
		{6, "parameters", each, "ParameterOrReference3"},
		{7, "requestBody", optional, "RequestBodyOrReference3"}, {8, "responses", always, "Responses3"},
		{13, "", extensions, "Any"}},
	"RequestBodyOrReference3": {{1, "", always, "RequestBody3"}},
	"RequestBody3":            {{2, "content", optional, "MediaTypes3"}, {3, "required", flag, ""}},
	"ParameterOrReference3":   {{1, "", always, "Parameter3"}},
	"Parameter3": {{1, "name", text, ""}, {2, "in", text, ""}, {3, "description", text, ""},
		{4, "required", flag, ""}, {10, "schema", always, "SchemaOrReference3"}},
	"Responses3":           {{2, "", named, "ResponseOrReference3"}},
	"ResponseOrReference3": {{1, "", always, "Response3"}},
	"Response3":            {{1, "description", text, ""}, {3, "content", optional, "MediaTypes3"}},
	"MediaTypes3":          {{1, "", named, "MediaType3"}},
	"MediaType3":           {{1, "schema", always, "SchemaOrReference3"}},
	"Reference3":           {{1, "$ref", text, ""}, {3, "description", text, ""}},
	"ItemsItem3":           {{1, "", always, "SchemaOrReference3"}},

	"Schema3": slices.Concat([]rule{{1, "nullable", flag, ""}, {7, "example", optional, "Any"}, {8, "deprecated", flag, ""},
		{9, "title", text, ""}}, limits(10), []rule{
		{23, "required", texts, ""}, {24, "enum", each, "Any"}, {25, "type", text, ""}, {26, "allOf", each, "SchemaOrReference3"},
		{27, "oneOf", each, "SchemaOrReference3"}, {28, "anyOf", each, "SchemaOrReference3"}, {29, "not", optional, "Schema3"},
		{30, "items", optional, "ItemsItem3"}, {31, "properties", optional, "Schemas3"},
		{32, "additionalProperties", optional, "AdditionalProperties3"},
		{33, "default", optional, "DefaultType3"}, {34, "description", text, ""}, {35, "format", text, ""},
		{36, "", extensions, "Any"}}),
}

// methods are the methods of a path item, in the order of the message's fields.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch"}

// plainParameter contains the rules for the first fields of query and path parameters. Their other fields have different numbers.
var plainParameter = []rule{{1, "required", flag, ""}, {2, "in", text, ""}, {3, "description", text, ""}, {4, "name", text, ""}}

// limits returns the rules for the value validations in a schema, with consecutive field numbers. Only custom resources have value
// validations.
func limits(from int) []rule {
	rules := run(from, integer, "", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
		"maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxProperties", "minProperties")
	for i, as := range []form{number, number, flag, number, flag, integer, integer, text, integer, integer, flag} {
		rules[i].as = as
	}
	return rules
}

// unions are the message types with a single field, which depends on the value.
var unions = map[string]func(v any) []rule{
	"ParameterOrReference": func(v any) []rule {
		if object.As(v)["$ref"] != nil {
			return []rule{{2, "", always, "Reference"}}
		}
		return []rule{{1, "", always, "Parameter"}}
	},
	"Parameter": func(v any) []rule {
		switch object.As(v)["in"] {
		case "body":
			return []rule{{1, "", always, "BodyParameter"}}
		case "query":
			return []rule{{2, "", always, "NonBodyQuery"}}
		case "path":
			return []rule{{2, "", always, "NonBodyPath"}}
		}
		return nil
	},
	"AdditionalProperties":  func(v any) []rule { return schemaOrBool(v, "Schema") },
	"AdditionalProperties3": func(v any) []rule { return schemaOrBool(v, "SchemaOrReference3") },
	"SchemaOrReference3": func(v any) []rule { // only a description is kept next to a reference
		if object.As(v)["$ref"] != nil {
			return []rule{{2, "", always, "Reference3"}}
		}
		return []rule{{1, "", always, "Schema3"}}
	},
	"DefaultType3": func(v any) []rule {
		switch v.(type) {
		case bool:
			return []rule{{2, "", given, ""}}
		case string:
			return []rule{{3, "", given, ""}}
		}
		return []rule{{1, "", given, ""}} // a number; values of other types are omitted
	},
}

func schemaOrBool(v any, schema string) []rule {
	if _, ok := v.(bool); ok {
		return []rule{{2, "", given, ""}}
	}
	return []rule{{1, "", always, schema}}
}
