package gotest

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// aPackage is a package with tests.
type aPackage struct {
	ImportPath, Name, Dir     string
	TestGoFiles, XTestGoFiles []string
	TestImports, XTestImports []string
}

// packages returns the packages with tests that the user has named.
func (r *run) packages(ctx context.Context) (list []aPackage, err error) {
	args := slices.Concat([]string{"list", "-e"}, r.modFlags, []string{"-tags=" + r.o.tags, "-json=ImportPath,Name,Dir,TestGoFiles,XTestGoFiles,TestImports,XTestImports"},
		r.o.Packages)
	out, err := r.output(ctx, args...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p aPackage
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			list = append(list, p)
		}
	}
	return list, nil
}

// startPrograms reports whether the tests may start programs: whether they or their dependencies outside the Go tree import
// os/exec.
func (r *run) startPrograms(ctx context.Context) (bool, error) {
	args := []string{"list", "-e", "-test", "-deps", "-tags=" + r.tags(), "-f", "{{if not .Standard}}{{range .Imports}}{{.}}\n{{end}}{{end}}"}
	out, err := r.output(ctx, append(args, r.o.Packages...)...)
	return slices.Contains(strings.Split(string(out), "\n"), "os/exec"), err
}

// needCgo returns the packages whose tests cannot be built without cgo. The values are the dependencies that need cgo.
func (r *run) needCgo(ctx context.Context, list []aPackage) (map[string]string, error) {
	const format = "{{with .Error}}{{$.ImportPath}}\t{{.Err}}{{end}}"
	need := map[string]string{}
	args := append([]string{"list", "-e", "-test", "-deps", "-tags=" + r.tags()}, r.modFlags...)
	out, err := r.output(ctx, append(append(args, "-f", format), r.o.Packages...)...)
	if err != nil || !strings.Contains(string(out), noFiles) {
		return nil, err
	}
	for _, p := range list {
		out, err := r.output(ctx, append(append(args, "-f", format), p.ImportPath)...)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(out)) {
			if name, text, _ := strings.Cut(line, "\t"); strings.Contains(text, noFiles) {
				need[p.ImportPath] = name
			}
		}
	}
	return need, nil
}

// noFiles is the go command's error for a package in which all files require cgo.
const noFiles = "build constraints exclude all Go files"

// usesCgo returns a dependency of a package's tests outside the Go tree that has files for cgo, or "".
func (r *run) usesCgo(ctx context.Context, p aPackage) (string, error) {
	out, err := r.output(ctx, slices.Concat([]string{"list", "-e", "-test", "-deps", "-tags=" + r.tags()}, r.modFlags, []string{"-f",
		"{{if not .Standard}}{{$p := .}}{{range .IgnoredGoFiles}}{{$p.Dir}}/{{.}}\t{{$p.ImportPath}}\n{{end}}{{end}}", p.ImportPath})...)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		file, path, _ := strings.Cut(strings.TrimSpace(line), "\t")
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err == nil && slices.ContainsFunc(parsed.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` }) {
			return path, nil
		}
	}
	return "", nil
}

// addedName is the name of the file that is added to each package.
const addedName = "kubesim_gotest_test.go"

// register adds a file to the tests of each package. The file makes package os run kubesim's programs, and tests fail if an
// oracle does. If there are oracles, it also makes Ginkgo's specs fail.
func (o *overlay) register(list []aPackage, dir string) error {
	for i, p := range list {
		text := fmt.Sprintf(registration, p.Name, insidePackage)
		if hasOracles() && slices.Contains(append(p.TestImports, p.XTestImports...), ginkgo) {
			text = fmt.Sprintf(strings.Replace(registration, "import (\n", "import (\n\t\"strings\"\n\tginkgo \""+ginkgo+"\"\n", 1), p.Name, insidePackage) + specs
		}
		if err := o.add(filepath.Join(p.Dir, addedName), dir, fmt.Sprintf("register%d_test.go", i), text); err != nil {
			return err
		}
	}
	return nil
}

// hasOracles reports whether oracles observe the servers of the tests.
func hasOracles() bool {
	return os.Getenv("KUBESIM_ORACLES") != "" || os.Getenv("KUBESIM_FAIL_ON_WARNING") != ""
}

// ginkgo is the import path of Ginkgo.
const ginkgo = "github.com/onsi/ginkgo/v2"

// registration is the template of that file. The file is in the external test package, which prevents import cycles.
const registration = `package %s_test

import (
	"os"
	_ "unsafe" // for linkname

	kubesim %q
)

//go:linkname virtualProgram os.virtualProgram
var virtualProgram func(name string) func(args []string, stdout, stderr *os.File, stop <-chan struct{}) (code int)

//go:linkname virtualEndTest testing.virtualEndTest
var virtualEndTest func(rest bool) []string

func init() {
	virtualProgram, virtualEndTest = kubesim.Program, kubesim.EndTest
	kubesim.StartCluster()
}
`

// specs is added to the file if the tests import Ginkgo. JustAfterEach runs while the suite's controllers still run.
const specs = `
func init() {
	ginkgo.JustAfterEach(func() { virtualEndSpec(!ginkgo.CurrentSpecReport().Failed()) })
	ginkgo.AfterEach(func() { virtualEndSpec(false) })
}

func virtualEndSpec(rest bool) {
	if failures := kubesim.EndTest(rest); len(failures) > 0 {
		ginkgo.Fail(strings.Join(failures, "\n"))
	}
}
`
