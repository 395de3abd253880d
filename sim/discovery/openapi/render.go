package openapi

import (
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/object"
)

// paths groups operations by path and method. Parameters that all operations of a path have in common are moved to the path.
func paths(ops []operation, write func(operation, []param) map[string]any, writeParam func(param) map[string]any) map[string]any {
	byPath := map[string][]operation{}
	for _, op := range ops {
		byPath[op.path] = append(byPath[op.path], op)
	}
	out := map[string]any{}
	for _, path := range object.SortedKeys(byPath) {
		item := map[string]any{}
		common := shared(byPath[path])
		if len(common) > 0 {
			item["parameters"] = written(common, writeParam)
		}
		for _, op := range byPath[path] {
			own := slices.DeleteFunc(slices.Clone(op.params), func(p param) bool { return slices.Contains(common, p) })
			item[op.method] = write(op, own)
		}
		out[path] = item
	}
	return out
}

// written converts each parameter with write, and returns the results.
func written(list []param, write func(param) map[string]any) []any {
	out := make([]any, len(list))
	for i, p := range list {
		out[i] = write(p)
	}
	return out
}

// head returns the fields that an operation has in both OpenAPI versions.
func (op operation) head() map[string]any {
	m := map[string]any{"description": op.description, "operationId": op.id, "tags": []any{op.tag}}
	if op.action != "" {
		m["x-kubernetes-action"] = op.action
		m["x-kubernetes-group-version-kind"] = kindObject(op.kind)
	}
	return m
}

// v3 returns an operation in OpenAPI 3. own contains its parameters, without the parameters of its path.
func (op operation) v3(own []param) map[string]any {
	m := op.head()
	if len(own) > 0 {
		m["parameters"] = written(own, param.v3)
	}
	if op.body != "" {
		body := map[string]any{"content": content(op.consumes, map[string]any{"$ref": refV3 + op.body})}
		if op.bodyRequired {
			body["required"] = true
		}
		m["requestBody"] = body
	}
	responses := map[string]any{"401": map[string]any{"description": "Unauthorized"}}
	result := content(op.produces, op.answer(refV3))
	for _, code := range op.codes {
		responses[strconv.Itoa(code)] = map[string]any{"description": codeText[code], "content": result}
	}
	m["responses"] = responses
	return m
}

// answer returns the schema of the response. If the operation returns text, that is the schema of a string.
func (op operation) answer(prefix string) map[string]any {
	if op.result == "" {
		return typed("string")
	}
	return map[string]any{"$ref": prefix + op.result}
}

func content(types []string, schema map[string]any) map[string]any {
	out := map[string]any{}
	for _, t := range types {
		out[t] = map[string]any{"schema": schema}
	}
	return out
}

// v2 returns an operation in OpenAPI 2. own contains its parameters, without the parameters of its path. v2 adds the body to them.
func (op operation) v2(own []param) map[string]any {
	m := op.head()
	var params []any
	if op.body != "" {
		body := map[string]any{"in": "body", "name": "body", "schema": map[string]any{"$ref": refV2 + op.body}}
		if op.bodyRequired {
			body["required"] = true
		}
		params = append(params, body)
	}
	if params = append(params, written(own, param.v2)...); params != nil {
		m["parameters"] = params
	}
	if len(op.consumes) > 0 {
		m["consumes"] = object.FromStrings(op.consumes)
	}
	m["produces"] = object.FromStrings(op.produces)
	m["schemes"] = []any{"https"}
	responses := map[string]any{"401": map[string]any{"description": "Unauthorized"}}
	for _, code := range op.codes {
		responses[strconv.Itoa(code)] = map[string]any{"description": codeText[code], "schema": op.answer(refV2)}
	}
	m["responses"] = responses
	return m
}

var codeText = map[int]string{200: "OK", 201: "Created", 202: "Accepted"}
