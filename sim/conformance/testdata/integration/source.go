package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/conformance/testdata/suites/gotest"
)

// own is the folder with the packages that replace upstream's, and with the module of the copied tests.
const own = "server"

// base is the path of that module.
const base = "github.com/kubesim/kubesim/sim/conformance/testdata/integration/server"

// copied are the folders of modules that are copied, and below what name.
var copied = []struct{ module, name, folder string }{
	{"k8s.io/kubernetes@v1.36.3", "kubernetes", "test/integration"},
	{"k8s.io/kubernetes@v1.36.3", "kubernetes", "test/utils/apiserver"},
	{"k8s.io/apiextensions-apiserver@v0.36.3", "apiextensions", "test/integration"},
}

// replaced are the imports that the copies have instead of upstream's.  The first that matches counts.
var replaced = []struct {
	of *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`"k8s\.io/kubernetes/cmd/kube-apiserver/app/testing"`), `"` + base + `/apptesting"`},
	{regexp.MustCompile(`"k8s\.io/kubernetes/cmd/kube-apiserver/app"`), `"` + base + `/app"`},
	{regexp.MustCompile(`"k8s\.io/kubernetes/test/integration/framework"`), `"` + base + `/framework"`},
	{regexp.MustCompile(`"k8s\.io/apiextensions-apiserver/pkg/cmd/server/testing"`), `"` + base + `/extensions"`},
	{regexp.MustCompile(`"k8s\.io/kubernetes/(test/(?:integration|utils/apiserver)(?:/[^"]*)?)"`), `"` + base + `/kubernetes/$1"`},
	{regexp.MustCompile(`"k8s\.io/apiextensions-apiserver/(test/integration(?:/[^"]*)?)"`), `"` + base + `/apiextensions/$1"`},
}

// mains are the packages without a TestMain, whose tests expect an etcd that runs: by path, their names.
var mains = map[string]string{
	"apiextensions/test/integration":            "integration",
	"apiextensions/test/integration/conversion": "conversion",
}

// testMain is what such a package is given.
const testMain = `package %s

import (
	"testing"

	"` + base + `/framework"
)

func TestMain(m *testing.M) { framework.EtcdMain(m.Run) }
`

// leftOut are the packages that are not run, by the beginnings of their paths.
var leftOut = []string{
	"kubernetes/test/integration/scheduler_perf", // how fast a scheduler is
	"kubernetes/test/integration/ipamperf",       // how fast a controller is
	"kubernetes/test/integration/logs/benchmark", // how fast loggers are
}

// source is the folder in which the copies are.
type source struct {
	dir string
	bin string // for the test binaries
}

// pkg is a package of tests.
type pkg struct {
	path   string // within source
	module string // path@version: where it comes from
	dir    string
	binary string
}

// prepare copies the tests and the packages that they import instead of upstream's.
func prepare(ctx context.Context, work string) (*source, error) {
	s := &source{dir: filepath.Join(work, "src")}
	hash := sha256.New()
	for _, c := range copied {
		fmt.Fprintln(hash, c)
		if err := s.copy(ctx, c.module, c.name, c.folder); err != nil {
			return nil, err
		}
	}
	for path, name := range mains {
		if err := s.write(filepath.Join(path, "main_test.go"), fmt.Appendf(nil, testMain, name)); err != nil {
			return nil, err
		}
	}
	hash.Write([]byte(testMain))
	err := filepath.WalkDir(own, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		hash.Write(text)
		return s.write(strings.TrimPrefix(path, own), text)
	})
	s.bin = filepath.Join(work, "bin", hex.EncodeToString(hash.Sum(nil)[:6]))
	return s, err
}

// write writes a file, unless it is there.
func (s *source) write(path string, text []byte) error {
	target := filepath.Join(s.dir, path)
	if before, err := os.ReadFile(target); err == nil && bytes.Equal(before, text) {
		return nil
	}
	return errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), os.WriteFile(target, text, 0o644))
}

// copy copies a folder of a module, with the imports of ours, unless it is there.
func (s *source) copy(ctx context.Context, module, name, folder string) error {
	target := filepath.Join(s.dir, name, folder)
	if _, err := os.Stat(target); err == nil {
		return nil
	}
	cached, err := gotest.Download(ctx, module)
	if err != nil {
		return err
	}
	partial := target + ".partial"
	if err := errors.Join(os.RemoveAll(partial), os.MkdirAll(filepath.Dir(target), 0o755), gotest.CopyTree(filepath.Join(cached, folder), partial)); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(partial, "framework")); err != nil { // it is replaced as a whole
		return err
	}
	err = filepath.WalkDir(partial, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(file) == ".sh" {
			return os.Chmod(file, 0o755) // which a module does not keep
		}
		if err != nil || filepath.Ext(file) != ".go" {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(file, rewrite(text), 0o644)
	})
	if err != nil {
		return err
	}
	return os.Rename(partial, target)
}

// rewrite replaces the imports of a file.
func rewrite(text []byte) []byte {
	for _, r := range replaced {
		text = r.of.ReplaceAll(text, []byte(r.by))
	}
	return text
}

// packages returns the packages with tests whose paths match a pattern, in the order of their paths.
func (s *source) packages(ctx context.Context, pattern string) ([]pkg, error) {
	wanted, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("-packages: %w", err)
	}
	out, err := gotest.Command(ctx, s.dir, "go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}", "./kubernetes/...", "./apiextensions/...")
	if err != nil {
		return nil, err
	}
	var found []pkg
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		path := strings.TrimPrefix(lines.Text(), base+"/")
		if path == "" || !wanted.MatchString(path) || slices.ContainsFunc(leftOut, func(l string) bool { return strings.HasPrefix(path, l) }) {
			continue
		}
		p := pkg{path: path, dir: filepath.Join(s.dir, path)}
		p.binary = filepath.Join(s.bin, p.name(), filepath.Base(path)+".test") // it is a field manager by this name
		for _, c := range copied {
			if strings.HasPrefix(path, c.name+"/") {
				p.module = c.module
			}
		}
		found = append(found, p)
	}
	return found, nil
}

// build builds the test binary of a package, unless it is there.
func (s *source) build(ctx context.Context, p pkg) error {
	if _, err := os.Stat(p.binary); err == nil {
		return nil
	}
	// -s and -w leave out what only a debugger reads: half of the file.
	_, err := gotest.Command(ctx, s.dir, "go", "test", "-c", "-vet=off", "-ldflags", "-s -w", "-o", p.binary, "./"+p.path)
	return err
}
