package documents

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// given are the variables that Go code in documents uses without declaring them.
var given = map[string]string{
	"ctx":     "context.Context",
	"file":    "string",
	"handler": "http.Handler",
	"is":      "*is.I",
	"pod":     "*corev1.Pod",
	"run":     "func(context.Context, http.RoundTripper) error",
	"setup":   "func(manager.Manager) error",
	"site":    "*corev1.ConfigMap",
	"srv":     "*fake.Server",
	"t":       "*testing.T",
}

// TestGo compiles the Go blocks of all documents: files, declarations, and statements. They may import what the examples import.
func TestGo(t *testing.T) {
	t.Parallel()
	paths, err := importedPaths()
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	fset := token.NewFileSet()
	for _, d := range all(t) {
		for _, b := range d.Blocks {
			switch {
			case b.Kind != "go" || isExcerpt(d, b):
				continue
			case strings.HasPrefix(b.Text, "package "):
				t.Errorf("%s:%d: a whole file belongs into the examples, where it runs: add it to excerpts (examples/documents/excerpts_test.go)", d.Name, b.Line)
			}
			f, err := complete(fset, fmt.Sprintf("%s:%d", d.Name, b.Line), b.Text, paths)
			if err != nil {
				t.Errorf("%s:%d: this Go does not parse: %v", d.Name, b.Line, err)
				continue
			}
			files = append(files, f)
		}
	}
	if len(files) < 5 {
		t.Fatalf("found %d pieces of Go: the test looks in the wrong place", len(files))
	}
	for _, complaint := range typeErrors(t, fset, files) {
		t.Errorf("%s; a variable that the block does not declare has a line in given (examples/documents/compile_test.go)", complaint)
	}
}

// complete converts a block of declarations, of statements, or of one expression to a file. "…" stands for code that the document
// omits. Missing imports are those of the examples.
func complete(fset *token.FileSet, name, text string, paths map[string]string) (*ast.File, error) {
	text = strings.ReplaceAll(text, "…", `panic("…")`)
	if e, err := parser.ParseExpr(text); err == nil {
		if _, ok := e.(*ast.CompositeLit); ok {
			text = "_ = " + text
		}
	}
	const begin = "package p\n"
	whole := begin + text
	if f, err := parser.ParseFile(token.NewFileSet(), name, whole, 0); err == nil {
		for _, variable := range undeclared(f) {
			whole += "var " + variable + "\n"
		}
	} else {
		f, err := parser.ParseFile(token.NewFileSet(), name, begin+"func _() {\n"+text+"}\n", 0)
		if err != nil {
			return nil, err
		}
		whole = begin + "func _(" + strings.Join(undeclared(f), ", ") + ") {\n" + text + "}\n"
	}
	f, err := parser.ParseFile(fset, name, whole, 0)
	if err == nil {
		addImports(f, paths)
	}
	return f, err
}

// undeclared returns declarations for those variables of given that a file uses without declaring them.
func undeclared(f *ast.File) (declarations []string) {
	for _, id := range f.Unresolved {
		if typ, ok := given[id.Name]; ok && !slices.Contains(declarations, id.Name+" "+typ) {
			declarations = append(declarations, id.Name+" "+typ)
		}
	}
	return declarations
}

// addImports imports the packages that a file uses without importing them.
func addImports(f *ast.File, paths map[string]string) {
	for _, id := range f.Unresolved {
		path, ok := paths[id.Name]
		if !ok || f.Scope.Lookup(id.Name) != nil {
			continue
		}
		spec := &ast.ImportSpec{Name: ast.NewIdent(id.Name), Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(path)}}
		if slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return s.Name != nil && s.Name.Name == id.Name }) {
			continue
		}
		f.Imports = append(f.Imports, spec)
		f.Decls = append([]ast.Decl{&ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{spec}}}, f.Decls...)
	}
}

// importedPaths returns, for each package name, the import path that most files in examples, fake and sim use for it.
func importedPaths() (map[string]string, error) {
	count := map[string]map[string]int{}
	var files []string
	for _, pattern := range []string{"examples/*/*.go", "fake/*.go", "sim/*.go"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return nil, err
		}
		for _, spec := range f.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			name := path.Base(p)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if count[name] == nil {
				count[name] = map[string]int{}
			}
			count[name][p]++
		}
	}
	paths := map[string]string{}
	for name, by := range count { // each name separately
		most := func(a, b string) int { return cmp.Or(by[a]-by[b], strings.Compare(b, a)) }
		paths[name] = slices.MaxFunc(slices.Collect(maps.Keys(by)), most)
	}
	return paths, nil
}

// typeErrors checks each file as a separate package. Variables and imports may be unused.
func typeErrors(t *testing.T, fset *token.FileSet, files []*ast.File) (complaints []string) {
	t.Helper()
	packages := map[string]bool{}
	for _, f := range files {
		for _, spec := range f.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			packages[p] = true
		}
	}
	list := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, slices.Sorted(maps.Keys(packages))...)...)
	var stderr bytes.Buffer
	list.Dir, list.Stderr = filepath.Join(root, "examples"), &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	compiled := map[string]string{}
	for line := range strings.Lines(string(out)) {
		p, file, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		compiled[p] = file
	}
	from := importer.ForCompiler(fset, "gc", func(p string) (io.ReadCloser, error) { return os.Open(compiled[p]) })
	for _, f := range files {
		conf := types.Config{Importer: from, Error: func(err error) {
			if e, ok := err.(types.Error); !ok || !e.Soft {
				complaints = append(complaints, fmt.Sprintf("%s: %v", fset.File(f.Pos()).Name(), err))
			}
		}}
		_, _ = conf.Check("p", fset, []*ast.File{f}, nil)
	}
	return complaints
}
