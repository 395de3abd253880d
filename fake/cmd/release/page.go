package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// pages builds the page and, if the project has it, the npm package. The page's engine uses the same modules as the program.
func (r *release) pages(ctx context.Context, program []entry) error {
	r.logf("building the page")
	if _, err := r.command(ctx, ".", r.environment(), "make", "web-dist"); err != nil {
		return err
	}
	if err := r.writePage(ctx, program); err != nil {
		return err
	}
	return r.npm(ctx)
}

// writePage writes the archive of the page in web/dist, with the licenses of the page's components.
func (r *release) writePage(ctx context.Context, program []entry) error {
	files, err := readFolder(filepath.Join(r.root, "web/dist"))
	if err != nil {
		return err
	}
	packages, err := r.npmLicenses(ctx)
	if err != nil {
		return err
	}
	for _, f := range program {
		switch f.name {
		case "LICENSE":
			files = append(files, f)
		case licensesFile:
			f.data = append(packages, f.data...)
			files = append(files, f)
		}
	}
	return writeFile(r.file("page.tar.gz"), files, r.time, writeTarGz)
}

// npmTarballs matches the tarball that make npm-pack creates, named like that of npm pack: kubesim-0.1.0.tgz.
const npmTarballs = "web/npm/*.tgz"

// npm builds the npm package. If the Makefile has no target for it, npm does nothing.
func (r *release) npm(ctx context.Context) error {
	makefile, err := os.ReadFile(filepath.Join(r.root, "Makefile"))
	if err != nil {
		return err
	}
	if !bytes.Contains(makefile, []byte("\nnpm-pack:")) {
		r.logf("left out: the npm package (the Makefile has no npm-pack)")
		return nil
	}
	r.logf("building the npm package")
	pattern := filepath.Join(r.root, npmTarballs)
	old, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	if _, err := r.command(ctx, ".", r.environment(), "make", "npm-pack"); err != nil {
		return err
	}
	packed, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	if len(packed) != 1 || !strings.HasSuffix(packed[0], "-"+r.version[1:]+".tgz") {
		return fmt.Errorf("make npm-pack left %v, not one tarball of version %s", packed, r.version[1:])
	}
	data, err := os.ReadFile(packed[0])
	if err != nil {
		return err
	}
	return os.WriteFile(r.file("npm.tgz"), data, 0o644)
}
