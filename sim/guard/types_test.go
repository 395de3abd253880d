package guard

import (
	"go/ast"
	"go/importer"
	"go/types"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// exports are the export data files of compiled packages, by import path. They are cached, because listing them is slow.
var exports struct {
	sync.Once
	files map[string]string
}

// exportsOf returns the export data files of the packages from which the root module is built.
func exportsOf(t *testing.T) map[string]string {
	t.Helper()
	exports.Do(func() {
		exports.files = map[string]string{}
		for _, line := range goList(t, "-e", "-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}} {{.Export}}{{end}}",
			"./clock/...", "./sim/...", "./fake/...", "./wasm/...") {
			if name, file, ok := strings.Cut(line, " "); ok {
				exports.files[name] = file
			}
		}
	})
	return exports.files
}

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
	exports := exportsOf(t)
	typed.Do(func() {
		imp := importer.ForCompiler(fset, "gc", func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) })
		folders := map[string][]source{}
		for _, s := range mustSources(t, withTypes) {
			folders[s.dir()] = append(folders[s.dir()], s)
		}
		for dir, files := range folders { // order does not matter: findings are independent
			typed.packages = append(typed.packages, typedPackage{files, infoOf(module+"/"+dir, imp, files)})
		}
	})
	for _, p := range typed.packages {
		files := slices.DeleteFunc(slices.Clone(p.files), func(s source) bool { return !keep(s) })
		if len(files) > 0 {
			yield(files, p.info)
		}
	}
}

// infoOf returns the types of a package's files. It ignores errors, because a package that does not compile fails elsewhere.
func infoOf(path string, imp types.Importer, files []source) *types.Info {
	var list []*ast.File
	for _, s := range files {
		list = append(list, s.ast)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: imp, Error: func(error) {}}
	_, _ = conf.Check(path, fset, list, info)
	return info
}
