package guard

import (
	"go/ast"
	"go/parser"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestRootIsStraight checks that references between the files of package sim have no cycles, so that each file can be read after
// the files that it uses: options and lock, the Cluster, then the operations on it.
func TestRootIsStraight(t *testing.T) {
	t.Parallel()
	files := mustSources(t, func(s source) bool { return s.dir() == "sim" && !s.isTest() })
	for _, circle := range circles(files) {
		t.Errorf("%s name each other: move what they share to one of them", circle)
	}
}

// TestOneLock checks that the lock of a Cluster is acquired only in lock.go, which processes everything that has become due.
func TestOneLock(t *testing.T) {
	t.Parallel()
	locks := 0
	for _, s := range mustSources(t, func(s source) bool { return s.dir() == "sim" && !s.isTest() }) {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			x, ok := n.(*ast.SelectorExpr)
			if !ok || x.Sel.Name != "mu" {
				return true
			}
			if locks++; s.name != "sim/lock.go" {
				t.Errorf("%s takes the lock itself: use Cluster.do, or add a method to lock", s.at(x))
			}
			return true
		})
	}
	if locks == 0 {
		t.Error("nobody takes the lock: is it still called mu?")
	}
}

func TestRootIsStraightFinds(t *testing.T) {
	is := is.New(t)
	read := func(name, text string) source {
		f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		is.NoErr(err)
		return source{name: name, ast: f}
	}
	a, b := read("a.go", "package a\nfunc f() { g() }"), read("b.go", "package a\nfunc g() {}\nfunc (x T) h() {}\ntype T int")
	is.Equal(len(circles([]source{a, b})), 0)
	is.Equal(circles([]source{a, b, read("c.go", "package a\nfunc k(x T) { x.h(); f() }")}), nil)
	is.Equal(len(circles([]source{read("a.go", "package a\nfunc f(x T) { x.h() }\nvar v int"), read("b.go", "package a\ntype T int\nfunc (T) h() { _ = v }")})), 1)
}

// circles returns the cycles of files that refer to each other's functions, types, values and unexported methods.
func circles(files []source) (found []string) {
	home := map[string]string{} // file by name; names of methods begin with a dot
	for _, s := range files {
		for _, name := range declared(s.ast) {
			home[name] = s.name
		}
	}
	uses := map[string][]string{}
	for _, s := range files {
		take := func(name string) {
			if to, ok := home[name]; ok && to != s.name && !slices.Contains(uses[s.name], to) {
				uses[s.name] = append(uses[s.name], to)
			}
		}
		var look func(n ast.Node) bool
		look = func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr: // the name after the dot is a method, or belongs to another package
				take("." + n.Sel.Name)
				ast.Inspect(n.X, look)
				return false
			case *ast.KeyValueExpr: // the key is a field
				ast.Inspect(n.Value, look)
				return false
			case *ast.Ident:
				take(n.Name)
			}
			return true
		}
		ast.Inspect(s.ast, look)
	}
	var way []string
	done := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if i := slices.Index(way, name); i >= 0 {
			found = append(found, strings.Join(way[i:], ", "))
			return
		}
		if done[name] {
			return
		}
		done[name] = true
		way = append(way, name)
		for _, to := range uses[name] {
			visit(to)
		}
		way = way[:len(way)-1]
	}
	for _, s := range files {
		visit(s.name)
	}
	return found
}

// declared returns the names that a file declares for the package.
func declared(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			} else if !d.Name.IsExported() {
				names = append(names, "."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}
