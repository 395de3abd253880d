package patch

import (
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/schema"
)

// operations is the Go type that the real server reads a JSON patch into, to find repeated and unknown members.
var operations = func() *schema.Type {
	text := &schema.Type{Kind: schema.String, GoType: "string"}
	operation := schema.NewStruct("", "handlers.jsonPatchOp", []schema.Field{
		{Name: "op", Type: text}, {Name: "path", Type: text}, {Name: "from", Type: text},
		{Name: "value", Type: &schema.Type{Kind: schema.Any, GoType: "interface {}"}},
	})
	return &schema.Type{Kind: schema.List, GoType: "[]" + operation.GoType, Elem: operation}
}()

// checkOperations returns the repeated and unknown members of a JSON patch's operations, or the first error that
// decoding them into the server's struct would give.
func checkOperations(patch []byte) (strict []string, err error) {
	strict, err = codec.CheckJSON(patch, operations)
	for i, problem := range strict {
		strict[i] = "json patch " + problem
	}
	return strict, err
}
