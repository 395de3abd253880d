package guard

import (
	"go/ast"
	"go/importer"
	"go/types"
	"io"
	"os"
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

// checkTypes calls yield for each package with files that keep accepts, with those files and their types.
func checkTypes(t *testing.T, keep func(source) bool, yield func(files []source, info *types.Info)) {
	t.Helper()
	exports := exportsOf(t)
	imp := importer.ForCompiler(fset, "gc", func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) })
	packages := map[string][]source{}
	for _, s := range mustSources(t, keep) {
		packages[s.dir()] = append(packages[s.dir()], s)
	}
	for dir, files := range packages { // order does not matter: findings are independent
		yield(files, infoOf(module+"/"+dir, imp, files))
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
