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
	m.message(2, func(m *message) {
		info := asMap(doc["info"])
		m.text(1, info["title"])
		m.text(6, info["version"])
	})
	m.message(4, func(m *message) { m.named(1, doc["paths"], (*message).pathItem3) })
	if components := asMap(doc["components"]); components != nil {
		m.message(5, func(m *message) { m.components3(components) })
	}
	return m.b
}

func (m *message) components3(c map[string]any) {
	if c["schemas"] != nil {
		m.message(1, func(m *message) { m.named(1, c["schemas"], (*message).schemaOrReference) })
	}
	if c["securitySchemes"] != nil {
		m.message(7, func(m *message) {
			m.named(1, c["securitySchemes"], func(m *message, v any) { m.message(1, func(m *message) { m.securityScheme3(v) }) })
		})
	}
}

func (m *message) securityScheme3(v any) {
	s := asMap(v)
	m.text(1, s["type"])
	m.text(2, s["description"])
	m.text(3, s["name"])
	m.text(4, s["in"])
}

func (m *message) pathItem3(v any) {
	item := asMap(v)
	for i, method := range []string{"get", "put", "post", "delete", "options", "head", "patch"} {
		if op := asMap(item[method]); op != nil {
			m.message(4+i, func(m *message) { m.operation3(op) })
		}
	}
	m.parameters3(13, item["parameters"])
}

func (m *message) operation3(op map[string]any) {
	m.texts(1, op["tags"])
	m.text(3, op["description"])
	m.text(5, op["operationId"])
	m.parameters3(6, op["parameters"])
	if body := asMap(op["requestBody"]); body != nil {
		m.message(7, func(m *message) {
			m.message(1, func(m *message) {
				m.content3(2, body["content"])
				m.flag(3, body["required"])
			})
		})
	}
	m.message(8, func(m *message) { m.named(2, op["responses"], (*message).response3) })
	m.extensions(13, op)
}

// parameters3 writes ParameterOrReference{Parameter}.
func (m *message) parameters3(field int, v any) {
	for _, p := range asList(v) {
		param := asMap(p)
		m.message(field, func(m *message) {
			m.message(1, func(m *message) {
				m.text(1, param["name"])
				m.text(2, param["in"])
				m.text(3, param["description"])
				m.flag(4, param["required"])
				m.message(10, func(m *message) { m.schemaOrReference(param["schema"]) })
			})
		})
	}
}

// response3 writes ResponseOrReference{Response}.
func (m *message) response3(v any) {
	r := asMap(v)
	m.message(1, func(m *message) {
		m.text(1, r["description"])
		m.content3(3, r["content"])
	})
}

// content3 writes MediaTypes, of which each has a schema.
func (m *message) content3(field int, v any) {
	if v == nil {
		return
	}
	m.message(field, func(m *message) {
		m.named(1, v, func(m *message, media any) {
			m.message(1, func(m *message) { m.schemaOrReference(asMap(media)["schema"]) })
		})
	})
}

// schemaOrReference writes a schema, or a reference, beside which only a description counts.
func (m *message) schemaOrReference(v any) {
	s := asMap(v)
	if s["$ref"] != nil {
		m.message(2, func(m *message) {
			m.text(1, s["$ref"])
			m.text(3, s["description"])
		})
		return
	}
	m.message(1, func(m *message) { m.schema3(s) })
}

func (m *message) schema3(s map[string]any) {
	m.flag(1, s["nullable"])
	if s["example"] != nil {
		m.message(7, func(m *message) { m.value(s["example"]) })
	}
	m.flag(8, s["deprecated"])
	m.text(9, s["title"])
	m.limits(10, s)
	m.texts(23, s["required"])
	for _, x := range asList(s["enum"]) {
		m.message(24, func(m *message) { m.value(x) })
	}
	m.text(25, s["type"])
	for i, name := range []string{"allOf", "oneOf", "anyOf"} {
		for _, x := range asList(s[name]) {
			m.message(26+i, func(m *message) { m.schemaOrReference(x) })
		}
	}
	if not := asMap(s["not"]); not != nil {
		m.message(29, func(m *message) { m.schema3(not) })
	}
	if items := asMap(s["items"]); items != nil {
		m.message(30, func(m *message) { m.message(1, func(m *message) { m.schemaOrReference(items) }) })
	}
	if props := asMap(s["properties"]); props != nil {
		m.message(31, func(m *message) { m.named(1, props, (*message).schemaOrReference) })
	}
	switch more := s["additionalProperties"].(type) {
	case bool:
		m.message(32, func(m *message) { m.choice(2, more) })
	case map[string]any:
		m.message(32, func(m *message) { m.message(1, func(m *message) { m.schemaOrReference(more) }) })
	}
	if s["default"] != nil {
		m.message(33, func(m *message) { m.scalar(s["default"]) })
	}
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
