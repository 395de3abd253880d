package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

const rootModule = "github.com/kubesim/kubesim"

// taggedModules are the directories of the modules that a release tags. "" is the root module.
var taggedModules = []string{"", "fake/ctrl"}

// tag returns the git tag for a version of the module in a directory.
func tag(folder, version string) string { return path.Join(folder, version) }

// git runs git in the project and returns its output.
func (r *release) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	return strings.TrimSpace(string(out)), nil
}

// readCommit reads the commit to release. It returns an error if that commit must not be released as the given version.
func (r *release) readCommit(ctx context.Context) error {
	if err := checkVersion(r.version); err != nil {
		return err
	}
	changed, err := r.git(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("the tree has changes that are not committed: commit or remove them\n%s", changed)
	}
	if r.commit, err = r.git(ctx, "rev-parse", "HEAD"); err != nil {
		return err
	}
	seconds, err := r.git(ctx, "show", "--no-patch", "--format=%ct", "HEAD")
	if err != nil {
		return err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return err
	}
	r.time = time.Unix(unix, 0).UTC()
	for _, folder := range taggedModules {
		name := tag(folder, r.version)
		if at, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "refs/tags/"+name+"^{commit}"); err == nil && at != r.commit {
			return fmt.Errorf("the tag %s exists, on commit %s: a published version does not change; choose another one", name, at)
		}
	}
	return r.checkFiles()
}

// checkVersion returns an error if Go does not accept the version for these modules.
func checkVersion(version string) error {
	switch {
	case semver.Canonical(version) != version || version == "":
		return fmt.Errorf("VERSION=%q is not a semantic version such as v0.1.0 or v0.2.0-rc.1", version)
	case semver.Major(version) != "v0" && semver.Major(version) != "v1":
		return fmt.Errorf("VERSION=%s: from v2 on Go wants the major version in the path of the module (%s/%s)", version, rootModule, semver.Major(version))
	}
	return nil
}

// checkFiles checks that the files of the commit match the version.
func (r *release) checkFiles() error {
	changes, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	if !strings.Contains(string(changes), "\n## "+r.version+"\n") {
		return fmt.Errorf("CHANGELOG.md has no heading \"## %s\": write there what the version brings", r.version)
	}
	name := filepath.Join(r.root, "fake/ctrl/go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	file, err := modfile.Parse(name, text, nil)
	if err != nil {
		return err
	}
	for _, required := range file.Require {
		if required.Mod.Path == rootModule && required.Mod.Version == r.version {
			return nil
		}
	}
	return fmt.Errorf("fake/ctrl/go.mod does not require %s %[2]s, so it could not be used where it is installed. Run and commit:\n"+
		"  (cd fake/ctrl && go mod edit -require=%[1]s@%[2]s)\n"+
		"  (cd examples && go mod edit -require=%[1]s@%[2]s -require=%[1]s/fake/ctrl@%[2]s)", rootModule, r.version)
}

// printTags prints the git commands that publish the modules.
func (r *release) printTags(ctx context.Context) {
	r.logf("\n%s has:", r.out())
	list, _ := os.ReadFile(filepath.Join(r.out(), sumsFile))
	r.logf("%s", list)
	if !r.complete() {
		r.logf("This is not a complete release: build one without -platforms and -page=false before you tag it.")
		return
	}
	var names []string
	for _, folder := range taggedModules {
		name := tag(folder, r.version)
		names = append(names, name)
		if _, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "refs/tags/"+name); err == nil {
			r.logf("The tag %s is there, on this commit.", name)
			continue
		}
		r.logf("git tag -a -m 'kubesim %s' %s %s", r.version, name, r.commit)
	}
	r.logf("git push origin %s", strings.Join(names, " "))
}
