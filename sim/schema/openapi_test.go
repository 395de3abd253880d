package schema

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	text := &Type{Kind: String}
	tree := NewStruct("Tree", "v1.Tree", []Field{{Name: "name", Type: text}, {Name: "at", Type: &Type{Kind: Time}}, {Name: "size", Type: &Type{Kind: Quantity}},
		{Name: "port", Type: &Type{Kind: IntOrString}}, {Name: "labels", Type: &Type{Kind: Map, Elem: text}}})
	tree.Fields = append(tree.Fields, Field{Name: "branches", Type: &Type{Kind: List, Elem: tree}})
	is.New(t).Equal(string(object.JSON(tree.OpenAPI())), `{"properties":{"at":{"format":"date-time","type":"string"},`+
		`"branches":{"items":{"type":"object"},"type":"array"},"labels":{"additionalProperties":{"type":"string"},"type":"object"},`+
		`"name":{"type":"string"},"port":{"x-kubernetes-int-or-string":true},"size":{}},"type":"object"}`)
}
