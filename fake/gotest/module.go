package gotest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// kubesimModule is the path of kubesim's module.
const kubesimModule = "github.com/kubesim/kubesim"

// insidePackage is the package that test binaries import.
const insidePackage = kubesimModule + "/fake/gotest/inside"

// origin is the source of kubesim's module for the go command: a directory, or a version on the module proxy.
type origin struct{ dir, version string }

// findOrigin returns the origin of the running program. If dir is not empty, it is the directory of the module. release is the
// version if the program is a release.
func findOrigin(dir, release string) (origin, error) {
	if dir != "" {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return origin{}, err
		}
		if _, err := os.Stat(filepath.Join(dir, "fake", "gotest", "inside")); err != nil {
			return origin{}, fmt.Errorf("--kubesim: %s is not the folder of kubesim's module", dir)
		}
		return origin{dir: dir}, nil
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == kubesimModule && m.Sum != "" && m.Replace == nil {
				return origin{version: m.Version}, nil
			}
		}
	}
	if release != "" {
		return origin{version: release}, nil
	}
	_, file, _, _ := runtime.Caller(0)
	dir = filepath.Dir(filepath.Dir(filepath.Dir(file)))
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return origin{}, errors.New("the folder of kubesim's module is not known: name it with --kubesim DIR, or install kubesim with " +
			"go install " + kubesimModule + "/fake/cmd/kubesim@latest")
	}
	return origin{dir: dir}, nil
}

// edits returns the flags of go mod edit that require kubesim.
func (o origin) edits() []string {
	if o.dir != "" {
		return []string{"-require=" + kubesimModule + "@v0.0.0", "-replace=" + kubesimModule + "=" + o.dir}
	}
	return []string{"-require=" + kubesimModule + "@" + o.version, "-dropreplace=" + kubesimModule}
}

// environment holds the output of go env.
type environment struct{ GOROOT, GOVERSION, GOMOD, GOWORK, GOOS, GOCACHE string }

func (r *run) environment(ctx context.Context) error {
	out, err := r.output(ctx, "env", "-json", "GOROOT", "GOVERSION", "GOMOD", "GOWORK", "GOOS", "GOCACHE")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, &r.env); err != nil {
		return err
	}
	if r.env.GOWORK == "off" {
		r.env.GOWORK = ""
	}
	if r.env.GOWORK == "" && (r.env.GOMOD == "" || r.env.GOMOD == os.DevNull) {
		return errors.New("there is no go.mod in this folder or above it")
	}
	return nil
}

// require adds kubesim to the requirements of the tests, without a change to the user's files. It sets the flags and the
// environment for go commands. Tests that start no programs do not require kubesim, which would have to be compiled for them.
func (r *run) require(ctx context.Context) (err error) {
	if r.inside = r.o.Cluster != nil; !r.inside {
		if r.inside, err = r.startPrograms(ctx); err != nil {
			return err
		}
	}
	if !r.inside {
		return nil
	}
	if r.env.GOWORK != "" {
		return r.workspace(ctx)
	}
	path, err := r.modfile(ctx)
	r.modFlags = []string{"-mod=mod", "-modfile=" + path}
	return err
}

// copySums copies a file of checksums. If it does not exist, copySums writes an empty file.
func copySums(from, to string) error {
	sums, err := os.ReadFile(from)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(to, sums, 0o600)
}

// modfile writes a copy of the user's go.mod and go.sum that also requires kubesim. It returns the path for -modfile.
func (r *run) modfile(ctx context.Context) (string, error) {
	text, err := os.ReadFile(r.env.GOMOD)
	if err != nil {
		return "", err
	}
	path := filepath.Join(r.dir, "go.mod")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return "", err
	}
	if err := copySums(strings.TrimSuffix(r.env.GOMOD, ".mod")+".sum", strings.TrimSuffix(path, ".mod")+".sum"); err != nil {
		return "", err
	}
	var module struct {
		Module  struct{ Path string }
		Go      string
		Godebug []struct{ Key string }
	}
	out, err := r.output(ctx, "mod", "edit", "-json", path)
	if err == nil {
		err = json.Unmarshal(out, &module)
	}
	if err != nil || module.Module.Path == kubesimModule {
		return path, err
	}
	edit := append([]string{"mod", "edit"}, r.origin.edits()...)
	if len(module.Godebug) == 0 && module.Go != "" {
		// The requirement may increase the Go version, which determines defaults of GODEBUG.
		edit = append(edit, "-godebug=default=go"+module.Go)
	}
	if _, err := r.output(ctx, append(edit, path)...); err != nil {
		return "", err
	}
	// This completes go.mod and go.sum.
	if _, err := r.output(ctx, "list", "-mod=mod", "-modfile="+path, "-deps", "-f", "{{.ImportPath}}", insidePackage); err != nil {
		return "", fmt.Errorf("kubesim cannot be added to the requirements of %s: %w", r.env.GOMOD, err)
	}
	return path, nil
}
