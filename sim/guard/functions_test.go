package guard

import (
	"go/ast"
	"testing"
)

// functionFields is the most function-valued fields that structs may have together, outside of sim/resource and sim/builtin, whose
// literals describe kinds. It only falls: what a type needs of its surroundings is an interface, given to its constructor.
const functionFields = 121

func TestFunctionFields(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	total := 0
	for _, s := range mustSources(t, func(s source) bool { return !s.isTest() && !s.in("sim/resource", "sim/builtin") }) {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			x, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			for _, f := range x.Fields.List {
				if _, ok := f.Type.(*ast.FuncType); ok {
					total += max(len(f.Names), 1)
					found[s.dir()] += max(len(f.Names), 1)
				}
			}
			return true
		})
	}
	if total > functionFields {
		t.Errorf("structs have %d function-valued fields, and may have %d: use an interface; by package: %v", total, functionFields, found)
	}
}
