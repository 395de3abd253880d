package openapi

import "github.com/kubesim/kubesim/sim/object"

func (m *message) pathItem(v any) {
	item := object.As(v)
	for i, method := range methods {
		m.optional(2+i, item[method], (*message).operation)
	}
	m.each(9, item["parameters"], (*message).parameterOrReference)
}

func (m *message) operation(v any) {
	op := object.As(v)
	m.texts(1, op["tags"])
	m.text(3, op["description"])
	m.text(5, op["operationId"])
	m.texts(6, op["produces"])
	m.texts(7, op["consumes"])
	m.each(8, op["parameters"], (*message).parameterOrReference)
	m.message(9, op["responses"], named(1, (*message).response))
	m.texts(10, op["schemes"])
	m.extensions(13, op)
}

// parameterOrReference writes ParametersItem{Parameter or JsonReference}.
func (m *message) parameterOrReference(v any) {
	if ref := object.As(v)["$ref"]; ref != nil {
		m.message(2, ref, func(m *message, v any) { m.text(1, v) })
		return
	}
	m.message(1, v, (*message).parameter)
}

// parameter writes Parameter{BodyParameter or NonBodyParameter{query or path}}.
func (m *message) parameter(v any) {
	switch object.As(v)["in"] {
	case "body":
		m.message(1, v, (*message).bodyParameter)
	case "query":
		m.message(2, v, wrapped(3, plainParameter(6)))
	case "path":
		m.message(2, v, wrapped(4, plainParameter(5)))
	}
}

func (m *message) bodyParameter(v any) {
	p := object.As(v)
	m.text(2, p["name"])
	m.text(3, p["in"])
	m.flag(4, p["required"])
	m.message(5, p["schema"], (*message).schema)
}

// plainParameter writes a parameter of the query or the path, whose fields from the type on have other numbers.
func plainParameter(typeField int) writeFunc {
	return func(m *message, v any) {
		p := object.As(v)
		m.flag(1, p["required"])
		m.text(2, p["in"])
		m.text(3, p["description"])
		m.text(4, p["name"])
		m.text(typeField, p["type"])
		m.flag(typeField+14, p["uniqueItems"])
	}
}

// response writes ResponseValue{Response{description, SchemaItem{Schema}}}.
func (m *message) response(v any) {
	m.message(1, v, func(m *message, v any) {
		m.text(1, object.As(v)["description"])
		m.optional(2, object.As(v)["schema"], wrapped(1, (*message).schema))
	})
}

func (m *message) schema(v any) {
	s := object.As(v)
	m.text(1, s["$ref"])
	m.text(2, s["format"])
	m.text(3, s["title"])
	m.text(4, s["description"])
	m.optional(5, s["default"], (*message).value)
	m.limits(6, s)
	m.texts(19, s["required"])
	m.each(20, s["enum"], (*message).value)
	m.optional(21, s["additionalProperties"], additional((*message).schema))
	m.optional(22, s["type"], func(m *message, v any) { m.text(1, v) })
	m.optional(23, s["items"], wrapped(1, (*message).schema))
	m.each(24, s["allOf"], (*message).schema)
	m.optional(25, s["properties"], named(1, (*message).schema))
	m.optional(30, s["example"], (*message).value)
	m.extensions(31, s)
}

// limits writes the value validations of a schema, which only custom resources have, from a field on.
func (m *message) limits(from int, s object.Object) {
	m.number(from, s["multipleOf"])
	m.number(from+1, s["maximum"])
	m.flag(from+2, s["exclusiveMaximum"])
	m.number(from+3, s["minimum"])
	m.flag(from+4, s["exclusiveMinimum"])
	m.integer(from+5, s["maxLength"])
	m.integer(from+6, s["minLength"])
	m.text(from+7, s["pattern"])
	m.integer(from+8, s["maxItems"])
	m.integer(from+9, s["minItems"])
	m.flag(from+10, s["uniqueItems"])
	m.integer(from+11, s["maxProperties"])
	m.integer(from+12, s["minProperties"])
}

// securityDefinition writes SecurityDefinitionsItem{ApiKeySecurity}.
func (m *message) securityDefinition(v any) {
	m.message(2, v, func(m *message, v any) {
		d := object.As(v)
		m.text(1, d["type"])
		m.text(2, d["name"])
		m.text(3, d["in"])
		m.text(4, d["description"])
	})
}
