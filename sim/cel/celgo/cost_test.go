package celgo

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"cel.dev/cel-go/cel"
	"github.com/matryer/is"
)

// TestEveryFunctionHasACost compares the functions that Kubernetes adds with the table of costs. For a function without
// an entry, cel-go would count a cost of 1 regardless of the arguments, and no test of an expression would fail.
func TestEveryFunctionHasACost(t *testing.T) {
	is := is.New(t)
	const newest = 1000 // every function of any minor
	added, err := cel.NewCustomEnv(append(kubernetesFunctions(newest), jsonPatchFunctions()...)...)
	is.NoErr(err)
	for _, name := range slices.Sorted(maps.Keys(added.Functions())) {
		if _, ok := functionCosts[name]; !ok && !isCountedByCELGo(name) {
			t.Errorf("the function %s has no row in functionCosts (cost_table.go): say what a call costs, before and after it runs", name)
		}
	}
	e := &environment{celgo: oldCELGo, minor: newest}
	known, err := cel.NewCustomEnv(e.options(true)...)
	is.NoErr(err)
	for _, name := range slices.Sorted(maps.Keys(functionCosts)) {
		if !added.HasFunction(name) && !known.HasFunction(name) {
			t.Errorf("functionCosts has a row for %s, which no library declares: take it out", name)
		}
	}
}

// isCountedByCELGo reports whether Kubernetes leaves the cost of a function to cel-go, which counts 1 for each call:
// isURL, and the functions that return a named format, such as format.uuid.
func isCountedByCELGo(function string) bool {
	return function == "isURL" || strings.HasPrefix(function, "format.") && function != "format.named"
}
