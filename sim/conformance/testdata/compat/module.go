package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// module is a Go module that is made of the sources in testdata and of the versions of one minor.
type module struct {
	dir      string
	requires []string // path@version
	sources  []string // folders of testdata
}

// ofMinor is the module of a minor: a client, a manager and kubectl.
func ofMinor(f flags, i int) module {
	m := minors[i]
	mod := module{dir: filepath.Join(f.work, "k8s-"+minor(m.kubernetes)), sources: []string{"clientgo", "manager", "kubectl"}}
	for _, name := range []string{"api", "apimachinery", "client-go", "apiextensions-apiserver", "cli-runtime", "component-base"} {
		mod.requires = append(mod.requires, "k8s.io/"+name+"@v"+m.kubernetes)
	}
	mod.requires = append(mod.requires, "k8s.io/kubectl@v"+m.kubectl, "sigs.k8s.io/controller-runtime@v"+m.runtime)
	return mod
}

// make writes the module unless it is unchanged, because go mod tidy asks the module proxy.
func (m module) make(ctx context.Context) error {
	root, err := filepath.Abs("../../../..")
	if err != nil {
		return err
	}
	stamp := sha256.New()
	fmt.Fprintln(stamp, m.requires, root)
	for _, name := range []string{filepath.Join(root, "go.mod"), filepath.Join(root, "fake/ctrl/go.mod")} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		stamp.Write(text)
	}
	if err := os.MkdirAll(m.dir, 0o755); err != nil {
		return err
	}
	for _, name := range m.sources {
		to := filepath.Join(m.dir, name)
		if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(filepath.Join("testdata", name)))); err != nil {
			return err
		}
	}
	done := filepath.Join(m.dir, "tidy")
	sum := fmt.Sprintf("%x", stamp.Sum(nil))
	if was, err := os.ReadFile(done); err == nil && string(was) == sum {
		return nil
	}
	os.Remove(filepath.Join(m.dir, "go.mod"))
	os.Remove(filepath.Join(m.dir, "go.sum"))
	edit := []string{"mod", "edit", "-go=1.26.0", "-require=github.com/kubesim/kubesim@v0.0.0", "-replace=github.com/kubesim/kubesim=" + root,
		"-require=github.com/kubesim/kubesim/fake/ctrl@v0.0.0", "-replace=github.com/kubesim/kubesim/fake/ctrl=" + filepath.Join(root, "fake/ctrl")}
	for _, r := range m.requires {
		edit = append(edit, "-require="+r)
	}
	for _, args := range [][]string{{"mod", "init", "compat"}, edit, {"mod", "tidy"}} {
		if out, err := command(ctx, m.dir, nil, "go", args...); err != nil {
			return notHere(fmt.Sprintf("the module proxy does not have it all (%s)", lastLine(out)))
		}
	}
	return os.WriteFile(done, []byte(sum), 0o644)
}

// build builds a package of the module: the test binary of one that has tests, else the program.
func (m module) build(ctx context.Context, name string, ldflags ...string) (program string, err error) {
	if err := m.make(ctx); err != nil {
		return "", err
	}
	program = filepath.Join(m.dir, "bin", name)
	args := []string{"build"}
	if tests, _ := filepath.Glob(filepath.Join(m.dir, name, "*_test.go")); len(tests) > 0 {
		args = []string{"test", "-c", "-vet=off"}
	}
	args = append(args, "-ldflags", strings.Join(append(ldflags, "-s -w"), " "), "-o", program, "./"+name)
	if out, err := command(ctx, m.dir, nil, "go", args...); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
}

// goTests runs the tests of a package of a minor's module.
func goTests(i int, name string) func(context.Context, flags, row) error {
	return func(ctx context.Context, f flags, _ row) error {
		m := ofMinor(f, i)
		program, err := m.build(ctx, name)
		if err != nil {
			return err
		}
		assets, err := command(ctx, f.work, nil, f.kubesim, "envtest")
		if err != nil {
			return err
		}
		env := []string{"KUBEBUILDER_ASSETS=" + strings.TrimSpace(string(assets))}
		out, err := command(ctx, filepath.Join(m.dir, name), env, program, "-test.v", "-test.timeout=10m")
		os.WriteFile(filepath.Join(m.dir, name+".log"), out, 0o644)
		if err == nil && !bytes.Contains(out, []byte("\n--- PASS: Test")) {
			err = errors.New("no test has passed")
		}
		if err != nil {
			return fmt.Errorf("%w\n%s", err, failures(out))
		}
		return nil
	}
}

// failures returns the output of a test binary without the tests that pass.
func failures(out []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		if word := strings.TrimSpace(line); !strings.HasPrefix(word, "=== ") && !strings.HasPrefix(word, "--- PASS") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// command runs a program in a folder, with more environment variables, and returns all that it prints.
func command(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), append([]string{"GOWORK=off", "PWD=" + dir}, env...)...)
	c.WaitDelay = 10 * time.Second
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w", filepath.Base(name), strings.Join(args, " "), err)
	}
	return out, err
}

// lastLine returns the last non-empty line of a program's output.
func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
