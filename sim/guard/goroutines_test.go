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

// Only the goroutine of a test may end it: in any other goroutine, FailNow and functions that call it panic or end the wrong
// goroutine. This guard finds functions that may end a test, separately for each package, and fails if one is called from another
// goroutine:
//
//	go func() { k.do("…") }()       k.do calls t.Fatalf
//	group.Go(func() { is.NoErr(err) })

// enders are the methods of package testing and of github.com/matryer/is that end a test.
var enders = map[string]bool{"Fatal": true, "Fatalf": true, "FailNow": true, "Skip": true, "Skipf": true, "SkipNow": true}

var isEnders = map[string]bool{"True": true, "Equal": true, "NoErr": true, "Fail": true}

// launchers are functions and methods that may call a function literal in another goroutine than the test's.
var launchers = map[string]bool{"Go": true, "AfterFunc": true, "Admit": true, "HandlerFunc": true, "HandleFunc": true, "Process": true}

// checked is the test code of a package and its types. Imports are not resolved: the guard needs only the package's own functions,
// methods and variables.
type checked struct {
	files   []source
	info    *types.Info
	relaxed map[types.Object]bool // variables created by is.NewRelaxed, which let a test fail and continue
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

// major matches the last element of the path of a module whose major version is 2 or later.
var major = regexp.MustCompile(`^v\d+$`)

// nameOf returns the last name in a function expression, such as Go in group.Go, or "".
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
	_, _ = config.Check("p", fset, list, c.info) // errors concern packages that are not imported
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

// findEnders collects the functions that may end a test, until there are no more.
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

// ending returns the first call in a body that may end a test in the body's goroutine, or nil.
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

// elsewhere calls yield with each function literal that runs in another goroutine than the surrounding code.
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

// startsGoroutines reports whether a file is a test with code that runs in another goroutine.
func startsGoroutines(s source) (found bool) {
	if s.isTest() {
		elsewhere(s.ast, func(ast.Node) { found = true })
	}
	return found
}

func TestNoTestEndsElsewhere(t *testing.T) {
	t.Parallel()
	packages := map[string][]source{}
	for _, s := range mustSources(t, byHand) {
		packages[s.dir()+" "+s.ast.Name.Name] = append(packages[s.dir()+" "+s.ast.Name.Name], s)
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if !slices.ContainsFunc(packages[name], startsGoroutines) { // its types need not be read
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
