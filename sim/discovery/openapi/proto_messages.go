package openapi

func (m *message) pathItem(v any) {
	item := asMap(v)
	for i, method := range []string{"get", "put", "post", "delete", "options", "head", "patch"} {
		if op := asMap(item[method]); op != nil {
			m.message(2+i, func(m *message) { m.operation(op) })
		}
	}
	m.parameters(9, item["parameters"])
}

func (m *message) operation(op map[string]any) {
	m.texts(1, op["tags"])
	m.text(3, op["description"])
	m.text(5, op["operationId"])
	m.texts(6, op["produces"])
	m.texts(7, op["consumes"])
	m.parameters(8, op["parameters"])
	m.message(9, func(m *message) { m.named(1, op["responses"], (*message).response) })
	m.texts(10, op["schemes"])
	m.extensions(13, op)
}

// parameters writes ParametersItem{Parameter or JsonReference}.
func (m *message) parameters(field int, v any) {
	for _, p := range asList(v) {
		ref := asMap(p)["$ref"]
		m.message(field, func(m *message) {
			if ref != nil {
				m.message(2, func(m *message) { m.text(1, ref) })
				return
			}
			m.message(1, func(m *message) { m.parameter(p) })
		})
	}
}

// parameter writes Parameter{BodyParameter or NonBodyParameter{query or path}}.
func (m *message) parameter(v any) {
	param := asMap(v)
	switch param["in"] {
	case "body":
		m.message(1, func(m *message) { m.bodyParameter(param) })
	case "query":
		m.message(2, func(m *message) { m.message(3, func(m *message) { m.queryParameter(param) }) })
	case "path":
		m.message(2, func(m *message) { m.message(4, func(m *message) { m.pathParameter(param) }) })
	}
}

func (m *message) bodyParameter(p map[string]any) {
	m.text(2, p["name"])
	m.text(3, p["in"])
	m.flag(4, p["required"])
	m.message(5, func(m *message) { m.schema(p["schema"]) })
}

func (m *message) queryParameter(p map[string]any) {
	m.flag(1, p["required"])
	m.text(2, p["in"])
	m.text(3, p["description"])
	m.text(4, p["name"])
	m.text(6, p["type"])
	m.flag(20, p["uniqueItems"])
}

func (m *message) pathParameter(p map[string]any) {
	m.flag(1, p["required"])
	m.text(2, p["in"])
	m.text(3, p["description"])
	m.text(4, p["name"])
	m.text(5, p["type"])
	m.flag(19, p["uniqueItems"])
}

// response writes ResponseValue{Response{description, SchemaItem{Schema}}}.
func (m *message) response(v any) {
	r := asMap(v)
	m.message(1, func(m *message) {
		m.text(1, r["description"])
		if r["schema"] != nil {
			m.message(2, func(m *message) { m.message(1, func(m *message) { m.schema(r["schema"]) }) })
		}
	})
}

func (m *message) schema(v any) {
	s := asMap(v)
	m.text(1, s["$ref"])
	m.text(2, s["format"])
	m.text(3, s["title"])
	m.text(4, s["description"])
	if s["default"] != nil {
		m.message(5, func(m *message) { m.value(s["default"]) })
	}
	m.limits(6, s)
	m.texts(19, s["required"])
	for _, x := range asList(s["enum"]) {
		m.message(20, func(m *message) { m.value(x) })
	}
	switch more := s["additionalProperties"].(type) {
	case bool:
		m.message(21, func(m *message) { m.choice(2, more) })
	case map[string]any:
		m.message(21, func(m *message) { m.message(1, func(m *message) { m.schema(more) }) })
	}
	if s["type"] != nil {
		m.message(22, func(m *message) { m.text(1, s["type"]) })
	}
	if items := asMap(s["items"]); items != nil {
		m.message(23, func(m *message) { m.message(1, func(m *message) { m.schema(items) }) })
	}
	for _, x := range asList(s["allOf"]) {
		m.message(24, func(m *message) { m.schema(x) })
	}
	if props := asMap(s["properties"]); props != nil {
		m.message(25, func(m *message) { m.named(1, props, (*message).schema) })
	}
	if s["example"] != nil {
		m.message(30, func(m *message) { m.value(s["example"]) })
	}
	m.extensions(31, s)
}

// limits writes the value validations of a schema, which only custom resources have, from a field on.
func (m *message) limits(from int, s map[string]any) {
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
	d := asMap(v)
	m.message(2, func(m *message) {
		m.text(1, d["type"])
		m.text(2, d["name"])
		m.text(3, d["in"])
		m.text(4, d["description"])
	})
}
