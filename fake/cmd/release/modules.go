package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	modules "golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// checkModules installs the command with go install, and resolves the packages of a program that requires fake/ctrl. Both use a
// module proxy in a directory, which contains the modules as the tags would publish them.
func (r *release) checkModules(ctx context.Context, temporary string) error {
	proxy := filepath.Join(temporary, "proxy")
	clone := *r // modzip requires a .git directory, which a worktree does not have
	clone.root = filepath.Join(temporary, "clone")
	if _, err := r.git(ctx, "clone", "--quiet", "--no-checkout", r.root, clone.root); err != nil {
		return err
	}
	for _, folder := range taggedModules {
		if err := clone.publish(ctx, proxy, folder); err != nil {
			return err
		}
	}
	cache, err := r.command(ctx, ".", r.environment(), goCommand(), "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	downloaded := filepath.Join(strings.TrimSpace(string(cache)), "cache/download")
	// The module cache is a separate one, because this version of the modules is not published yet.
	env := r.environment("GOMODCACHE="+filepath.Join(temporary, "modules"), "GOBIN="+temporary, "GOFLAGS=-modcacherw -trimpath", "CGO_ENABLED=0", "GOPRIVATE=", "GOSUMDB=off",
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(downloaded)+",https://proxy.golang.org")
	user := *r
	user.root = temporary
	if _, err := user.command(ctx, ".", env, goCommand(), "install", rootModule+"/fake/cmd/kubesim@"+r.version); err != nil {
		return err
	}
	if err := user.checkVersionOf(ctx, filepath.Join(temporary, here().program())); err != nil {
		return err
	}
	const program = "package main\n\nimport (\n\t\"" + rootModule + "/fake\"\n\t\"" + rootModule + "/fake/ctrl\"\n)\n\nfunc main() { _, _ = fake.New, ctrl.Client }\n"
	if err := os.Mkdir(filepath.Join(temporary, "user"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(temporary, "user/main.go"), []byte(program), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"mod", "init", "example.com/user"}, {"get", rootModule + "/fake/ctrl@" + r.version}, {"list", "-deps", "."}} {
		if _, err := user.command(ctx, "user", env, goCommand(), args...); err != nil {
			return err
		}
	}
	return nil
}

// publish writes a module, at the release's version, to a directory that serves as a module proxy.
func (r *release) publish(ctx context.Context, proxy, folder string) error {
	m := modules.Version{Path: path.Join(rootModule, folder), Version: r.version}
	base := filepath.Join(proxy, filepath.FromSlash(m.Path), "@v", m.Version)
	if err := os.MkdirAll(filepath.Dir(base), 0o755); err != nil {
		return err
	}
	var zipped bytes.Buffer
	if err := modzip.CreateFromVCS(&zipped, m, r.root, r.commit, folder); err != nil {
		return fmt.Errorf("%s cannot be published as a module: %w", m.Path, err)
	}
	mod, err := r.git(ctx, "show", r.commit+":"+path.Join(folder, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": m.Version, "Time": r.time})
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(base+".zip", zipped.Bytes(), 0o644), os.WriteFile(base+".mod", []byte(mod+"\n"), 0o644),
		os.WriteFile(base+".info", info, 0o644), os.WriteFile(filepath.Join(filepath.Dir(base), "list"), []byte(m.Version+"\n"), 0o644))
}
