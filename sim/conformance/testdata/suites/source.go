package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// binary is the test binary of a package.
type binary struct {
	path   string // of the package, within its module
	file   string
	dir    string // of the package's source: where its tests run
	ginkgo bool   // the tests are specs of Ginkgo
}

// build fetches the module of a project and builds the test binaries of its packages, unless they are there.
func (p project) build(ctx context.Context, work string) ([]binary, error) {
	source := filepath.Join(work, "src", strings.ReplaceAll(p.module, "/", "_"))
	if err := fetch(ctx, p.module, source); err != nil {
		return nil, err
	}
	for _, n := range p.nested {
		module, folder, _ := strings.Cut(n, " => ")
		if err := fetch(ctx, module, filepath.Join(source, folder)); err != nil {
			return nil, err
		}
	}
	packages, err := p.list(ctx, source, filepath.Join(work, "bin", p.name+"@"+p.version()))
	if err != nil {
		return nil, err
	}
	for _, b := range packages {
		if _, err := os.Stat(b.file); err == nil {
			continue
		}
		// -s and -w leave out what only a debugger reads: half of the file.
		if _, err := command(ctx, source, "go", "test", "-c", "-tags", p.tags, "-ldflags", "-s -w", "-o", b.file, "./"+b.path); err != nil {
			return nil, err
		}
	}
	return packages, nil
}

// fetch copies a module from the module proxy into a folder that can be written to, unless it is there.
func fetch(ctx context.Context, module, folder string) error {
	if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
		return nil
	}
	out, err := command(ctx, os.TempDir(), "go", "mod", "download", "-json", module)
	if err != nil {
		return err
	}
	var cached struct{ Dir string }
	if err := json.Unmarshal(out, &cached); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	partial := folder + ".partial"
	if err := errors.Join(os.RemoveAll(partial), copyTree(cached.Dir, partial)); err != nil {
		return err
	}
	return os.Rename(partial, folder)
}

// copyTree copies a folder of the module cache; the copies can be written to.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(file, from)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
}

// list names the packages of a project that have tests.
func (p project) list(ctx context.Context, source, bin string) ([]binary, error) {
	const format = "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}\t{{join .TestImports \" \"}} {{join .XTestImports \" \"}}{{end}}"
	out, err := command(ctx, source, "go", append([]string{"list", "-tags", p.tags, "-f", format}, p.packages...)...)
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
			path: path, dir: fields[1], file: filepath.Join(bin, strings.ReplaceAll(path, "/", "_")+".test"),
			ginkgo: slices.Contains(strings.Fields(fields[2]), "github.com/onsi/ginkgo/v2"),
		})
	}
	return found, nil
}

func (p project) leftOut(ctx context.Context, source string) ([]string, error) {
	if len(p.except) == 0 {
		return nil, nil
	}
	out, err := command(ctx, source, "go", append([]string{"list"}, p.except...)...)
	return strings.Fields(string(out)), err
}

// command runs a program in a folder and returns what it prints; what it says of a failure is in the error.
func command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	var out, complaint bytes.Buffer
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &complaint
	c.Env = append(os.Environ(), "GOWORK=off", "PWD="+dir)
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out.Bytes(), complaint.Bytes())
	}
	return out.Bytes(), nil
}
