package guard

import (
	"go/ast"
	"testing"
)

// functionFields is the maximum number of struct fields with function types, outside of sim/resource and sim/builtin, whose
// literals describe kinds. It may only decrease. If a type depends on its environment, its constructor should take an interface.
const functionFields = 120

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
