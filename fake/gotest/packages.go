package gotest

import (
	"context"
	"encoding/json"
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

// usesCgo returns a dependency of a package's tests outside the Go tree that has files for cgo on this platform, or "".
func (r *run) usesCgo(ctx context.Context, p aPackage) (string, error) {
	out, err := r.outputWith(ctx, "1", slices.Concat([]string{"list", "-e", "-test", "-deps", "-tags=" + r.tags()}, r.modFlags, []string{"-f",
		"{{if and (not .Standard) .CgoFiles}}{{.ImportPath}}{{end}}", p.ImportPath})...)
	path, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return path, err
}
