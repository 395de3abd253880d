package openapi

import "github.com/kubesim/kubesim/sim/object"

// ProtoV3 encodes what V3 has written as the protobuf message openapi.v3.Document of the gnostic project: that of
// version 2 (ProtoV2) with other numbers, and with a message around everything that may be a reference.
//
//	{"openapi":"3.0.0","paths":{"/api/": {…}}}     Document{1: "3.0.0", 4: Paths{1: Named{1: "/api/", 2: PathItem{…}}}}
func ProtoV3(json []byte) []byte {
	doc, err := object.Parse(json)
	if err != nil {
		panic("openapi: " + err.Error()) // V3 wrote it
	}
	var m message
	m.text(1, doc["openapi"])
	m.message(2, doc["info"], func(m *message, v any) {
		m.text(1, object.As(v)["title"])
		m.text(6, object.As(v)["version"])
	})
	m.message(4, doc["paths"], named(1, (*message).pathItem3))
	m.optional(5, doc["components"], (*message).components3)
	return m.b
}

func (m *message) components3(v any) {
	c := object.As(v)
	m.optional(1, c["schemas"], named(1, (*message).schemaOrReference))
	m.optional(7, c["securitySchemes"], named(1, wrapped(1, (*message).securityScheme3)))
}

func (m *message) securityScheme3(v any) {
	s := object.As(v)
	m.text(1, s["type"])
	m.text(2, s["description"])
	m.text(3, s["name"])
	m.text(4, s["in"])
}

func (m *message) pathItem3(v any) {
	item := object.As(v)
	for i, method := range methods {
		m.optional(4+i, item[method], (*message).operation3)
	}
	m.each(13, item["parameters"], wrapped(1, (*message).parameter3))
}

func (m *message) operation3(v any) {
	op := object.As(v)
	m.texts(1, op["tags"])
	m.text(3, op["description"])
	m.text(5, op["operationId"])
	m.each(6, op["parameters"], wrapped(1, (*message).parameter3)) // ParameterOrReference{Parameter}
	m.optional(7, op["requestBody"], wrapped(1, (*message).requestBody3))
	m.message(8, op["responses"], named(2, wrapped(1, (*message).response3))) // ResponseOrReference{Response}
	m.extensions(13, op)
}

func (m *message) requestBody3(v any) {
	m.optional(2, object.As(v)["content"], content3)
	m.flag(3, object.As(v)["required"])
}

func (m *message) parameter3(v any) {
	p := object.As(v)
	m.text(1, p["name"])
	m.text(2, p["in"])
	m.text(3, p["description"])
	m.flag(4, p["required"])
	m.message(10, p["schema"], (*message).schemaOrReference)
}

func (m *message) response3(v any) {
	m.text(1, object.As(v)["description"])
	m.optional(3, object.As(v)["content"], content3)
}

// content3 writes MediaTypes, of which each has a schema.
var content3 = named(1, func(m *message, v any) { m.message(1, object.As(v)["schema"], (*message).schemaOrReference) })

// schemaOrReference writes a schema, or a reference, beside which only a description counts.
func (m *message) schemaOrReference(v any) {
	s := object.As(v)
	if s["$ref"] != nil {
		m.message(2, v, func(m *message, _ any) {
			m.text(1, s["$ref"])
			m.text(3, s["description"])
		})
		return
	}
	m.message(1, v, (*message).schema3)
}

func (m *message) schema3(v any) {
	s := object.As(v)
	m.flag(1, s["nullable"])
	m.optional(7, s["example"], (*message).value)
	m.flag(8, s["deprecated"])
	m.text(9, s["title"])
	m.limits(10, s)
	m.texts(23, s["required"])
	m.each(24, s["enum"], (*message).value)
	m.text(25, s["type"])
	m.each(26, s["allOf"], (*message).schemaOrReference)
	m.each(27, s["oneOf"], (*message).schemaOrReference)
	m.each(28, s["anyOf"], (*message).schemaOrReference)
	m.optional(29, s["not"], (*message).schema3)
	m.optional(30, s["items"], wrapped(1, (*message).schemaOrReference))
	m.optional(31, s["properties"], named(1, (*message).schemaOrReference))
	m.optional(32, s["additionalProperties"], additional((*message).schemaOrReference))
	m.optional(33, s["default"], (*message).scalar)
	m.text(34, s["description"])
	m.text(35, s["format"])
	m.extensions(36, s)
}

// scalar writes a DefaultType: a number, a bool or a string. What is none of them leaves it empty.
func (m *message) scalar(v any) {
	switch v := v.(type) {
	case bool:
		m.choice(2, v)
	case string:
		m.tag(3, bytes)
		m.bytes(v)
	case int64:
		m.double(1, float64(v))
	case float64:
		m.double(1, v)
	}
}
