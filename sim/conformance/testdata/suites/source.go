package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/conformance/testdata/suites/gotest"
)

// binary is the test binary of a package.
type binary struct {
	path   string // of the package, within its module
	name   string // the package's import path
	file   string
	dir    string // of the package's source: where its tests run
	ginkgo bool   // the tests are specs of Ginkgo
}

// build fetches the module of a project and builds the test binaries of its packages, unless they are there. If no binary is needed, it only
// lists the packages.
func (p project) build(ctx context.Context, work string, needed bool) ([]binary, error) {
	source := filepath.Join(work, "src", strings.ReplaceAll(p.module, "/", "_"))
	if err := gotest.Fetch(ctx, p.module, source); err != nil {
		return nil, err
	}
	for _, n := range p.nested {
		module, folder, _ := strings.Cut(n, " => ")
		if err := gotest.Fetch(ctx, module, filepath.Join(source, folder)); err != nil {
			return nil, err
		}
	}
	packages, err := p.list(ctx, source, filepath.Join(work, "bin", p.name+"@"+p.version()))
	if err != nil {
		return nil, err
	}
	for _, b := range packages {
		if _, err := os.Stat(b.file); err == nil || !needed {
			continue
		}
		// -s and -w omit the debugging information, which is half of the file.
		if _, err := gotest.Command(ctx, source, "go", "test", "-c", "-tags", p.tags, "-ldflags", "-s -w", "-o", b.file, "./"+b.path); err != nil {
			return nil, err
		}
	}
	return packages, nil
}

// list names the packages of a project that have tests.
func (p project) list(ctx context.Context, source, bin string) ([]binary, error) {
	const format = "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}\t{{join .TestImports \" \"}} {{join .XTestImports \" \"}}{{end}}"
	out, err := gotest.Command(ctx, source, "go", append([]string{"list", "-tags", p.tags, "-f", format}, p.packages...)...)
	if err != nil {
		return nil, err
	}
	left, err := p.leftOut(ctx, source)
	if err != nil {
		return nil, err
	}
	var found []binary
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 || slices.Contains(left, fields[0]) {
			continue
		}
		path, err := filepath.Rel(source, fields[1])
		if err != nil {
			return nil, err
		}
		path = filepath.ToSlash(path)
		found = append(found, binary{
			path: path, name: fields[0], dir: fields[1], file: filepath.Join(bin, strings.ReplaceAll(path, "/", "_")+".test"),
			ginkgo: slices.Contains(strings.Fields(fields[2]), "github.com/onsi/ginkgo/v2"),
		})
	}
	return found, nil
}

func (p project) leftOut(ctx context.Context, source string) ([]string, error) {
	if len(p.except) == 0 {
		return nil, nil
	}
	out, err := gotest.Command(ctx, source, "go", append([]string{"list"}, p.except...)...)
	return strings.Fields(string(out)), err
}
