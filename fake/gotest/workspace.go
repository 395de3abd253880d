package gotest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// workspace writes a copy of the user's go.work with one more module, which requires kubesim, and sets GOWORK to it:
//
//	go.work ─▶ a copy ─▶ use the user's folders, and kubesim/go.mod ─▶ require kubesim
func (r *run) workspace(ctx context.Context) error {
	module := filepath.Join(r.dir, "kubesim")
	if err := os.MkdirAll(module, 0o700); err != nil {
		return err
	}
	var work struct {
		Go      string
		Godebug []struct{ Key string }
		Use     []struct{ DiskPath string }
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	text, err := os.ReadFile(r.env.GOWORK)
	if err != nil {
		return err
	}
	path, folder := filepath.Join(r.dir, "go.work"), filepath.Dir(r.env.GOWORK)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	if err := copySums(r.env.GOWORK+".sum", path+".sum"); err != nil {
		return err
	}
	out, err := r.output(ctx, "work", "edit", "-json", path)
	if err == nil {
		err = json.Unmarshal(out, &work)
	}
	if err != nil {
		return err
	}
	version := strings.TrimPrefix(r.env.GOVERSION, "go")
	edit := []string{"work", "edit", "-go=" + version}
	if len(work.Godebug) == 0 && work.Go != "" { // the Go version determines defaults of GODEBUG
		edit = append(edit, "-godebug=default=go"+work.Go)
	}
	add := true
	for _, use := range work.Use {
		dir := absolute(folder, use.DiskPath)
		edit = append(edit, "-dropuse="+use.DiskPath, "-use="+dir)
		add = add && dir != r.origin.dir // kubesim may be a module of the workspace
	}
	for _, p := range work.Replace {
		if p.New.Version == "" {
			old := strings.TrimSuffix(p.Old.Path+"@"+p.Old.Version, "@")
			edit = append(edit, "-replace="+old+"="+absolute(folder, p.New.Path))
		}
	}
	if add {
		if err := r.requiringModule(ctx, module, version); err != nil {
			return err
		}
		edit = append(edit, "-use="+module)
	}
	_, err = r.output(ctx, append(edit, path)...)
	r.work = []string{"GOWORK=" + path}
	return err
}

// requiringModule writes a module that requires kubesim, with all checksums.
func (r *run) requiringModule(ctx context.Context, dir, version string) error {
	r.work = []string{"GOWORK=off"}
	file := filepath.Join(dir, "go.mod")
	if err := os.WriteFile(file, []byte("module kubesim.invalid/gotest\n\ngo "+version+"\n"), 0o600); err != nil {
		return err
	}
	if _, err := r.output(ctx, append(append([]string{"mod", "edit"}, r.origin.edits()...), file)...); err != nil {
		return err
	}
	chdir := r.o.chdir
	r.o.chdir = dir
	defer func() { r.o.chdir = chdir }()
	if _, err := r.output(ctx, "list", "-mod=mod", "-deps", "-f", "{{.ImportPath}}", insidePackage); err != nil {
		return fmt.Errorf("kubesim cannot be added to the workspace %s: %w", r.env.GOWORK, err)
	}
	return nil
}

// absolute returns a path that is relative to a folder, or absolute, as an absolute path.
func absolute(folder, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}
