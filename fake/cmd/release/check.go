package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// checks lists the checks of a release in the order in which they run.
var checks = []struct {
	what string
	do   func(r *release, ctx context.Context, temporary string) error
}{
	{"unpacks the archive for this machine and runs kubesim version and kubesim serve", (*release).checkArchive},
	{"unpacks the image and runs its command, and that of kubesim sweep --job", (*release).checkImage},
	{"unpacks the page and asks kubesim serve --web for it", (*release).checkPage},
	{"installs the command, and requires fake/ctrl, from the modules as they will be tagged", (*release).checkModules},
	{"builds everything again in a clone, with an empty cache, and compares the checksums", (*release).checkSame},
}

// notHere is the error of a check that this machine or this build does not support.
type notHere string

func (why notHere) Error() string { return string(why) }

// check builds a release and checks everything in it.
func (r *release) check(ctx context.Context) error {
	if err := r.build(ctx); err != nil {
		return err
	}
	failed := false
	for _, c := range checks {
		temporary, err := os.MkdirTemp("", "kubesim-release-check-")
		if err != nil {
			return err
		}
		r.logf("check: %s", c.what)
		err = c.do(r, ctx, temporary)
		if why, ok := err.(notHere); ok {
			r.logf("  left out: %s", why)
		} else if err != nil {
			failed = true
			r.logf("  FAILS: %v", err)
		} else {
			r.logf("  ok")
		}
		if err := removeAll(temporary); err != nil {
			return err
		}
	}
	if failed {
		return fmt.Errorf("the release %s is invalid: see the failed checks above", r.version)
	}
	r.printTags(ctx)
	return nil
}

// removeAll removes a directory tree, even if it contains read-only directories, as a module cache does.
func removeAll(folder string) error {
	_ = filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o755)
		}
		return nil
	})
	return os.RemoveAll(folder)
}

// checkSame builds the release in another directory and compares the results.
func (r *release) checkSame(ctx context.Context, temporary string) error {
	again := *r
	again.root, again.cache = filepath.Join(temporary, "another", "folder"), filepath.Join(temporary, "cache")
	if _, err := r.git(ctx, "clone", "--quiet", r.root, again.root); err != nil {
		return err
	}
	if _, err := again.git(ctx, "checkout", "--quiet", "--detach", r.commit); err != nil {
		return err
	}
	if err := again.build(ctx); err != nil {
		return err
	}
	one, err := os.ReadFile(filepath.Join(r.out(), sumsFile))
	if err != nil {
		return err
	}
	two, err := os.ReadFile(filepath.Join(again.out(), sumsFile))
	if err != nil {
		return err
	}
	if bytes.Equal(one, two) {
		return nil
	}
	return fmt.Errorf("the builds differ:\n%s", differentLines(string(one), string(two)))
}

// differentLines returns the lines that are in only one of two texts.
func differentLines(one, two string) string {
	a, b := strings.Split(one, "\n"), strings.Split(two, "\n")
	var out []string
	for _, line := range a {
		if !slices.Contains(b, line) {
			out = append(out, "- "+line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			out = append(out, "+ "+line)
		}
	}
	return strings.Join(out, "\n")
}

// unpacked unpacks the archive for this machine and returns the path of the command in it.
func (r *release) unpacked(temporary string) (string, error) {
	here := here()
	if !slices.Contains(r.platforms, here) {
		return "", notHere("there is no archive for " + here.String())
	}
	folder := filepath.Join(temporary, "unpacked")
	if err := unpack(r.archive(here), folder); err != nil {
		return "", err
	}
	return filepath.Join(folder, "kubesim_"+r.version+"_"+here.suffix(), here.program()), nil
}

// checkArchive runs the command in the archive for this machine.
func (r *release) checkArchive(ctx context.Context, temporary string) error {
	program, err := r.unpacked(temporary)
	if err != nil {
		return err
	}
	for _, name := range []string{"LICENSE", "README.md", licensesFile} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(program), name)); err != nil {
			return err
		}
	}
	if err := r.checkVersionOf(ctx, program); err != nil {
		return err
	}
	s, err := serve(ctx, process{path: program, args: []string{"serve"}})
	if err != nil {
		return err
	}
	if err := s.get(s.url+"/version", "", 200, `"gitVersion"`); err != nil {
		return err
	}
	return s.stop()
}

// checkVersionOf checks that kubesim version prints the version of the release.
func (r *release) checkVersionOf(ctx context.Context, program string) error {
	out, err := r.command(ctx, ".", os.Environ(), program, "version")
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(out), "kubesim "+r.version+"\n") {
		return fmt.Errorf("kubesim version prints %q", out)
	}
	return nil
}

// checkPage checks the page's archive and serves it with kubesim.
func (r *release) checkPage(ctx context.Context, temporary string) error {
	if !r.page {
		return notHere("the page was not built")
	}
	folder := filepath.Join(temporary, "page")
	if err := unpack(r.file("page.tar.gz"), folder); err != nil {
		return err
	}
	for _, name := range []string{"index.html", "sw.js", "engine/engine.json", "LICENSE", licensesFile} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	engine, err := engineFile(folder)
	if err != nil {
		return err
	}
	program, err := r.unpacked(temporary)
	if err != nil {
		return err
	}
	s, err := serve(ctx, process{path: program, args: []string{"serve", "--web", folder}})
	if err != nil {
		return err
	}
	for path, has := range map[string]string{"index.html": "<html", "engine/" + engine: ""} { // order does not matter
		if err := s.get(s.page+path, "", 200, has); err != nil {
			return err
		}
	}
	return s.stop()
}
