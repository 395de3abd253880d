package guard

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/kubesim/kubesim"
)

// source is a parsed Go file of the project.
type source struct {
	name  string // slash-separated, relative to the project's root
	lines int
	ast   *ast.File
	owner string // directory of the go.mod to which it belongs; "" for the root module
}

func (s source) dir() string  { return strings.TrimSuffix(path.Dir(s.name), ".") }
func (s source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }

// at returns the position of a node in the format file:line.
func (s source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.name, fset.Position(n.Pos()).Line)
}

// in reports whether the file is below one of the directories.
func (s source) in(folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(s.name, f+"/") })
}

var fset = token.NewFileSet()

// texts returns the contents of all text files in the project, by name.
var texts = sync.OnceValues(func() (map[string][]byte, error) {
	out := map[string][]byte{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return ignoreGone(err)
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", "node_modules"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(name)
		if err == nil && bytes.IndexByte(data, 0) < 0 {
			rel, _ := filepath.Rel(root, name)
			out[filepath.ToSlash(rel)] = data
		}
		return ignoreGone(err)
	})
	return out, err
})

// ignoreGone ignores the error for a file that another test has removed during the walk.
func ignoreGone(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// sources returns all Go files outside testdata and outside folders whose names begin with a dot, as ./... does, sorted by name.
var sources = sync.OnceValues(func() ([]source, error) {
	all, err := texts()
	if err != nil {
		return nil, err
	}
	var out []source
	for name, data := range all { // sorted below
		if !strings.HasSuffix(name, ".go") || strings.HasPrefix(name, ".") || strings.Contains("/"+name, "/testdata/") {
			continue
		}
		f, err := parser.ParseFile(fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		out = append(out, source{name: name, lines: bytes.Count(data, []byte("\n")), ast: f, owner: owner(all, name)})
	}
	slices.SortFunc(out, func(a, b source) int { return strings.Compare(a.name, b.name) })
	return out, nil
})

// owner returns the nearest parent directory of name that contains a go.mod.
func owner(all map[string][]byte, name string) string {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, ok := all[dir+"/go.mod"]; ok {
			return dir
		}
	}
	return ""
}

// mustSources returns the files that keep accepts.
func mustSources(t *testing.T, keep func(source) bool) []source {
	t.Helper()
	all, err := sources()
	if err != nil {
		t.Fatalf("reading the project: %v", err)
	}
	var out []source
	for _, s := range all {
		if keep(s) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		t.Fatal("found no files: the guard looks in the wrong place")
	}
	return out
}

// imports maps the names of a file's imports to their paths.
func (s source) imports() map[string]string {
	out := map[string]string{}
	for _, spec := range s.ast.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(p)
		if name == "v2" {
			name = path.Base(path.Dir(p))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		out[name] = p
	}
	return out
}

// goList runs "go list" in the root module and returns its lines.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	return goListFor(t, nil, args...)
}

// goListFor is like goList, but with additional environment variables.
func goListFor(t *testing.T, env []string, args ...string) []string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command")
	}
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
