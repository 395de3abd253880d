package guard

import (
	"go/ast"
	"go/importer"
	"go/types"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// typed are the packages of clock, sim, fake and wasm with their types, without tests. Two guards share them, because checking types is slow.
var typed struct {
	sync.Once
	packages []typedPackage
}

// typedPackage is the files of a folder, and their types.
type typedPackage struct {
	files []source
	info  *types.Info
}

// withTypes reports whether checkTypes can yield a file.
func withTypes(s source) bool {
	return s.owner == "" && !s.isTest() && s.in("clock", "sim", "fake", "wasm")
}

// checkTypes calls yield for each package of clock, sim, fake and wasm with files that keep accepts, with those files and their types.
func checkTypes(t *testing.T, keep func(source) bool, yield func(files []source, info *types.Info)) {
	t.Helper()
	typed.Do(func() {
		c := newChecker(t, mustSources(t, withTypes))
		for dir := range c.folders { // order does not matter: findings are independent
			_, _ = c.Import(module + "/" + dir)
		}
		typed.packages = c.checked
	})
	for _, p := range typed.packages {
		files := slices.DeleteFunc(slices.Clone(p.files), func(s source) bool { return !keep(s) })
		if len(files) > 0 {
			yield(files, p.info)
		}
	}
}

// checker implements types.Importer. It checks each package of this module from its source, after those that it imports, and reads
// the export data of all others. The go command would have to compile this module for its export data, beside the tests.
type checker struct {
	folders map[string][]source // by directory
	imports map[string]*types.Package
	checked []typedPackage
	others  types.Importer
}

func newChecker(t *testing.T, files []source) *checker {
	t.Helper()
	c := &checker{folders: map[string][]source{}, imports: map[string]*types.Package{}}
	others := map[string]bool{}
	for _, s := range files {
		c.folders[s.dir()] = append(c.folders[s.dir()], s)
		for _, name := range s.imports() {
			if !strings.HasPrefix(name, module+"/") {
				others[name] = true
			}
		}
	}
	exports := exportsOf(t, slices.Sorted(maps.Keys(others)))
	c.others = importer.ForCompiler(fset, "gc", func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) })
	return c
}

// exportsOf returns the files with the export data of the packages and of those that they import, by import path.
func exportsOf(t *testing.T, names []string) map[string]string {
	t.Helper()
	files := map[string]string{}
	args := []string{"-e", "-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}} {{.Export}}{{end}}"}
	for _, line := range goList(t, append(args, names...)...) {
		if name, file, ok := strings.Cut(line, " "); ok {
			files[name] = file
		}
	}
	return files
}

// Import implements types.Importer.
func (c *checker) Import(name string) (*types.Package, error) {
	dir, own := strings.CutPrefix(name, module+"/")
	if !own {
		return c.others.Import(name)
	}
	if c.imports[name] == nil {
		pkg, info := typesOf(name, c, c.folders[dir])
		c.imports[name] = pkg
		c.checked = append(c.checked, typedPackage{c.folders[dir], info})
	}
	return c.imports[name], nil
}

// typesOf returns a package and the types of its files. It ignores errors, because a package that does not compile fails elsewhere.
func typesOf(path string, imp types.Importer, files []source) (*types.Package, *types.Info) {
	var list []*ast.File
	for _, s := range files {
		list = append(list, s.ast)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: imp, Error: func(error) {}}
	pkg, _ := conf.Check(path, fset, list, info)
	return pkg, info
}
