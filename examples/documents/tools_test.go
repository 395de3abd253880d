package documents

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// root is the project's root directory.
const root = "../.."

// all returns the documents of the project.
func all(t *testing.T) []Document {
	t.Helper()
	documents, err := All(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(documents) < 50 {
		t.Fatalf("found %d documents: the test looks in the wrong place", len(documents))
	}
	return documents
}

// tools is a directory with the programs that lines start: kubesim, and kubesim's versions of kubectl and kube-apiserver.
type tools struct{ dir string }

// built is the directory that build creates and TestMain removes, or "".
var built string

// build builds kubesim once for all tests. The directory also contains an empty kubeconfig.
var build = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "kubesim-documents-"); err != nil {
		return "", err
	}
	built = dir
	build := exec.Command("go", "build", "-o", dir+"/kubesim", "./fake/cmd/kubesim")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("go build: %w\n%s", err, out)
	}
	if err := os.Symlink("kubesim", dir+"/kube-apiserver"); err != nil {
		return dir, err
	}
	if err := os.WriteFile(dir+"/kubeconfig", []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		return dir, err
	}
	return dir, os.WriteFile(dir+"/kubectl", []byte("#!/bin/sh\nexec kubesim kubectl \"$@\"\n"), 0o755)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

func newTools(t *testing.T) tools {
	t.Helper()
	for _, program := range []string{"go", "bash", "make"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s", program)
		}
	}
	dir, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return tools{dir}
}

// bash returns a bash command in a directory that looks like the project's root and in which MINE.txtar is the first scenario of
// the document.
func (p tools) bash(t *testing.T, d Document, script string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(top)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Symlink(filepath.Join(top, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := d.Block("txtar", ""); err == nil {
		if err := os.WriteFile(filepath.Join(dir, "MINE.txtar"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bash := exec.CommandContext(t.Context(), "bash", "-c", ownProgram.ReplaceAllString(script, "kubesim "))
	bash.Dir, bash.Env = dir, append(os.Environ(), "PATH="+p.dir+":"+os.Getenv("PATH"))
	return bash
}

// ownProgram matches the way in which lines start kubesim from a clone.
var ownProgram = regexp.MustCompile(`\bgo run \./fake/cmd/kubesim `)

// sourceText returns the text of all programs and of the Makefile.
var sourceText = sync.OnceValues(func() (text []byte, err error) {
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if err == nil && slices.Contains([]string{".git", "node_modules", "dist", "testdata", "documents"}, entry.Name()) {
				return fs.SkipDir
			}
			return err
		}
		if slices.Contains([]string{".go", ".mjs", ".ts"}, filepath.Ext(name)) || entry.Name() == "Makefile" {
			data, err := os.ReadFile(name)
			text = append(text, data...)
			return err
		}
		return nil
	})
	return text, err
})

// uses reports whether the Makefile or a program uses an environment variable.
func (p tools) uses(variable string) bool {
	text, err := sourceText()
	return err == nil && regexp.MustCompile(`\b`+regexp.QuoteMeta(variable)+`\b`).Match(text)
}

// serve starts kubesim serve on a free port and returns its URL. The process ends with the test.
func (p tools) serve(t *testing.T, args []string) string {
	t.Helper()
	serve := exec.Command(p.dir+"/kubesim", append(append([]string{"serve"}, args...), "--listen", "127.0.0.1:0")...) // the last --listen applies
	stdout, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Kill()
		_ = serve.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "serving ")
	if err != nil || !ok {
		t.Fatalf("kubesim serve %s printed %q: %v", strings.Join(args, " "), line, err)
	}
	return url
}
