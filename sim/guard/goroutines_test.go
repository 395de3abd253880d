package guard

import (
	"go/ast"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"testing"
)

// Package testing lets only the goroutine of a test end it: FailNow, and what calls it, panics or ends the wrong goroutine elsewhere.
// This guard finds functions that may end a test, in a package by itself, and fails where one is called from another goroutine:
//
//	go func() { k.do("…") }()       k.do calls t.Fatalf
//	group.Go(func() { is.NoErr(err) })

// enders are the methods that end a test, of package testing and of github.com/matryer/is.
var enders = map[string]bool{"Fatal": true, "Fatalf": true, "FailNow": true, "Skip": true, "Skipf": true, "SkipNow": true}

var isEnders = map[string]bool{"True": true, "Equal": true, "NoErr": true, "Fail": true}

// launchers are functions and methods that call a function literal in another goroutine than the test's, at least sometimes.
var launchers = map[string]bool{"Go": true, "AfterFunc": true, "Admit": true, "HandlerFunc": true, "HandleFunc": true, "Process": true}

// checked is the test code of one package with what go/types knows of it. Nothing is imported: only the package's own functions,
// methods and variables are resolved, and the guard needs no others.
type checked struct {
	files   []source
	info    *types.Info
	relaxed map[types.Object]bool // variables that is.NewRelaxed has made: they let a test fail and go on
	ends    map[types.Object]bool // functions that may end a test
}

// nothing is an importer without packages.
type nothing struct{}

func (nothing) Import(name string) (*types.Package, error) {
	base := path.Base(name)
	if major.MatchString(base) {
		base = path.Base(path.Dir(name))
	}
	p := types.NewPackage(name, base)
	p.MarkComplete()
	return p, nil
}

// major is the last part of the path of a module's version 2 or later.
var major = regexp.MustCompile(`^v\d+$`)

// nameOf returns the last name of a function expression: Go of group.Go, or "".
func nameOf(f ast.Expr) string {
	switch f := f.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

func check(files []source) *checked {
	c := &checked{files: files, relaxed: map[types.Object]bool{}, ends: map[types.Object]bool{},
		info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}}
	var list []*ast.File
	for _, s := range files {
		list = append(list, s.ast)
	}
	config := types.Config{Importer: nothing{}, Error: func(error) {}, DisableUnusedImportCheck: true}
	_, _ = config.Check("p", fset, list, c.info) // its errors are about packages that are not imported
	c.findRelaxed()
	c.findEnders()
	return c
}

// findRelaxed collects the variables that is.NewRelaxed has created.
func (c *checked) findRelaxed() {
	for _, s := range c.files {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
				if call, ok := a.Rhs[0].(*ast.CallExpr); ok && nameOf(call.Fun) == "NewRelaxed" {
					if id, ok := a.Lhs[0].(*ast.Ident); ok && c.info.Defs[id] != nil {
						c.relaxed[c.info.Defs[id]] = true
					}
				}
			}
			return true
		})
	}
}

// findEnders collects the functions that may end a test until it finds no more.
func (c *checked) findEnders() {
	for more := true; more; {
		more = false
		for _, s := range c.files {
			for _, d := range s.ast.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Body == nil || c.ends[c.info.Defs[f.Name]] {
					continue
				}
				if c.ending(f.Body) != nil {
					c.ends[c.info.Defs[f.Name]], more = true, true
				}
			}
		}
	}
}

// ending returns the first call in a body that may end a test in the goroutine of the body, or nil.
func (c *checked) ending(body ast.Node) (found *ast.CallExpr) {
	ast.Inspect(body, func(n ast.Node) bool {
		if found != nil {
			return false
		}
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.CallExpr:
			if c.endsTest(n) {
				found = n
			}
			return !launchers[nameOf(n.Fun)]
		}
		return true
	})
	return found
}

// endsTest reports whether a call may end a test.
func (c *checked) endsTest(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return c.ends[c.info.Uses[f]]
	case *ast.SelectorExpr:
		if own := c.info.Uses[f.Sel]; own != nil {
			return c.ends[own]
		}
		if enders[f.Sel.Name] {
			return true
		}
		id, ok := f.X.(*ast.Ident)
		return ok && id.Name == "is" && isEnders[f.Sel.Name] && !c.relaxed[c.info.Uses[id]]
	}
	return false
}

// elsewhere calls yield with each function literal that runs in another goroutine than the code around it.
func elsewhere(file *ast.File, yield func(ast.Node)) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if f, ok := n.Call.Fun.(*ast.FuncLit); ok {
				yield(f.Body)
			} else {
				yield(n.Call)
			}
		case *ast.CallExpr:
			if launchers[nameOf(n.Fun)] {
				for _, arg := range n.Args {
					if f, ok := arg.(*ast.FuncLit); ok {
						yield(f.Body)
					}
				}
			}
		}
		return true
	})
}

func TestNoTestEndsElsewhere(t *testing.T) {
	t.Parallel()
	packages := map[string][]source{}
	for _, s := range mustSources(t, byHand) {
		packages[s.dir()+" "+s.ast.Name.Name] = append(packages[s.dir()+" "+s.ast.Name.Name], s)
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if !slices.ContainsFunc(packages[name], source.isTest) {
			continue
		}
		c := check(packages[name])
		for _, s := range c.files {
			if !s.isTest() {
				continue
			}
			elsewhere(s.ast, func(body ast.Node) {
				if call := c.ending(body); call != nil {
					t.Errorf("%s: %s may end the test, in a goroutine that is not the test's: return an error, use t.Error or is.NewRelaxed, "+
						"and wait for the goroutine", s.at(call), nameOf(call.Fun))
				}
			})
		}
	}
}
