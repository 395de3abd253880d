package guard

import (
	"go/ast"
	"reflect"
	"testing"

	"github.com/kubesim/kubesim/sim/config"
)

// translated are files that convert options from another form, or pass them to a package below config.
var translated = map[string]string{
	"fake/explore/explore.go": "a plan's seed and what it replays, which are no options",
	"sim/scenario/replay.go":  "the head of a trace",
	"sim/registry/request.go": "sim/resource stands below sim/config",
	"sim/lesson/parse.go":     "what the file of a lesson says",
	"sim/options.go":          "sim/auth stands below sim/config",
	"wasm/engine/run.go":      "what a page asks for when it boots",
}

// TestOptionsAreNotCopied checks that options are passed as a config.Cluster or config.Server. Code that copies their fields to
// another struct would have to be changed for each new option:
//
//	sim.Options{Seed: o.Seed, Nodes: o.Nodes}         pass the struct instead
//	made.Seed, made.Nodes = o.Seed, o.Nodes           here, too
func TestOptionsAreNotCopied(t *testing.T) {
	t.Parallel()
	fields := map[string]bool{}
	for _, of := range []reflect.Type{reflect.TypeFor[config.Cluster](), reflect.TypeFor[config.Server]()} {
		for i := range of.NumField() {
			fields[of.Field(i).Name] = true
		}
	}
	used := map[string]bool{}
	for _, s := range mustSources(t, rootModule) {
		if s.isTest() {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			copies := copiesOf(n, fields)
			if len(copies) < 2 {
				return true
			}
			if used[s.name] = true; translated[s.name] == "" {
				t.Errorf("%s copies the options %v: hand over the config.Cluster or config.Server that they are in", s.at(n), copies)
			}
			return true
		})
	}
	for name, reason := range translated { // order does not matter
		if !used[name] {
			t.Errorf("%s (%s) copies no options any more: take the exception away", name, reason)
		}
	}
}

// copiesOf returns the options that a literal or an assignment copies from one struct to another.
func copiesOf(n ast.Node, fields map[string]bool) (copies []string) {
	add := func(to, from ast.Expr) {
		if name := nameOf(to); fields[name] && copied(from, name) {
			copies = append(copies, name)
		}
	}
	switch n := n.(type) {
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				add(kv.Key, kv.Value)
			}
		}
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if _, ok := to.(*ast.SelectorExpr); ok && len(n.Rhs) == len(n.Lhs) {
				add(to, n.Rhs[i])
			}
		}
	}
	return copies
}

// copied reports whether an expression is a field of another struct with the same name.
func copied(e ast.Expr, field string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == field
}
