// Package openapi generates the OpenAPI documents of an API server: in version 3, one document for each group version, and in
// version 2, a single one. It writes them as JSON or in the protobuf form that kubectl requests.
//
//	Group apps ─ Version v1 ─ Definition deployments ──▶ operations ─┬─▶ V3: paths, components.schemas
//	                                 │                  (path, method,│       │
//	                                 └─ schema.Type ──▶  parameters)  │       ▼ rewritten
//	                                     (definitions)                └─▶ V2: paths, definitions ─▶ ProtoV2
//
// A Part is one document of version 3, and all Parts together are the document of version 2. The documents equal the real server's,
// including descriptions and enum values (the feature OpenAPIEnums is on by default). A program that does not link the descriptions
// (see schema.Set.Description) publishes only those of Table columns.
package openapi

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Source is the input for the documents.
type Source struct {
	Schema  *schema.Set
	Version string // of the API, such as "1.36"

	// CBOR reports whether the server supports CBOR.
	CBOR bool

	// Custom returns the openAPIV3Schema of a custom resource, which is published unchanged. If Custom is nil or returns nil, the
	// schema is generated from the Type of the definition.
	Custom func(*resource.Definition) object.Object
}

// Part is the content of one document of version 3. Its zero value is empty.
type Part struct {
	// Key is the path of the document below /openapi/v3, such as "api/v1", "apis/apps", "apis/apps/v1" or "version".
	Key string

	// Group is the API group of the document, or "" for the core group. Custom reports whether
	// CustomResourceDefinitions define it.
	Group  string
	Custom bool

	// Version and Defs are set for the document of a group version.
	Version string
	Defs    []*resource.Definition
}

// Roots returns the Parts that do not belong to an API group.
func Roots() []Part {
	return []Part{{Key: "api"}, {Key: "apis"}, {Key: "version"}, {Key: ".well-known/openid-configuration"}, {Key: "openid/v1/jwks"}}
}

// V3 returns the OpenAPI 3.0 document of a part as JSON.
func (s *Source) V3(p Part) []byte {
	ops := s.operations(p)
	info := map[string]any{"title": "Kubernetes", "version": s.Version}
	if p.Custom {
		info = map[string]any{"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}
	}
	doc := map[string]any{"openapi": "3.0.0", "info": info, "paths": paths(ops, operation.v3, param.v3)}
	components := map[string]any{}
	if !p.Custom {
		components["securitySchemes"] = securitySchemes
	}
	if schemas := s.schemas(ops, p.Defs, p); len(schemas) > 0 {
		components["schemas"] = schemas
	}
	doc["components"] = components
	return Print(doc)
}

// sections lists the sections of documents in both OpenAPI versions, in the order in which they are printed.
var sections = []string{"swagger", "openapi", "info", "paths", "definitions", "components", "parameters", "securityDefinitions", "security"}

// Print returns the JSON of a document. Its sections are in the real server's order; their contents are sorted.
func Print(doc map[string]any) []byte {
	var out []byte
	for _, name := range sections {
		if section, ok := doc[name]; ok {
			out = append(append(out, `,"`+name+`":`...), object.JSON(section)...)
		}
	}
	out[0] = '{'
	return append(out, '}')
}

// V2 returns the OpenAPI 2.0 document of all parts. Print and ProtoV2 encode it.
func (s *Source) V2(parts []Part) map[string]any {
	var ops []operation
	var defs []*resource.Definition
	for _, p := range parts {
		ops = append(ops, s.operations(p)...)
		defs = append(defs, p.Defs...)
	}
	definitions := map[string]any{}
	schemas := s.schemas(ops, defs, Part{})
	for _, name := range object.SortedKeys(schemas) {
		definitions[name] = toV2(schemas[name].(map[string]any))
	}
	all := paths(ops, operation.v2, param.v2)
	return map[string]any{
		"swagger":             "2.0",
		"info":                map[string]any{"title": "Kubernetes", "version": s.Version},
		"parameters":          shareParameters(all),
		"paths":               all,
		"definitions":         definitions,
		"security":            []any{map[string]any{"BearerToken": []any{}}},
		"securityDefinitions": securitySchemes,
	}
}

var securitySchemes = map[string]any{"BearerToken": map[string]any{
	"type": "apiKey", "in": "header", "name": "authorization", "description": "Bearer Token authentication",
}}
